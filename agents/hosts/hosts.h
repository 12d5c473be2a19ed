/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/hosts.h: the agents that tidings knows, as tables: how they call hooks, what they
 * read back, and which files of theirs setup edits. Only facts about hosts; nothing here opens a
 * store or a file.
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
  HOOK_NOTICE,      /* a person is shown something; the call's notification_type says what */
  HOOK_INTERRUPTED, /* a person has stopped the turn */
  HOOK_SESSION_END,
  HOOK_CONFIGURED /* the agent has read its configuration again */
};

struct host_hook {
  const char *event; /* hook_event_name; also the key in the host's configuration */
  enum hook_moment moment;
  const char *matcher; /* NULL: the event takes none */
  bool waits; /* here begins the process that waits to wake the agent, unless it runs already */
};

/* A tool that changes files. A row without a name ends a list. */
struct host_editor {
  const char *tool;
  const char *paths;   /* the members of its input that name the file, with a blank between */
  const char *patches; /* or the members that have a patch; it may also be the input itself, if that
                          is a text */
};

/* A kind of notice, and what it says of a turn. A row without a kind ends a list. */
struct host_notice {
  const char *kind; /* notification_type */
  enum host_notice_says { NOTICE_OF_IDLING, NOTICE_OF_APPROVAL, NOTICE_OF_QUESTION } says;
};

/* A tool that runs a subagent, whose hooks look like the session's own. */
struct host_subagent {
  const char *tool;
  const char *kind;    /* the member of its input that names the kind of subagent */
  const char *heading; /* in its result, before the subagent's words */
};

/* Our package, which an agent's own command has installed instead of `tidings setup`. */
struct host_package {
  const char *const *files; /* in the agent's folder: where it may be listed; ends with NULL */
  const char *project_file; /* the same, in the folder in which the session works; or NULL */
  const char *list; /* the member that lists it, {"NAME": true} or ["NAME"]; NULL: it is installed
                       if one of the files exists */
  const char *name; /* how NAME begins */
  const char *disabling_file; /* in the agent's folder: {NAME: {"overrides": ["!HOME/…"]}} turns
                                 it off; or NULL */
  const char *removal; /* the command that removes it, to which NAME is added; NULL: a person edits
                          the file */
};

/* A setting that turns all hooks off. A row without a file ends a list. */
struct host_switch {
  const char *file;   /* in the agent's folder, and in the one of that name in the folder in which
                         the session works; or an absolute path */
  const char *member; /* "hooksConfig.enabled" */
  bool off;           /* the value that turns them off */
};

/* How its transcript says that a person has taken back prompts; agents/transcript/undone.c. */
enum host_undoing {
  HOST_UNDOES_UNSEEN,
  HOST_UNDOES_BY_LINES,    /* a record with a snapshot of all messages */
  HOST_UNDOES_BY_SIBLINGS, /* the next prompt has the same parent; written after that prompt's hook
                            */
  HOST_UNDOES_BY_RECORDS,  /* a record whose parent stays */
  HOST_UNDOES_BY_FILES     /* another file, which names the one that it goes on from */
};

/* Calls `tidings hook`; loads a module; calls the hooks that another agent's setup has written. */
enum host_kind { HOST_HOOKS, HOST_NODE, HOST_BORROWS };

/* The answers that its model reads. */
enum { HOST_READS_START = 1, HOST_READS_PROMPT = 2, HOST_READS_RESULT = 4, HOST_READS_STOP = 8 };

/* How is it known that the model has what a hook answered? */
enum host_proof {
  HOST_PROOF_TRANSCRIPT, /* its transcript has the marker */
  HOST_PROOF_NEXT_CALL   /* by a later call of the same session, because nothing else shows it */
};

