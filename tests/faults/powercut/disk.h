/* SPDX-License-Identifier: MIT
 *
 * powercut/disk.h: makes the files that a disk may have after a power cut at some point of a trace:
 * everything that a completed sync covers, and any part of the other changes, in any order, torn at
 * sectors.
 */
#ifndef POWERCUT_DISK_H
#define POWERCUT_DISK_H

#include "kit/random.h"
#include "powercut/trace.h"

/* The disk obeys these commands. */
enum disk_honesty {
  DISK_HONEST,
  DISK_SPOILS, /* honest, but the sectors that were being written may be torn or unreadable: spoil.h
                */
  DISK_IGNORES_FDATASYNC, /* the control: fdatasync does nothing */
};

struct disk;
struct disk *disk_new(const struct trace *trace, enum disk_honesty honesty);
void disk_free(struct disk *disk);

/* Advances to the moment after the first `cut` events, when the next one has begun. It cannot go
 * back. */
void disk_advance(struct disk *disk, size_t cut);

/* A write that no sync had covered yet, or that had not returned. */
struct in_doubt {
  uint64_t offset, length;
  const uint8_t *data, *durable; /* `durable`: the whole file before it */
  size_t durable_length;
};
/* Lists at most `most` such writes to the file that was created as `name`, the oldest first. */
size_t disk_in_doubt(const struct disk *disk, const char *name, struct in_doubt *ret_writes,
                     size_t most);

/* Writes one of the possible states into the empty folder `path`, which takes the place of the
 * trace's root. */
void disk_image(const struct disk *disk, struct random *random, const char *path);
/* Writes the state in which nothing is lost, as the running system sees it. */
void disk_image_whole(const struct disk *disk, const char *path);

#endif
