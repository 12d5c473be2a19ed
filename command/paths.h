/* SPDX-License-Identifier: MIT
 *
 * command/paths.h: finds files of the program and of the user.
 */
#ifndef COMMAND_PATHS_H
#define COMMAND_PATHS_H

/* Each path is fresh memory; NULL: out of memory. */

/* Returns "folder/name". */
char *paths_join(const char *folder, const char *name);
/* Returns `name` in this program's folder, if that file exists, else `installed`, which is relative
 * to that folder. */
char *paths_beside_program(const char *name, const char *installed);
/* Returns `name` in the folder that the variable names, or else in `folder_of_home` of the user's
 * home. NULL also if neither is known. A variable whose path is not absolute counts as not set. */
char *paths_in_home(const char *variable, const char *folder_of_home, const char *name);

/* Makes a folder and those above it, each new one with mode 0700. Returns 0 or an errno. */
int paths_make_folders(const char *path);

#endif