/* The meaning of a value in a record of a transcript. */
enum host_says {
  SAYS_MODEL,    /* the record is the model's answer or tool call */
  SAYS_OUTPUT,   /* it is a tool's result; without such a row, every record that is not the model's
                    counts as one */
  SAYS_CALL,     /* the id of the tool's call, in its result */
  SAYS_TIME,     /* when it was written */
  SAYS_ID,       /* its own id */
  SAYS_PARENT,   /* the id of the record before it in the conversation */
  SAYS_PROMPT,   /* a person has written it */
  SAYS_REWIND,   /* all after its parent is taken back */
  SAYS_SNAPSHOT, /* it is a snapshot of all messages, which replaces those before it */
  SAYS_SNAPSHOT_ID, /* the id of a message in that */
  SAYS_STAMP,       /* it has a time, and nothing else */
  SAYS_HOOK_ECHO, /* it only repeats what hooks said: a session that is resumed does not have it */
  SAYS_COMPACTED, /* from here on the model lacks what the hook at the start said */
  SAYS_CONTEXT,   /* an answer of a hook is in it. If a transcript has one answer and lacks another,
                     the agent has dropped that one; without such a row a marker shows it */
  SAYS_STOPPED,   /* a person has stopped the turn */
  SAYS_BASE,      /* the end of the name of the file that this one continues */
  SAYS_BASE_BYTES, /* how many bytes of that stay */
  SAYS_USED,       /* how many tokens of the model's context are used */
  SAYS_LIMIT       /* of how many */
};

/* A line of the table of an agent's transcript; the last one has no path. */
struct host_record {
  enum host_says says;
  const char *path; /* "message.content.*.id": `*` is each element of an array */
  const char *text; /* "x": the value says it if it is x; "x*", "*x": if it begins or ends so; NULL:
                       whatever it is */
};
#define HOST_ANY_STRING "**" /* the path of any string; in one row at most */

/* The members of a hook's call. */
enum host_field {
  FIELD_EVENT,      /* the name of the event */
  FIELD_SESSION,    /* the session's id */
  FIELD_CALL,       /* the id of the tool's call, as its transcript has it */
  FIELD_TRANSCRIPT, /* where the session is kept */
  FIELD_FOLDER,     /* in which the session works */
  FIELD_SOURCE,     /* why a session starts */
  FIELD_PROMPT,
  FIELD_TOOL,
  FIELD_FAILURE, /* why a tool or a turn has failed */
  FIELD_TIME,    /* when the call was made */
  FIELD_AGENT,   /* the id of the subagent that makes the call */
  FIELD_PARENT,  /* the session of that subagent */
  FIELD_KIND,    /* the kind of subagent */
  FIELD_WORDS,   /* its last words */
  FIELD_INPUT,   /* what the tool was given */
  FIELD_RESULT,  /* what it has answered */
  FIELD_STOPPED, /* true: a person has stopped the tool */
  FIELD_AGAIN,   /* true: the turn that ends was begun by a hook of a turn's end */
  FIELD_DETAILS, /* of a failure */
  FIELD_NOTICE,  /* what a notice is about */
  FIELD_MESSAGE, /* its text */
  FIELD_FILE,    /* which configuration was read */
  FIELD_USED,    /* how many tokens of the model's context are used */
  FIELD_LIMIT,   /* of how many */
  HOST_FIELDS
};

/* How a call is recognized as this agent's. Other programs read the files into which setup writes
 * the hooks, and call them with fields and transcripts of their own. */
struct host_caller {
  const char *transcript; /* where it is in the agent's folder: fnmatch, %s is the session's id */
  /* `fields`: members of every call that names no transcript there; NULL: each call names one.
   * `never`: members that no call has. Both end with NULL. */
  const char *const *fields, *const *never;
};

