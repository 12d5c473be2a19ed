/* SPDX-License-Identifier: MIT
 *
 * duel.h: one comparison, which becomes a row: the floor and the plugin are measured alternately.
 */
#ifndef DUEL_H
#define DUEL_H

#include "bench.h"
#include "raw.h"
#include "samples.h"
#include "target.h"

struct duel {
  struct row *row;
  struct samples floor, measured;
  char store[PATH_BYTES], raw_path[PATH_BYTES]; /* they do not exist yet */
  struct target target;                         /* of `store` */
  struct raw *raw;                              /* of `raw_path`; NULL: not open */
};

/* False: --rows has not selected the row. */
bool duel_begin(struct bench *bench, const char *name, struct duel *ret_duel);
/* Opens the store as its host, and raw LMDB with `with_raw`. */
void duel_open(const struct bench *bench, struct duel *duel, bool with_raw);
/* Closes both, if they are open, and fills the row with the medians; the format is that of the
 * row's state. */
void duel_end(struct duel *duel, enum unit unit, double budget, const char *floor_is,
              const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
