/* SPDX-License-Identifier: MIT
 *
 * powercut/spoil.h: sectors that were being written when the power went, and that are neither as
 * before nor as after: torn within the sector, or unreadable from then on. Applied to an image that
 * disk.h has made. Must not know the plugin.
 */
#ifndef POWERCUT_SPOIL_H
#define POWERCUT_SPOIL_H

#include "powercut/disk.h"

enum { SPOILT_MAX = 4 };

/* Pages that cannot be read any more: the kernel reads a file page by page. */
struct unreadable {
  uint64_t pages[SPOILT_MAX];
  size_t count;
};

/* Spoils one or two sectors of the writes that were in doubt when the power went, in the image's
 * file `path`, which the trace calls by the last part of that name. Returns how many were spoilt: 0
 * if no write was in doubt, or the image has no such file. */
size_t spoil(const struct disk *disk, struct random *random, const char *path,
             struct unreadable *ret_unreadable);

/* From now on these pages of the file cannot be read in this process: pread fails with EIO, and
 * touching one in a map kills, as it does where the kernel cannot read it. Writing a whole page
 * makes it readable again. A later call replaces an earlier one; count 0 ends it. */
void unreadable_arm(const char *path, const struct unreadable *unreadable);

#endif
