/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/hosts.h: the agents that tidings knows, as tables: how they call hooks, what they
 * read of the answers, and which of their files setup edits. It has only facts, and opens no store
 * or file.
 */
#ifndef AGENTS_HOSTS_HOSTS_H
#define AGENTS_HOSTS_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

/* The event that a hook reports; hosts use different names. */
enum hook_moment {
  HOOK_OTHER,
  HOOK_SESSION_START,
  HOOK_PROMPT,
  HOOK_BEFORE_TOOL,
  HOOK_AFTER_TOOL,
  HOOK_STOP,
  HOOK_TURN_FAILED,
  HOOK_SUBAGENT_STOP,
  HOOK_ASKS,        /* a person is asked for leave to use a tool */
  HOOK_NOTICE,      /* a person is shown something; the call's FIELD_NOTICE says what */
  HOOK_INTERRUPTED, /* a person has stopped the turn */
  HOOK_SESSION_END,
  HOOK_CONFIGURED /* the agent has read its configuration again */
};

struct host_hook {
  const char *event; /* hook_event_name; also the key in the host's configuration */
  enum hook_moment moment;
  const char *matcher; /* NULL: the event takes none */
  bool waits; /* this hook starts the process that waits to wake the agent, unless it is running
                 already */
};

/* A tool that changes files. A row without a name ends a list. */
struct host_editor {
  const char *tool;
  const char *paths;   /* the members of its input that name the file, separated by blanks */
  const char *patches; /* or the members that have a patch; if the input is a text, it is the
                          patch */
};

/* A kind of notice, and what it says about a turn. A row without a kind ends a list. */
struct host_notice {
  const char *kind; /* notification_type */
  enum host_notice_says { NOTICE_OF_IDLING, NOTICE_OF_APPROVAL, NOTICE_OF_QUESTION } says;
};

/* A tool that runs a subagent whose hooks look like the session's own. */
struct host_subagent {
  const char *tool;
  const char *kind;    /* the member of its input that names the kind of subagent */
  const char *heading; /* the heading before the subagent's words in its result */
};

/* Our package, if the agent's own command installs it instead of `tidings setup`. */
struct host_package {
  const char *const *files; /* the files in the agent's folder that may list it; ends with NULL */
  const char *project_file; /* such a file in the folder in which the session works; or NULL */
  const char *list; /* the member that lists it, {"NAME": true} or ["NAME"]; NULL: it is installed
                       if one of the files exists */
  const char *name; /* the beginning of NAME */
  const char *disabling_file; /* a file in the agent's folder, in which {NAME: {"overrides":
                                 ["!HOME/…"]}} turns it off; or NULL */
  const char *removal; /* the command that removes it, to which NAME is added; NULL: a person edits
                          the file */
};

/* A setting that turns all hooks off. A row without a file ends a list. */
struct host_switch {
  const char *file;   /* in the agent's folder, and in the folder of the same name in the project;
                         or an absolute path */
  const char *member; /* "hooksConfig.enabled" */
  bool off;           /* the value that turns them off */
};

/* How an agent's transcript says that a person has taken back prompts
 * (agents/transcript/undone.c). */
enum host_undoing {
  HOST_UNDOES_UNSEEN,
  HOST_UNDOES_BY_LINES,    /* a record with a snapshot of all messages */
  HOST_UNDOES_BY_SIBLINGS, /* the next prompt has the same parent, and is written after its hook */
  HOST_UNDOES_BY_RECORDS,  /* a record whose parent is the last one that stays */
  HOST_UNDOES_BY_FILES     /* another file, which names the file that it continues */
};

/* The agent calls `tidings hook`; loads a module; calls the hooks that setup wrote for another
 * agent. */
enum host_kind { HOST_HOOKS, HOST_NODE, HOST_BORROWS };

/* The hooks whose answers an agent's model reads. */
enum { HOST_READS_START = 1, HOST_READS_PROMPT = 2, HOST_READS_RESULT = 4, HOST_READS_STOP = 8 };

