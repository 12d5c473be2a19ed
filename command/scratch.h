/* SPDX-License-Identifier: MIT
 *
 * command/scratch.h: a temporary folder for a store that nobody keeps.
 */
#ifndef COMMAND_SCRATCH_H
#define COMMAND_SCRATCH_H

char *scratch_make(void);          /* mode 0700, in $TMPDIR or /tmp; NULL with errno set */
void scratch_remove(char *folder); /* with the files in it, and frees the name; NULL is allowed */

#endif
