/* SPDX-License-Identifier: MIT
 *
 * agents/wait/files.h: notices that the files of a store were deleted or moved, by inotify. If the
 * store's files or its FIFO are gone, nothing wakes a waiting process any more.
 */
#ifndef AGENTS_WAIT_FILES_H
#define AGENTS_WAIT_FILES_H

#include "command/cli.h"

/* Returns a descriptor that becomes readable when one of the files is deleted or moved. `wake_fd`:
 * the wake descriptor. -1: the files cannot be watched, or the store is in a database. */
int hook_files_watch(const struct cli *cli, int wake_fd);

#endif
