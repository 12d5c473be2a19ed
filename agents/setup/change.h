/* SPDX-License-Identifier: MIT
 *
 * agents/setup/change.h: a change of a user's file: its present and its new text. The change is
 * shown as a diff, and then written in one step. This module does not interpret the text.
 */
#ifndef AGENTS_SETUP_CHANGE_H
#define AGENTS_SETUP_CHANGE_H

#include <stdbool.h>
#include <stdio.h>

#include "command/cli.h"

enum { SETUP_LARGEST_FILE = 16 << 20 }; /* bytes of a file that is read */

struct change {
  char *path;
  char *before;  /* NULL: there is no such file */
  char *after;   /* NULL: the file is to be removed */
  bool has_ours; /* the present text has entries of tidings already, so the former text was saved,
                    or there was no file */
  bool without_ours; /* the new text has no entries of tidings any more */
  char *saved_rest;  /* the saved text after setup and --remove; NULL: it would be the same */
};

/* Reads the file at `path`, which is taken over. Prints errors. Returns 0 or the exit code. */
int change_begin(const struct cli *cli, char *path, struct change *ret_change);
void change_finish(struct change *change);
bool change_is_none(const struct change *change);

/* Returns the saved text. Free it; NULL: there is none that can be read. */
char *change_saved(const struct change *change);

/* Sets the text of a file from which the entries of tidings were removed: `rest`, which is taken
 * over. If `rest` equals the saved text, or saved_rest, except for line ends, the file gets the
 * saved text to the byte. If nothing else is in the file (`empty`), it is removed, but never the
 * file of a symbolic link. */
int change_to_rest(const struct cli *cli, struct change *change, char *rest, bool empty);

/* Prints a unified diff, or nothing if nothing changes. */
void change_print(FILE *out, const struct change *change);

/* Writes the new text: first under another name, then in one step, with the file's mode, and at the
 * place where a symbolic link leads. The newest file without entries of tidings is saved as
 * PATH.before-tidings until it is restored. A file that has changed meanwhile stays as it is.
 * Prints errors. Returns 0 or the exit code. */
int change_write(const struct cli *cli, const struct change *change);

#endif
