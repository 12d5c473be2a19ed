/* SPDX-License-Identifier: MIT
 */
#include "duel.h"

#include <stdarg.h>
#include <stdio.h>

bool duel_begin(struct bench *bench, const char *name, struct duel *ret_duel) {
  if (!bench_is_selected(bench, name)) return false;
  *ret_duel = (struct duel){.row = bench_row(bench, name)};
  bench_store_path(bench, ret_duel->store);
  bench_store_path(bench, ret_duel->raw_path);
  return true;
}

void duel_open(const struct bench *bench, struct duel *duel, bool with_raw) {
  if (with_raw) duel->raw = raw_open(duel->raw_path);
  target_load(&duel->target, bench->plugin);
  target_open(&duel->target, duel->store, TIDINGS_ROLE_HOST);
}

void duel_end(struct duel *duel, enum unit unit, double budget, const char *floor_is,
              const char *format, ...) {
  struct row *row = duel->row;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(row->state, sizeof row->state, format, arguments);
  va_end(arguments);
  snprintf(row->floor_is, sizeof row->floor_is, "%s", floor_is);
  row->unit = unit;
  if (duel->floor.count) row->floor = samples_median(&duel->floor);
  if (duel->measured.count) row->measured = samples_median(&duel->measured);
  row->budget = budget;
  samples_free(&duel->floor);
  samples_free(&duel->measured);
  if (duel->target.image) target_unload(&duel->target);
  if (duel->raw) raw_close(duel->raw);
}