/* The proof that the model has a hook's answer. */
enum host_proof {
  HOST_PROOF_TRANSCRIPT, /* the transcript has the answer's marker */
  HOST_PROOF_NEXT_CALL   /* the session's next call, because nothing else shows it */
};

/* The meaning of a value in a record of a transcript. */
enum host_says {
  SAYS_MODEL,       /* the record is the model's answer or tool call */
  SAYS_OUTPUT,      /* it is a tool's result; if the table has no such row, every record that is not
                       the model's counts as one */
  SAYS_CALL,        /* the id of the tool's call, in its result */
  SAYS_TIME,        /* when the record was written */
  SAYS_ID,          /* the record's id */
  SAYS_PARENT,      /* the id of the record before it in the conversation */
  SAYS_PROMPT,      /* a person has written it */
  SAYS_REWIND,      /* all records after its parent are taken back */
  SAYS_SNAPSHOT,    /* it is a snapshot of all messages, which replaces those before it */
  SAYS_SNAPSHOT_ID, /* the id of a message in the snapshot */
  SAYS_STAMP,       /* it has a time, and nothing else */
  SAYS_HOOK_ECHO,   /* it only repeats what hooks said; a resumed session lacks it */
  SAYS_COMPACTED,   /* from here on the model lacks the answer of the start's hook */
  SAYS_CONTEXT, /* it has a hook's answer. If a transcript has such answers, one that it lacks was
                   dropped by the agent. If the table has no such row, markers show which records
                   have answers */
  SAYS_STOPPED, /* a person has stopped the turn */
  SAYS_BASE,    /* the end of the name of the file that this one continues */
  SAYS_BASE_BYTES, /* how many bytes of that file stay */
  SAYS_USED,       /* how many tokens of the model's context are used */
  SAYS_LIMIT       /* the size of that context */
};

/* A row of an agent's table about its transcript; the last one has no path. */
struct host_record {
  enum host_says says;
  const char *path; /* "message.content.*.id": `*` is each element of an array */
  const char *text; /* the value counts if it equals "x", begins like "x*" or ends like "*x"; NULL:
                       every value counts */
};
#define HOST_ANY_STRING "**" /* a path that every string has; for at most one row */

/* The members of a hook's call. */
enum host_field {
  FIELD_EVENT,      /* the name of the event */
  FIELD_SESSION,    /* the session's id */
  FIELD_CALL,       /* the id of the tool's call, as in the transcript */
  FIELD_TRANSCRIPT, /* the path of the transcript */
  FIELD_FOLDER,     /* the folder in which the session works */
  FIELD_SOURCE,     /* why a session starts */
  FIELD_PROMPT,
  FIELD_TOOL,
  FIELD_FAILURE, /* why a tool or a turn has failed */
  FIELD_TIME,    /* when the call was made */
  FIELD_AGENT,   /* the id of the subagent that makes the call */
  FIELD_PARENT,  /* the session of that subagent */
  FIELD_KIND,    /* the kind of subagent */
  FIELD_WORDS,   /* the subagent's last words */
  FIELD_INPUT,   /* the tool's input */
  FIELD_RESULT,  /* the tool's result */
  FIELD_STOPPED, /* true: a person has stopped the tool */
  FIELD_AGAIN,   /* true: the hook of an earlier turn's end began the turn that ends now */
  FIELD_DETAILS, /* more about a failure */
  FIELD_NOTICE,  /* what a notice is about */
  FIELD_MESSAGE, /* the notice's text */
  FIELD_FILE,    /* which configuration was read */
  FIELD_USED,    /* how many tokens of the model's context are used */
  FIELD_LIMIT,   /* the size of that context */
  HOST_FIELDS
};

/* How a call is recognized as this agent's. Other programs also read the files into which setup
 * writes the hooks, and call them with their own fields and transcripts. */
struct host_caller {
  const char *transcript; /* its path in the agent's folder, a pattern of fnmatch in which %s is the
                             session's id */
  /* A call that names no such transcript has all members of `fields` (NULL: each call names one)
   * and none of `never`. Both lists end with NULL. */
  const char *const *fields, *const *never;
};

