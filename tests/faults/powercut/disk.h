/* SPDX-License-Identifier: MIT
 *
 * powercut/disk.h: what a disk may hold when the power goes: everything that a completed sync
 * covers, and of the rest any part, in any order, torn at sectors. Turns a trace and a point in it
 * into files. Must not know the plugin.
 */
#ifndef POWERCUT_DISK_H
#define POWERCUT_DISK_H

#include "kit/random.h"
#include "powercut/trace.h"

/* The commands that a disk honours. */
enum disk_honesty {
  DISK_HONEST,
  DISK_SPOILS, /* honest, and the sectors that it was writing may be torn or unreadable: spoil.h */
  DISK_IGNORES_FDATASYNC, /* the control: fdatasync returns and nothing has happened */
};

struct disk;
struct disk *disk_new(const struct trace *trace, enum disk_honesty honesty);
void disk_free(struct disk *disk);

/* Goes on to the moment at which the first `cut` events are over and the next one is under way.
 * Never goes back. */
void disk_advance(struct disk *disk, size_t cut);

/* A write of a file that no sync had covered yet, or that was under way. */
struct in_doubt {
  uint64_t offset, length;
  const uint8_t *data, *durable; /* `durable`: the whole file as it was before */
  size_t durable_length;
};
/* Those of the file that was made with this name, oldest first, at most `most`. */
size_t disk_in_doubt(const struct disk *disk, const char *name, struct in_doubt *ret_writes,
                     size_t most);

/* Writes one of the possible states into the empty folder `path`, which stands for the trace's
 * root. */
void disk_image(const struct disk *disk, struct random *random, const char *path);
/* The state in which everything has been kept: the running system's own view. */
void disk_image_whole(const struct disk *disk, const char *path);

#endif
