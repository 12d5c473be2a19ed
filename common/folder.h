/* SPDX-License-Identifier: MIT
 *
 * common/folder.h: temporary folders. The plugin does not use this.
 */
#ifndef COMMON_FOLDER_H
#define COMMON_FOLDER_H

/* Makes a folder of mode 0700 in `parent`; if that is NULL, in $TMPDIR, or /tmp. Free the path;
 * NULL: it failed, and errno says why. */
char *folder_make_temporary(const char *parent, const char *prefix);

/* Removes a folder with everything in it. Follows no symbolic link and enters no other file system.
 * Files that cannot be removed stay. Returns 0 or the first errno. `path` may be NULL. */
int folder_remove_all(const char *path);

#endif