/* A window that runs the scheduled tasks that a file lists (wait/scheduler.h). */
struct host_scheduler {
  const char *window_variable; /* hooks of the window have this variable, hooks of other programs do
                                  not */
  const char *tasks;           /* the file, in the folder of a project */
  /* The prompt of a task is this command and a word. command_file, in the folder of the agent's
   * configuration, defines the command; command_text is its contents. */
  const char *command, *command_file, *command_text;
  const char
      *server_word; /* in the arguments of its daemon, which also runs tasks, of all sessions */
  const char *server_script; /* a pattern of fnmatch: another script by which such a daemon is
                                known */
  const char *event;         /* the hook for the text that the command becomes */
  size_t characters; /* how many of that hook's answer are read; & counts as five, < and > as
                        four */
};

struct host {
  const char *name;    /* "codex": what `tidings hook` and `tidings setup` call it */
  const char *title;   /* "Codex CLI" */
  const char *program; /* in PATH */
  const char *tested;  /* the version that the tests run (versions.txt); NULL: untested, the row
                          follows documentation */
  enum host_kind kind;
  const char *const *borrows; /* HOST_BORROWS: the agents whose hooks it calls; ends with NULL */
  size_t room;                /* how many bytes of one answer the model gets uncut, as measured */
  size_t message_room; /* the same for a message: a prompt or a reason to go on; 0: as `room` */
  const char *room_measured; /* how the room was found, for people */

  const char *module; /* HOST_NODE: agents/node/MODULE.ts, if it is not the agent's name; or NULL */

  /* HOST_HOOKS, HOST_BORROWS */
  struct host_caller caller;
  bool shows_messages;   /* the person sees the answer's systemMessage */
  bool shows_at_stop;    /* the same, but only for the answer at a turn's end */
  const char *hook_name; /* its screen shows this instead of the hook's command; or NULL */
  const struct host_record *records; /* its transcript; NULL: none is read */
  const char *const
      *fields; /* by enum host_field: its member; of several, "one another", the first that is not
                  empty counts. NULL, here or there: as most agents name them */
  bool notices_without_event; /* a call without an event's name, but with FIELD_NOTICE, is a
                                 notice */
  unsigned reads;
  enum host_proof proof;
  const struct host_hook *hooks; /* ends with a row without an event */
  const char *stop_decision;  /* what makes the agent go on instead of stopping: "block" or "deny";
                                 NULL: additional context alone does */
  bool ignores_empty_prompts; /* it calls the prompt's hook after tool results too, with an empty
                                 prompt */
  const char *answer;         /* the only member of the answer that it reads; NULL:
                                 additionalContext in hookSpecificOutput */
  bool repeats_reasons;       /* it also calls the prompt's hook with the reason to go on */
  bool leaves_out_reasons;    /* its transcript lacks the reason to go on that Stop gave it */
  enum host_undoing undoing;
  const char *transcript; /* the transcript's path in the agent's folder, if calls do not name it;
                             %s is the session's id; or NULL */
  const struct host_editor *editors;     /* NULL: none is known */
  const struct host_notice *notices;     /* NULL: none says anything about the turn */
  const struct host_subagent *subagents; /* NULL: their hooks say whose they are */
  const char *result_text;    /* the member of a tool's result that has its text, or texts in parts;
                                 NULL: the result is the text */
  const char *result_opening; /* words that may precede the tool's own text there; or NULL */
  bool stops;                 /* if the hook after a tool answers "continue": false, the turn
                                 ends */
  bool background_subagents;  /* the model can start subagents and go on without waiting for them */
  bool stops_alike; /* it also calls the hook of a turn's end when a person has stopped the turn,
                       but then ignores the answer */
  const char *stopped_tool, *stopped_result; /* a result of this tool that begins so says that a
                                                person stopped the turn while it ran: no model reads
                                                it; or NULL */
  size_t most_reasons;          /* how many reasons to go on it obeys in a row; 0: no limit */
  const char *reasons_variable; /* the variable by which a person sets that limit; or NULL */
  size_t context_limit; /* "additionalContextLimit" of its hooks, in tokens of 4 bytes; 0: none */
  size_t context_room;  /* with that limit, the bytes of an answer that is no reason to go on */
  bool rewakes;         /* a hook that ends with status 2 wakes it ("asyncRewake") */
  /* It can be woken only if its hooks have this variable with this value; NULL: always. */
  const char *rewakes_variable, *rewakes_value;
  bool queues;                            /* `PROGRAM queue` wakes it */
  const struct host_scheduler *scheduler; /* a scheduled task wakes it; NULL: it has none */
  const char *server_word; /* in the arguments of its daemon, which calls the hooks of all windows;
                              or NULL */
  bool keeps_start;        /* a resumed session still has the answer of its start's hook */
  const char *begins_anew; /* the "source" of the start of a session that may follow another one in
                              the same window; or NULL */
  bool drops_start; /* it puts the answer of the start's hook before the first prompt; a resumed
                       session lacks that prompt and all that came with it */
  const char *const *forgets;   /* a resumed session lacks messages that begin so, and all that came
                                   with them; ends with NULL. Or NULL */
  const char *session_variable; /* the variable that gives the session's id to programs that it
                                   starts; or NULL */
  const char *raw_variable; /* servers that it starts have this variable, and its model gets what
                               fails in them as JSON; or NULL */
  const char *environment_file; /* the variable that names, to the hook at a session's start, a file
                                   of shell lines for the commands that the model runs; or NULL */
  unsigned timeout_unit;        /* a second in the unit of its timeouts; setup/hooks.c has the
                                   seconds */
  bool trusts_hashes;           /* it runs only hooks whose hash its configuration trusts */

