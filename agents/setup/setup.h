/* SPDX-License-Identifier: MIT
 *
 * agents/setup/setup.h: what `tidings setup` does to a host's files, file by file. Each edits the
 * text of a change in memory; nothing is written here.
 */
#ifndef AGENTS_SETUP_SETUP_H
#define AGENTS_SETUP_SETUP_H

#include <jansson.h>

#include "agents/hosts/hosts.h"
#include "agents/setup/change.h"
#include "command/cli.h"

/* What the hooks are to be like. */
struct setup_wish {
  const char *command; /* the program, quoted for a shell; NULL: take them out */
  const char *store;   /* the URL of the store that they use; NULL: the user's own */
  bool wake;           /* the hook that wakes the host, too */
};
/* hooks.c: the hooks in the host's JSON. Says what is wrong. Returns 0 or the exit code. */
int setup_hooks(const struct cli *cli, const struct host *host, const struct setup_wish *wish,
                struct change *change);
/* Are they there, with this command, whatever the store? For doctor. When the text cannot be read,
 * *ret_problem says why, with the line; free it. */
enum setup_state { SETUP_NONE, SETUP_OTHER, SETUP_DONE, SETUP_GONE, SETUP_UNREADABLE };
enum setup_state setup_hooks_state(const struct host *host, const char *command, const char *text,
                                   char **ret_problem);
/* SETUP_OTHER: the file that the text makes the host run or load. Free it; NULL: it names none. */
char *setup_named_program(const struct host *host, const char *text);
char *setup_named_module(const char *text);
/* The URL of the store that the text names. Free it; NULL: none. */
char *setup_named_store(const struct host *host, const char *text);
char *setup_command(void); /* this program, quoted for a shell; NULL: out of memory */
/* quote.c: for a shell, and back: the word at `text`. Free it; NULL: out of memory. */
char *setup_quote(const char *text);
char *setup_unquote(const char *text, size_t len);

/* package.c: is tidings installed in the host by the host's own command, too? Then `file` lists it
 * under `name`. Free both; NULL: it is not, or that cannot be read. */
struct setup_package {
  char *file, *name;
};
struct setup_package setup_package_look(const struct host *host);
void setup_package_finish(struct setup_package *package);
/* How it is taken out, a sentence's end: "with 'claude plugin uninstall tidings@tidings'". Free it;
 * NULL: out of memory. */
char *setup_package_removal(const struct host *host, const struct setup_package *package);

/* instructions.c: takes the marked block of older setups out of the host's Markdown. */
int setup_instructions(const struct cli *cli, struct change *change);

/* module.c: the file that makes a host load agents/node; `folder`: where that is installed, NULL:
 * take it out; `store`: as in struct setup_wish. */
int setup_module(const struct cli *cli, const struct host *host, const char *folder,
                 const char *store, struct change *change);
char *setup_module_store(const char *text); /* as setup_named_store */
/* beside this program, or installed with it; NULL: out of memory */
char *setup_module_folder(void);

/* version.c: what `PROGRAM --version` says, the first thing in it that looks like a version.
 * Returns 0; or -1: it cannot be run. Free it; NULL: it says none. */
int setup_version(const char *program, char **ret_version);
/* The same without running anything: as the files of the host's package say, or the path of its
 * program. Returns -1: it is not in PATH. */
int setup_version_look(const struct host *host, char **ret_version);

/* trust.c: asks Codex's own program for the hashes of our hooks, and puts them into the text of
 * `change`, its configuration, or takes them out. Returns 0, or the exit code; *ret_changed: how
 * many entries are changed. */
int setup_trust(const struct cli *cli, const struct host *host, const char *program,
                const char *hooks_path, bool remove, struct change *change, size_t *ret_changed);

/* Its configuration as JSON. NULL: not TOML, or with a value that JSON does not have (a date). */
json_t *setup_trust_read(const struct cli *cli, const char *text);
bool setup_same_file(const char *one, const char *other);

/* trust_look.c: how many of our hooks in this text have no hash in its configuration, `trusted`,
 * which is NULL if there is none. Starts nothing: whether a hash is still right only Codex knows.
 * Returns 0; or -1: the configuration cannot be read. */
int setup_trust_look(const struct cli *cli, const struct host *host, const char *hooks_path,
                     const char *hooks, const char *trusted, size_t *ret_untrusted);

/* trust_text.c: the text with this hash for the hook `key`; without that hook if `hash` is NULL.
 * Free it; NULL: out of memory. */
char *setup_trust_text(const char *text, const char *key, const char *hash);

extern const struct cli_verb verb_setup;

#endif
