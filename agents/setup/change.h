/* SPDX-License-Identifier: MIT
 *
 * agents/setup/change.h: a file of the user's, as it is and as it is to be: shown as a diff, then
 * written in one step. Knows nothing of what is in it.
 */
#ifndef AGENTS_SETUP_CHANGE_H
#define AGENTS_SETUP_CHANGE_H

#include <stdbool.h>
#include <stdio.h>

#include "command/cli.h"

struct change {
  char *path;
  char *before;  /* NULL: there is no such file */
  char *after;   /* NULL: there is to be none */
  bool has_ours; /* what there is holds something of ours already: what was before us is kept, or
                    there was nothing */
  bool without_ours; /* what is to be holds nothing of ours any more */
};

/* Reads the file at `path`, which is taken over. Says what is wrong. Returns 0 or the exit code. */
int change_begin(const struct cli *cli, char *path, struct change *ret_change);
void change_finish(struct change *change);
bool change_is_none(const struct change *change);

/* The file is to be this when ours is taken out: `rest`, which is taken over, is what else there
 * is. If that is what was kept before (but for line ends), it is that to the byte; if there is
 * nothing else in it (`empty`), the file goes. A symbolic link never loses its file. */
int change_to_rest(const struct cli *cli, struct change *change, char *rest, bool empty);

/* As a unified diff; nothing if nothing changes. */
void change_print(FILE *out, const struct change *change);

/* Writes what is to be: under another name first, then in one step, with the file's mode, and where
 * a symbolic link leads. The file before us is kept as PATH.before-tidings, the newest only, until
 * it is there again. A file that has changed meanwhile is left alone. Says what is wrong. Returns 0
 * or the exit code. */
int change_write(const struct cli *cli, const struct change *change);

#endif