  /* The folder of its configuration: $home_variable, else $base_variable/base_folder, else
   * ~/home_folder. */
  const char *home_variable, *base_variable, *base_folder, *home_folder;
  const char *config_file; /* in that folder: the JSON file with the hooks, or the place of a
                              module */
  size_t session_at; /* the session's id begins here in a transcript's name, and ends before the
                        dot. If it is not 0, the agent has a daemon, which starts the MCP servers
                        when it loads a session */
  /* if trusts_hashes: the file in that folder that lists the trusted hooks */
  const char *trust_file;
  /* A person's settings: a file in that folder, and one in the folder in which the session works.
   * NULL: it reports their changes itself. */
  const char *settings_file, *project_settings;
  bool reads_settings_again;          /* it reads changed settings while it runs */
  const struct host_switch *switches; /* NULL: none is known */
  const struct host_package *package; /* NULL: it has no such command */
};

/* All agents, in the order of lists: host_codex is in codex.c, and so on. */
#define HOST_ROWS(X)                                                                               \
  X(codex) X(claude) X(gemini) X(qwen) X(copilot) X(opencode) X(pi) X(kilo) X(cursor) X(vscode)
#define HOST_DECLARE(name) extern const struct host host_##name;
HOST_ROWS(HOST_DECLARE)
extern const struct host *const hosts[];
extern const size_t host_count;

const struct host *host_find(const char *name);        /* NULL: unknown */
const struct host *host_find_title(const char *title); /* the title by which its sessions name it */
const char *host_module(const struct host *host);      /* HOST_NODE */
/* Does it call the hooks that setup has written for `lender`? */
bool host_borrows(const struct host *host, const struct host *lender);
char *host_home(const struct host *host); /* free it; NULL: no home, or out of memory */
/* Can it be woken while it idles? The second function: by a process beside it? */
bool host_is_woken(const struct host *host);
bool host_is_woken_apart(const struct host *host);
/* Returns the preset for its sessions if the user's configuration names none; NULL: the plugin's
 * default. */
const char *host_preset(const struct host *host);
/* Returns the members of its calls that may have a field: names, separated by blanks. */
const char *host_field_names(const struct host *host, enum host_field field);
/* Does its transcript have records that say this? */
bool host_record_says(const struct host *host, enum host_says says);
/* Will a session that is resumed lack a message of this text? */
bool host_forgets(const struct host *host, const char *text);
enum hook_moment host_moment(const struct host *host, const char *event);
const char *host_event(const struct host *host, enum hook_moment moment); /* NULL: it has none */

#endif
