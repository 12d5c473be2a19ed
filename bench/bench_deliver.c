/* SPDX-License-Identifier: MIT
 *
 * bench_deliver.c: deliver + settle of 10 and of 1,000 items, on an empty store and beside a
 * million other items.
 */
#include <inttypes.h>
#include <stdio.h>

#include "bench.h"
#include "common/clock.h"
#include "raw.h"
#include "samples.h"
#include "target.h"

static double deliver_us(struct target *target, uint64_t count) {
  size_t got;
  target_fill(target, "carrier", count);
  uint64_t began = clock_mono_ns();
  uint64_t delivery = target_deliver(target, "carrier", &got);
  target_commit(target, delivery);
  double us = (double)(clock_mono_ns() - began) / 1e3;
  if (got != count) bench_die("%zu items came, %" PRIu64 " were pending", got, count);
  return us;
}

static double raw_us(struct raw *raw, uint64_t count, uint64_t *n) {
  raw_put_many(raw, 7, *n, count);
  *n += count;
  uint64_t began = clock_mono_ns();
  uint64_t got = raw_deliver(raw, 7);
  raw_settle(raw, 7);
  if (got != count) bench_die("raw LMDB lost something");
  return (double)(clock_mono_ns() - began) / 1e3;
}

static int deliver_rounds(const struct bench *bench, uint64_t count) {
  return (bench->quick ? 7 : 41) / (count > 100 ? 2 : 1) + 1;
}

static void against_raw(struct bench *bench, const char *name, uint64_t count, double budget) {
  char store[PATH_BYTES], raw_path[PATH_BYTES];
  struct samples floor = {0}, delivered = {0};
  struct target target;
  uint64_t n = 1;
  if (!bench_is_selected(bench, name)) return;
  struct row *row = bench_row(bench, name);
  bench_store_path(bench, store);
  bench_store_path(bench, raw_path);
  struct raw *raw = raw_open(raw_path);
  target_load(&target, bench->plugin);
  target_open(&target, store, TIDINGS_ROLE_HOST);
  deliver_us(&target, count);
  for (int round = 0; round < deliver_rounds(bench, count); round++) {
    samples_add(&floor, raw_us(raw, count, &n));
    samples_add(&delivered, deliver_us(&target, count));
  }
  snprintf(row->state, sizeof row->state, "nothing else pending");
  snprintf(row->floor_is, sizeof row->floor_is, "read and mark each, commit; delete each, commit");
  row->unit = UNIT_US;
  row->floor = samples_median(&floor);
  row->measured = samples_median(&delivered);
  row->budget = budget;
  samples_free(&floor);
  samples_free(&delivered);
  target_unload(&target);
  raw_close(raw);
}

static void beside_others(struct bench *bench, const char *name, uint64_t count) {
  char store[PATH_BYTES];
  struct samples alone = {0}, beside = {0};
  struct target empty, big;
  if (!bench_is_selected(bench, name)) return;
  const char *big_store = bench_big_store(bench);
  struct row *row = bench_row(bench, name);
  bench_store_path(bench, store);
  target_load(&empty, bench->plugin);
  target_load(&big, bench->plugin);
  target_open(&empty, store, TIDINGS_ROLE_HOST);
  target_open(&big, big_store, TIDINGS_ROLE_HOST);
  deliver_us(&empty, count);
  deliver_us(&big, count);
  for (int round = 0; round < deliver_rounds(bench, count); round++) {
    samples_add(&alone, deliver_us(&empty, count));
    samples_add(&beside, deliver_us(&big, count));
  }
  snprintf(row->state, sizeof row->state, "%" PRIu64 " other items pending", bench->big_items);
  snprintf(row->floor_is, sizeof row->floor_is, "the same on an empty store");
  row->unit = UNIT_US;
  row->floor = samples_median(&alone);
  row->measured = samples_median(&beside);
  row->budget = 1.5;
  samples_free(&alone);
  samples_free(&beside);
  target_unload(&empty);
  target_unload(&big);
}

/* A hook call with 10,000 items pending: read, planned, rendered, leased. Rolled back each time,
 * so that they stay. */
