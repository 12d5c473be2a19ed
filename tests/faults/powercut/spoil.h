/* SPDX-License-Identifier: MIT
 *
 * powercut/spoil.h: spoils sectors that were being written when the power failed, in an image that
 * disk.h has made: they are torn, or cannot be read any more.
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

/* Spoils one or two sectors of the writes that were in doubt when the power failed, in the image's
 * file `path`, which the trace calls by the last part of that name. Returns how many were spoilt: 0
 * if no write was in doubt, or the image has no such file. */
size_t spoil(const struct disk *disk, struct random *random, const char *path,
             struct unreadable *ret_unreadable);

/* After this call these pages of the file cannot be read in this process: pread fails with EIO, and
 * touching such a page in a map kills the process, as if the kernel could not read it. Writing a
 * whole page makes it readable again. A later call replaces an earlier one; count 0 ends it. */
void unreadable_arm(const char *path, const struct unreadable *unreadable);

#endif
