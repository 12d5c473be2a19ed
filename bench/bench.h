/* SPDX-License-Identifier: MIT
 *
 * bench.h: the measurements and their shared functions. Each row stands beside the floor with which
 * it is compared. Both are measured alternately in one run, so that a busy machine slows both. A
 * bench does not judge: it always exits with 0.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROWS_MAX = 64, PATH_BYTES = 512, SESSION_BYTES = 32 };

enum unit { UNIT_NS, UNIT_US, UNIT_PER_SECOND, UNIT_KIB, UNIT_COUNT };

struct row {
  const char *name;
  char state[96]; /* of the store */
  char floor_is[96];
  enum unit unit;
  double floor, measured;
  double ratio; /* measured to floor */
  bool more_is_better;
  double budget; /* of the ratio, or of the measured value itself; 0: none */
  bool budget_is_absolute;
  bool failed; /* a side condition (the note names it) is not met */
  char note[160];
};

struct bench {
  const char *plugin; /* --plugin */
  const char *base;   /* --dir: where stores are made */
  const char *only;   /* --rows */
  bool quick, json;
  char folder[PATH_BYTES];
  unsigned folders; /* made so far */
  struct row rows[ROWS_MAX];
  size_t row_count;
  bool filled; /* `big` holds a store with other items pending */
  char big[PATH_BYTES];
  uint64_t big_items;
};

/* Has --rows selected the row of this name? */
bool bench_is_selected(const struct bench *bench, const char *name);
/* Adds a row to the table. */
struct row *bench_row(struct bench *bench, const char *name);
/* Writes a path for a store that does not exist yet. */
void bench_store_path(struct bench *bench, char path[PATH_BYTES]);
/* Returns the store with a million other items pending (fewer with --quick); the first call makes
 * it. */
const char *bench_big_store(struct bench *bench);

void bench_hook(struct bench *bench);    /* a hook with nothing pending */
void bench_node(struct bench *bench);    /* the same from JavaScript */
void bench_agents(struct bench *bench);  /* the hooks of one tool call in opencode and pi */
void bench_command(struct bench *bench); /* the same from a process of its own */
void bench_push(struct bench *bench);    /* pushes: alone, by threads, by processes */
void bench_wake(struct bench *bench);    /* the time from a push to the process that it wakes */
void bench_deliver(struct bench *bench); /* deliver and settle */
void bench_open(struct bench *bench);    /* open, and hot swap */
void bench_tokens(struct bench *bench);  /* the tokens of each preset's blocks */

_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
