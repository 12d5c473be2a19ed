/* SPDX-License-Identifier: MIT
 *
 * agents/setup/setup.h: the changes of `tidings setup` to a host's files. Each function edits the
 * text of a change in memory and writes no file.
 */
#ifndef AGENTS_SETUP_SETUP_H
#define AGENTS_SETUP_SETUP_H

#include <jansson.h>

#include "agents/hosts/hosts.h"
#include "agents/setup/change.h"
#include "command/cli.h"

/* The hooks that a user wants. */
struct setup_wish {
  const char *command; /* the program, quoted for a shell; NULL: take them out */
  const char *store;   /* the URL of the store that they use; NULL: the user's own */
  bool wake;           /* also the hook that wakes the host */
};
/* hooks.c: edits the hooks in the host's JSON. It prints what is wrong, and returns 0 or the exit
 * code. */
int setup_hooks(const struct cli *cli, const struct host *host, const struct setup_wish *wish,
                struct change *change);
json_t *setup_hook_group(const struct host *host, const struct host_hook *hook,
                         const struct setup_wish *wish); /* a hook, as setup writes it */
bool setup_is_our_hook(const struct host *host, const char *command);
#define SETUP_STORE_OPTION " --store "

/* look.c: which of our hooks a text has. */
enum setup_state {
  SETUP_NONE,
  SETUP_DONE,   /* all hooks are there, and call this installation */
  SETUP_OTHER,  /* all hooks are there, and call another installation */
  SETUP_PARTLY, /* some hooks are missing */
  SETUP_GONE,   /* they call an installation that no longer exists */
  SETUP_UNREADABLE
};
struct setup_look {
  enum setup_state state;
  char *problem;                  /* SETUP_UNREADABLE: why, with the line; NULL: no memory */
  char *program, *other;          /* the program that the hooks run; another one that some run; or
                                     NULL */
  char *store;                    /* its URL; NULL: the user's own */
  char *missing, *edited, *twice; /* the names of events, for people; NULL: none */
  bool is_deaf;                   /* a hook that delivers notifications is missing */
  bool wakes;                     /* a hook waits in the background */
};
struct setup_look setup_look_at(const struct host *host, const char *text);
void setup_look_finish(struct setup_look *look);
/* module.c: the same for the text of a host's module; `program` is the file that it loads. */
struct setup_look setup_module_look(const struct host *host, const char *text);

/* switches.c: returns the words for people about a setting, of the agent or of this folder's
 * project, that turns all hooks off: "disableAllHooks is true in FILE". Free it; NULL: there is
 * none. */
char *setup_switched_off(const struct host *host);

/* program.c: the name by which hooks start this program: its link in PATH, or its own path, or
 * SETUP_BY_PATH if its path changes with each version. Free it; NULL: out of memory. */
#define SETUP_BY_PATH "tidings"
char *setup_program(void);
/* Refuses a program whose name would hide later that `what` ("a hook") is ours. Returns 0 or the
 * exit code. */
int setup_check_program(const struct cli *cli, const char *program, const char *what);
bool setup_is_this(const char *program);
bool setup_is_there(const char *program);
bool setup_is_versioned(const char *path); /* an upgrade would change it */
/* quote.c: quotes a word for a shell, and reads the quoted word at `text`. Free it; NULL: out of
 * memory. */
char *setup_quote(const char *text);
char *setup_unquote(const char *text, size_t len);

/* package.c: is tidings installed in the host by the host's own command, too? Then `file` lists it
 * under `name`. Free both; NULL: it is not, or that cannot be read. */
struct setup_package {
  char *file, *name;
};
/* Reads JSON with comments. NULL: there is no such file, or it cannot be read. */
json_t *setup_read_json(const char *path);
struct setup_package setup_package_look(const struct host *host);
void setup_package_finish(struct setup_package *package);
/* Returns how to remove the package, as the end of a sentence: "with 'claude plugin uninstall
 * tidings@tidings'". Free it; NULL: out of memory. */
char *setup_package_removal(const struct host *host, const struct setup_package *package);

/* module.c: writes the file that makes a host load agents/node from `folder`; NULL: removes it.
 * `store` is as in struct setup_wish. */
int setup_module(const struct cli *cli, const struct host *host, const char *folder,
                 const char *store, struct change *change);
/* Returns the folder of agents/node, beside this program or installed with it. NULL: out of
 * memory. */
char *setup_module_folder(void);