/* A window that runs scheduled tasks, which a file lists: wait/scheduler.h. */
struct host_scheduler {
  const char *window_variable; /* the window's hooks have it; those of other programs do not */
  const char *tasks;           /* the file, in the folder of a project */
  /* A task's prompt, after which a word follows; the file that defines this command, in the folder
   * of the agent's configuration; and the contents of that file. */
  const char *command, *command_file, *command_text;
  const char
      *server_word; /* in the arguments of its daemon, which runs tasks of all sessions, too */
  const char *server_script; /* fnmatch: the script that such a daemon may run beside those by which
                                the agent is known */
  const char *event;         /* the hook for the text that the command becomes */
  size_t characters; /* so many of that hook's answer are read; & counts as five, < and > as four */
};

struct host {
  const char *name;    /* "codex": what `tidings hook` and `tidings setup` call it */
  const char *title;   /* "Codex CLI" */
  const char *program; /* in PATH */
  const char *tested;  /* the version that the tests run: versions.txt; NULL: by documentation */
  enum host_kind kind;
  const char *const *borrows; /* HOST_BORROWS: of which agents; ends with NULL */
  size_t room;                /* how many bytes of one answer the model gets uncut, as measured */
  size_t message_room; /* the same for a message: a prompt or a reason to go on; 0: as `room` */
  const char *room_measured; /* how that was found, for people */

  const char *module; /* HOST_NODE: agents/node/MODULE.ts, if it is not the agent's name; or NULL */

  /* HOST_HOOKS, HOST_BORROWS */
  struct host_caller caller;
  bool shows_messages;   /* the person sees the answer's systemMessage */
  bool shows_at_stop;    /* the same, but only of the answer at a turn's end */
  const char *hook_name; /* its screen shows this instead of the hook's command; or NULL */
  const struct host_record *records; /* its transcript; NULL: none is read */
  const char *const
      *fields; /* by enum host_field: its member; of several, "one another", the first that is not
                  empty counts. NULL, here or there: as most agents name them */
  bool notices_without_event; /* a call that names no event but has a notification_type is a notice
                               */
  unsigned reads;
  enum host_proof proof;
  const struct host_hook *hooks; /* ends with a row without an event */
  const char *stop_decision;  /* what makes the agent go on instead of stopping: "block" or "deny";
                                 NULL: additional context alone does */
  bool ignores_empty_prompts; /* it calls the prompt's hook after tool results too, with an empty
                                 prompt */
  const char *answer;         /* the member of the answer that it reads; NULL: additionalContext
                                 in hookSpecificOutput */
  bool repeats_reasons;       /* it calls the prompt's hook with the reason to go on, too */
  bool leaves_out_reasons;    /* its transcript lacks the reason to go on that Stop gave it */
  enum host_undoing undoing;
  const char *transcript; /* where it is if the call does not say: in its folder, %s the session's
                             id; or NULL */
  const struct host_editor *editors;     /* NULL: none is known */
  const struct host_notice *notices;     /* NULL: none says anything of the turn */
  const struct host_subagent *subagents; /* NULL: their hooks say whose they are */
  const char *result_text;    /* the member of a tool's result that has its text, or texts in parts;
                                 NULL: the result is the text */
  const char *result_opening; /* words with which that text may begin, before the tool's own answer;
                                 or NULL */
  bool stops;                 /* "continue": false of the hook after a tool ends the turn */
  bool background_subagents;  /* the model can start subagents and go on without waiting for them */
  bool stops_alike; /* it calls the hook of a turn's end also when a person has stopped the turn,
                       and ignores the answer then */
  const char *stopped_tool, *stopped_result; /* the tool whose result begins so when a person has
                               stopped the turn while it ran: no model reads that; or NULL */
  size_t most_reasons; /* how many reasons to go on it takes in a row: after these it stops. 0: no
                          limit */
  const char *reasons_variable; /* by which a person sets that limit; or NULL */
  size_t context_limit; /* "additionalContextLimit" of its hooks, in tokens of 4 bytes; 0: none */
  size_t context_room;  /* with it, the bytes of an answer that is no reason to go on */
  bool rewakes;         /* a hook that ends with status 2 wakes it ("asyncRewake") */
  /* It can be woken only if this variable of its hooks has this value. NULL: always */
  const char *rewakes_variable, *rewakes_value;
  bool queues;                            /* `PROGRAM queue` wakes it */
  const struct host_scheduler *scheduler; /* a task of its window wakes it; NULL: it has none */
  const char *server_word; /* in the arguments of its daemon, which calls the hooks of all windows;
                              or NULL */
  bool keeps_start;        /* a session that is resumed has what the hook at its start said */
  const char *begins_anew; /* the "source" of the start of a session that may follow another one in
                              the same window; or NULL */
  bool drops_start; /* it puts what the hook at its start says before the first prompt; a session
                       that is resumed lacks both, and what else came with that prompt */
  const char *const *forgets; /* beginnings of messages that a resumed session lacks, with all that
                                 came with them; ends with NULL. Or NULL */
  const char *session_variable; /* the variable in which programs that it starts find the session's
                                   id; or NULL */
  const char *raw_variable; /* servers that it starts have this variable, and its model gets what
                               fails in them as JSON; or NULL */
  const char *environment_file; /* the variable that names, to the hook at a session's start, a file
                                   of shell lines for the commands that the model runs; or NULL */
  unsigned timeout_unit;        /* how many of its timeout's units are a second; the
                                   seconds are in setup/hooks.c */
  bool trusts_hashes;           /* it runs only hooks whose hash its configuration trusts */

