/* SPDX-License-Identifier: MIT
 *
 * agents/wait/files.h: whether a store is still the one that was opened. Nobody calls a process
 * that waits when the store's files, or the FIFO by which it is called, are deleted or moved; the
 * kernel says so.
 */
#ifndef AGENTS_WAIT_FILES_H
#define AGENTS_WAIT_FILES_H

#include "command/cli.h"

/* Returns a descriptor that is readable from the moment at which one of the files goes, until it is
 * closed; `wake_fd` is the wake descriptor. -1: they cannot be watched, as those of a database. */
int hook_files_watch(const struct cli *cli, int wake_fd);

#endif