/* version.c: reads the first text in the output of `PROGRAM --version` that looks like a version.
 * Returns 0; or -1: it cannot be run. Free *ret_version; NULL: there is none. */
int setup_version(const char *program, char **ret_version);
/* Reads the version from the files of the host's package, or from its program's path, without
 * starting a process. Returns -1: the program is not in PATH. */
int setup_version_look(const struct host *host, char **ret_version);

/* trust.c: asks Codex's own program for the hashes of our hooks, and puts them into the new text of
 * `change`, its configuration. Returns 0, or the exit code; *ret_changed: how many entries are
 * changed. */
int setup_trust(const struct cli *cli, const struct host *host, const char *program,
                const char *hooks_path, struct change *change, size_t *ret_changed);

/* Reads Codex's configuration as JSON, with dates as strings. NULL: it is not TOML; *error has the
 * line. `error` may be NULL. */
json_t *setup_trust_read(const char *text, struct tidings_error *error);
/* Does a text have this configuration? An empty table of hooks means the same as none, and is
 * removed from both. */
bool setup_trust_says(const char *text, json_t *expected);
bool setup_same_file(const char *one, const char *other);

/* trust_move.c: adapts the entries in the new text of `change`, Codex's configuration, to a planned
 * change of hooks.json: entries of others' hooks move with them, entries of our former hooks are
 * removed. Prints what is wrong; returns 0 or the exit code. */
struct setup_moves {
  size_t ours;           /* entries of our former hooks */
  size_t dropped, moved; /* how many are removed; how many get another key */
};
int setup_trust_move(const struct cli *cli, const struct host *host, const struct change *hooks,
                     struct change *change, struct setup_moves *ret_moves);

/* trust_look.c: counts our hooks in this text that have no hash in Codex's configuration, `trusted`
 * (NULL: there is none). It starts no process; only Codex knows whether a hash is still right.
 * Returns 0; or -1: the configuration cannot be read. */
int setup_trust_look(const struct host *host, const char *hooks_path, const char *hooks,
                     const char *trusted, size_t *ret_untrusted);
/* Reads a hook's place from the key of its entry, "FILE:EVENT:GROUP:HOOK". Returns false: this is
 * no key of a hook in that file. */
struct setup_place {
  struct tidings_span event; /* inside the key */
  size_t group, hook;
};
bool setup_place_read(const char *key, const char *hooks_path, struct setup_place *ret_place);
/* Does the place belong to that event? Codex spells "PostToolUse" as "post_tool_use" in keys. */
bool setup_place_is_of(const struct setup_place *place, const char *event);

/* trust_text.c: returns the text with this hash for the hook `key`, or without that hook if `hash`
 * is NULL. Free it; NULL: out of memory. */
char *setup_trust_text(const char *text, const char *key, const char *hash);
/* Gives hooks other keys, all at once: `keys` maps old keys to new ones; values that are no strings
 * are ignored. Free it; NULL: out of memory. */
char *setup_trust_rename(const char *text, const json_t *keys);

/* The first sets a member of the table with the line `header` ("[NAME]") to a value in TOML, or
 * removes the table (NULL). The second: does the table have these words? */
char *setup_table_text(const char *text, const char *header, const char *member, const char *value);
bool setup_table_has(const char *text, const char *header, const char *words);

/* server.c: lists `tidings mcp` among the MCP servers in the new text of `change`, Codex's
 * configuration, because Codex starts them when it loads a session. It is not listed if another
 * entry already runs it with tools. `program` NULL: removes it. Prints what is wrong; returns 0 or
 * the exit code. */
int setup_server(const struct cli *cli, const struct host *host, const char *program,
                 struct change *change);
/* *ret_program: the program of the listed `tidings mcp`; NULL: none is listed. Returns 0; or -1:
 * the text cannot be read. */
int setup_server_look(const char *text, char **ret_program);

/* command_file.c: plans to write the file that defines the command of the agent's scheduled tasks,
 * or to remove it if it is not wanted. Prints what is wrong; returns 0 or the exit code. */
int setup_command_file(const struct cli *cli, const struct host *host, bool wanted,
                       struct change *change);
/* Makes the change; if that leaves the file's folder empty, removes it too. */
int setup_command_file_write(const struct cli *cli, const struct change *change);
/* Is this the text that setup writes? `text` NULL: there is no file. */
bool setup_command_file_is(const struct host *host, const char *text);

extern const struct cli_verb verb_setup;

#endif
