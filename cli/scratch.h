/* SPDX-License-Identifier: MIT
 *
 * scratch.h: a temporary folder for a store that nobody keeps.
 */
#ifndef TIDINGS_CLI_SCRATCH_H
#define TIDINGS_CLI_SCRATCH_H

char *scratch_make(void);          /* mode 0700, in $TMPDIR or /tmp; NULL with errno set */
void scratch_remove(char *folder); /* with the files in it, and frees the name; NULL is allowed */

#endif
