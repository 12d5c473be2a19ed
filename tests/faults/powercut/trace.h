/* SPDX-License-Identifier: MIT
 *
 * powercut/trace.h: a trace has a workload's operations on files and the promises that it got, in
 * order. It is in shared memory, because the workload runs in its own process.
 */
#ifndef POWERCUT_TRACE_H
#define POWERCUT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_kind {
  TRACE_CREATE,   /* `name` in folder `inode` is now `other` */
  TRACE_RENAME,   /* `name` in folder `inode`, which is `other`, moved to `other_name` in folder
                     `folder` */
  TRACE_UNLINK,   /* `name` in folder `inode`, which was `other`, is gone */
  TRACE_WRITE,    /* length bytes at offset, at `data` in the arena */
  TRACE_TRUNCATE, /* `inode` now has `length` bytes */
  TRACE_SYNC,     /* what was written to `inode` before is durable; of a folder: its names */
  TRACE_MARK,     /* a promise to the workload: enum mark */
};

enum mark {
  MARK_PUSH, /* about to push or submit token `inode` to session `other`; `folder` is 1 if it has an
                id */
  MARK_PUSHED, /* that push returned OK */
  MARK_LEASED, /* a hook handed out delivery `inode` for session `other`; its tokens are the data */
  MARK_SETTLE, /* about to settle delivery `inode` with outcome `other` */
  MARK_SETTLED, /* that settle returned OK */
  MARK_END,     /* about to end message `inode` without a delivery: to cancel it, or start its
                   turn */
  MARK_ENDED,   /* that returned OK */
};

enum {
  TRACE_FOLDER = 1,    /* CREATE: of a folder */
  TRACE_DURABLE = 2,   /* WRITE: through an O_DSYNC descriptor */
  TRACE_FDATASYNC = 4, /* SYNC: by fdatasync, not fsync */
  TRACE_NAME_MAX = 64,
};

struct trace_event {
  uint8_t kind, flags, mark;
  uint64_t inode, other, folder;
  uint64_t offset, length, data;
  char name[TRACE_NAME_MAX], other_name[TRACE_NAME_MAX];
};

struct trace {
  uint64_t root; /* the inode of the folder that existed, durably, at the beginning */
  size_t count, capacity;
  size_t bytes, bytes_capacity;
  size_t opened; /* the number of events when the store was first open */
  struct trace_event *events;
  uint8_t *arena;
};

/* Makes a trace in memory that forked processes share. */
struct trace *trace_new(void);
void trace_free(struct trace *trace);
/* Adds an event and returns it; ends the test when the trace is full. `data` (may be NULL) is
 * copied. Not thread-safe. */
struct trace_event *trace_add(struct trace *trace, enum trace_kind kind, const void *data,
                              size_t length);

void trace_save(const struct trace *trace, const char *path);
struct trace *trace_load(const char *path);

#endif
