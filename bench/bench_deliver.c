/* SPDX-License-Identifier: MIT
 *
 * bench_deliver.c: deliver + settle of 10 and of 1,000 items, on an empty store and beside a
 * million other items.
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/clock.h"
#include "duel.h"

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

static const char deliver_by_hand[] = "read and mark each, commit; delete each, commit";

static void against_raw(struct bench *bench, const char *name, uint64_t count, double budget) {
  struct duel duel;
  uint64_t n = 1;
  if (!duel_begin(bench, name, &duel)) return;
  duel_open(bench, &duel, true);
  deliver_us(&duel.target, count);
  for (int round = 0; round < deliver_rounds(bench, count); round++) {
    samples_add(&duel.floor, raw_us(duel.raw, count, &n));
    samples_add(&duel.measured, deliver_us(&duel.target, count));
  }
  duel_end(&duel, UNIT_US, budget, deliver_by_hand, "nothing else pending");
}

static void beside_others(struct bench *bench, const char *name, uint64_t count) {
  struct duel duel;
  struct target big;
  if (!duel_begin(bench, name, &duel)) return;
  const char *big_store = bench_big_store(bench);
  duel_open(bench, &duel, false);
  target_load(&big, bench->plugin);
  target_open(&big, big_store, TIDINGS_ROLE_HOST);
  deliver_us(&duel.target, count);
  deliver_us(&big, count);
  for (int round = 0; round < deliver_rounds(bench, count); round++) {
    samples_add(&duel.floor, deliver_us(&duel.target, count));
    samples_add(&duel.measured, deliver_us(&big, count));
  }
  target_unload(&big);
  duel_end(&duel, UNIT_US, 1.5, "the same on an empty store", "%" PRIu64 " other items pending",
           bench->big_items);
}

/* Measures a hook call with 10,000 items pending: they are read, planned, rendered and leased. Each
 * delivery is rolled back, so that the items stay. */
static void many_pending(struct bench *bench, const char *name, const char *delivery,
                         uint64_t expected) {
  enum { PENDING = 10000, BUDGET_US = 10000 };
  char configuration[256];
  struct duel duel;
  uint64_t n = 1;
  if (!duel_begin(bench, name, &duel)) return;
  duel_open(bench, &duel, true);
  snprintf(configuration, sizeof configuration,
           "{\"limits\":{\"pending_per_session\":20000},\"delivery\":%s}", delivery);
  target_configure(&duel.target, configuration);
  for (uint64_t i = 0; i < PENDING; i++) target_report_file(&duel.target, "carrier", i);
  for (int round = 0; round < deliver_rounds(bench, PENDING); round++) {
    size_t got;
    uint64_t began = clock_mono_ns();
    uint64_t id = target_deliver(&duel.target, "carrier", &got);
    samples_add(&duel.measured, (double)(clock_mono_ns() - began) / 1e3);
    target_roll_back(&duel.target, id);
    if (got > expected || !got) bench_die("%zu lines came, expected %" PRIu64, got, expected);
    samples_add(&duel.floor, raw_us(duel.raw, PENDING, &n));
  }
  duel.row->budget_is_absolute = true;
  duel_end(&duel, UNIT_US, BUDGET_US, deliver_by_hand, "10,000 changed files pending");
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

/* Measures a hook that shows ten of many items, within the bytes that agents accept. Each delivery
 * is rolled back. */
static void ten_of(struct bench *bench, const char *name, uint64_t pending, double budget) {
  struct duel duel;
  if (!duel_begin(bench, name, &duel)) return;
  duel_open(bench, &duel, false);
  target_configure(&duel.target,
                   "{\"limits\":{\"pending_per_session\":200000},\"delivery\":{\"max_items\":10}}");
  target_fill(&duel.target, "few", 10);
  target_fill(&duel.target, "many", pending);
  for (int round = 0; round < deliver_rounds(bench, pending); round++) {
    samples_add(&duel.floor, lease_us(&duel.target, "few"));
    samples_add(&duel.measured, lease_us(&duel.target, "many"));
  }
  duel_end(&duel, UNIT_US, budget, "a hook that shows ten of ten", "%" PRIu64 " pending", pending);
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