static void many_pending(struct bench *bench, const char *name, const char *delivery,
                         uint64_t expected) {
  enum { PENDING = 10000, BUDGET_US = 10000 };
  char store[PATH_BYTES], raw_path[PATH_BYTES], configuration[256];
  struct samples floor = {0}, planned = {0};
  struct target target;
  uint64_t n = 1;
  if (!bench_is_selected(bench, name)) return;
  struct row *row = bench_row(bench, name);
  bench_store_path(bench, store);
  bench_store_path(bench, raw_path);
  struct raw *raw = raw_open(raw_path);
  target_load(&target, bench->plugin);
  target_open(&target, store, TIDINGS_ROLE_HOST);
  snprintf(configuration, sizeof configuration,
           "{\"limits\":{\"pending_per_session\":20000},\"delivery\":%s}", delivery);
  target_configure(&target, configuration);
  for (uint64_t i = 0; i < PENDING; i++) target_report_file(&target, "carrier", i);
  for (int round = 0; round < deliver_rounds(bench, PENDING); round++) {
    size_t got;
    uint64_t began = clock_mono_ns();
    uint64_t id = target_deliver(&target, "carrier", &got);
    samples_add(&planned, (double)(clock_mono_ns() - began) / 1e3);
    target_roll_back(&target, id);
    if (got > expected || !got) bench_die("%zu lines came, expected %" PRIu64, got, expected);
    samples_add(&floor, raw_us(raw, PENDING, &n));
  }
  snprintf(row->state, sizeof row->state, "10,000 changed files pending");
  snprintf(row->floor_is, sizeof row->floor_is, "read and mark each, commit; delete each, commit");
  row->unit = UNIT_US;
  row->floor = samples_median(&floor);
  row->measured = samples_median(&planned);
  row->budget = BUDGET_US;
  row->budget_is_absolute = true;
  samples_free(&floor);
  samples_free(&planned);
  target_unload(&target);
  raw_close(raw);
}

static double lease_us(struct target *target, const char *session) {
  enum { ROOM_OF_A_HOOK = 10000 };
  size_t got;
  uint64_t began = clock_mono_ns();
  uint64_t id = target_deliver_in(target, session, ROOM_OF_A_HOOK, &got);
  double us = (double)(clock_mono_ns() - began) / 1e3;
  target_roll_back(target, id);
  if (got != 10) bench_die("%zu lines came, expected 10", got);
  return us;
}

/* A hook that shows ten of many, in the room that agents leave it. Rolled back each time. */
static void ten_of(struct bench *bench, const char *name, uint64_t pending, double budget) {
  char store[PATH_BYTES];
  struct samples few = {0}, many = {0};
  struct target target;
  if (!bench_is_selected(bench, name)) return;
  struct row *row = bench_row(bench, name);
  bench_store_path(bench, store);
  target_load(&target, bench->plugin);
  target_open(&target, store, TIDINGS_ROLE_HOST);
  target_configure(&target,
                   "{\"limits\":{\"pending_per_session\":200000},\"delivery\":{\"max_items\":10}}");
  target_fill(&target, "few", 10);
  target_fill(&target, "many", pending);
  for (int round = 0; round < deliver_rounds(bench, pending); round++) {
    samples_add(&few, lease_us(&target, "few"));
    samples_add(&many, lease_us(&target, "many"));
  }
  snprintf(row->state, sizeof row->state, "%" PRIu64 " pending", pending);
  snprintf(row->floor_is, sizeof row->floor_is, "a hook that shows ten of ten");
  row->unit = UNIT_US;
  row->floor = samples_median(&few);
  row->measured = samples_median(&many);
  row->budget = budget;
  samples_free(&few);
  samples_free(&many);
  target_unload(&target);
}

void bench_deliver(struct bench *bench) {
  ten_of(bench, "hook that shows 10 of 9,000", 9000, 2);
  ten_of(bench, "hook that shows 10 of 86,000", 86000, 20);
  against_raw(bench, "deliver + settle 10", 10, 1.3);
  against_raw(bench, "deliver + settle 1,000", 1000, 0.6);
  many_pending(bench, "plan and render 10,000", "{\"max_items\":10}", 10);
  many_pending(bench, "plan and render 10,000, balanced",
               "{\"preset\":\"balanced\",\"coalesce_window_ms\":86400000}", 10);
  many_pending(bench, "plan and render 10,000, no cap", "{\"preset\":\"grouped\"}", 10000);
  beside_others(bench, "deliver + settle 10, beside", 10);
  beside_others(bench, "deliver + settle 1,000, beside", 1000);
}
