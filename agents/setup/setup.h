/* SPDX-License-Identifier: MIT
 *
 * agents/setup/setup.h: what `tidings setup` does to a host's files, file by file. Each edits the
 * text of a change in memory; nothing is written here.
 */
#ifndef AGENTS_SETUP_SETUP_H
#define AGENTS_SETUP_SETUP_H

#include "agents/hosts/hosts.h"
#include "agents/setup/change.h"
#include "command/cli.h"

/* The host's folder. NULL: it is not known where, or out of memory. */
char *setup_home(const struct host *host);

/* hooks.c: the hooks in the host's JSON. `command`: the program, quoted for a shell; NULL: take
 * them out. `wake`: the hook that wakes it, too. Says what is wrong. Returns 0 or the exit code. */
int setup_hooks(const struct cli *cli, const struct host *host, const char *command, bool wake,
                struct change *change);
/* Are they there, with this command? For doctor. When the text cannot be read, *ret_problem says
 * why, with the line; free it. */
enum setup_state { SETUP_NONE, SETUP_OTHER, SETUP_DONE, SETUP_UNREADABLE };
enum setup_state setup_hooks_state(const struct host *host, const char *command, const char *text,
                                   char **ret_problem);
char *setup_command(void); /* this program, quoted for a shell; NULL: out of memory */

/* instructions.c: the marked block in the host's Markdown; `text` NULL: take it out. */
int setup_instructions(const struct cli *cli, const char *text, struct change *change);
/* The paragraph by the user's configuration. Free it. */
int setup_instructions_text(const struct cli *cli, char **ret_text);

/* module.c: the file that makes a host load agents/node; `folder`: where that is installed, NULL:
 * take it out. */
int setup_module(const struct cli *cli, const struct host *host, const char *folder,
                 struct change *change);
/* beside this program, or installed with it; NULL: out of memory */
char *setup_module_folder(void);

/* version.c: what `PROGRAM --version` says, the first thing in it that looks like a version.
 * Returns 0; or -1: it cannot be run. Free it; NULL: it says none. */
int setup_version(const char *program, char **ret_version);

/* trust.c: makes Codex trust our hooks, or forget that it did, through its own program, which edits
 * its own file. Returns 0, or the exit code; *ret_changed: how many entries were changed. */
int setup_trust(const struct cli *cli, const struct host *host, const char *program,
                const char *hooks_path, bool remove, size_t *ret_changed);

/* How many of our hooks it sees, and how many of them it does not trust, and so leaves out. Changes
 * nothing. */
int setup_trust_look(const struct cli *cli, const struct host *host, const char *program,
                     const char *hooks_path, size_t *ret_seen, size_t *ret_untrusted);

/* trust_rest.c: the file without a table of trusted hooks that is empty. Free it; NULL: out of
 * memory. */
char *setup_trust_rest(const char *text);

extern const struct cli_verb verb_setup;

#endif