  /* The folder of its configuration: in the folder that $home_variable names, else in base_folder
   * of the folder that $base_variable names, else in home_folder of the user's home. */
  const char *home_variable, *base_variable, *base_folder, *home_folder;
  const char *config_file; /* in that folder: JSON that holds the hooks, or where a module is put */
  size_t session_at; /* where the session's id begins in the name of a transcript; it ends before
                        the dot. If not 0, its daemon also starts its MCP servers when it loads a
                        session */
  /* in that folder: where it keeps which hooks it trusts, if trusts_hashes */
  const char *trust_file;
  /* A person's settings: a file in that folder, and one in the folder in which the session works.
   * It does not report their changes. NULL: it reports them. */
  const char *settings_file, *project_settings;
  bool reads_settings_again;          /* while it runs */
  const struct host_switch *switches; /* NULL: none is known */
  const struct host_package *package; /* NULL: it has no command for that */
};

/* All of them, in the order in which they are listed: host_codex is in codex.c, and so on. */
#define HOST_ROWS(X)                                                                               \
  X(codex) X(claude) X(gemini) X(qwen) X(copilot) X(opencode) X(pi) X(kilo) X(cursor) X(vscode)
#define HOST_DECLARE(name) extern const struct host host_##name;
HOST_ROWS(HOST_DECLARE)
extern const struct host *const hosts[];
extern const size_t host_count;

const struct host *host_find(const char *name);        /* NULL: unknown */
const struct host *host_find_title(const char *title); /* as its sessions name it */
const char *host_module(const struct host *host);      /* HOST_NODE */
/* Does it call the hooks that setup has written for `lender`? */
bool host_borrows(const struct host *host, const struct host *lender);
char *host_home(const struct host *host); /* free it; NULL: no home, or out of memory */
/* Can it be woken while it idles? The second: by a process that a hook starts? */
bool host_is_woken(const struct host *host);
bool host_is_woken_apart(const struct host *host);
/* Returns its preset if the user's configuration names none; NULL: the plugin's. */
const char *host_preset(const struct host *host);
/* The members of its calls that have a field: one or more names, with a blank between. */
const char *host_field_names(const struct host *host, enum host_field field);
/* Does any record of its transcript say this? */
bool host_record_says(const struct host *host, enum host_says says);
/* Will a session that is resumed lack a message of this text? */
bool host_forgets(const struct host *host, const char *text);
enum hook_moment host_moment(const struct host *host, const char *event);
const char *host_event(const struct host *host, enum hook_moment moment); /* NULL: it has none */

#endif
