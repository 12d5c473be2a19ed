/* SPDX-License-Identifier: MIT
 *
 * powercut/spoil.h: in an image of disk.h, spoils sectors that were being written when the power
 * failed: they are torn, or can no longer be read.
 */
#ifndef POWERCUT_SPOIL_H
#define POWERCUT_SPOIL_H

#include "powercut/disk.h"

enum { SPOILT_MAX = 4 };

/* Unreadable pages, because the kernel reads a file page by page. */
struct unreadable {
  uint64_t pages[SPOILT_MAX];
  size_t count;
};

/* Spoils one or two sectors of the writes in doubt, in the image's file `path`, whose last part is
 * its name in the trace. Returns how many; 0: no write was in doubt, or the image has no such
 * file. */
size_t spoil(const struct disk *disk, struct random *random, const char *path,
             struct unreadable *ret_unreadable);

/* Makes these pages of the file unreadable for this process: pread fails with EIO, and touching
 * such a page in a map kills the process, as the kernel would. Writing a whole page makes it
 * readable again. A later call replaces an earlier one; count 0 ends this. */
void unreadable_arm(const char *path, const struct unreadable *unreadable);

#endif
