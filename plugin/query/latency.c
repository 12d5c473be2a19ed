/* SPDX-License-Identifier: MIT
 *
 * query/latency.c: part of the query `stats`: how long the notifications that were delivered in the
 * last hour had waited since their push.
 */
#include "query/latency.h"

#include "common/error.h"

static const int64_t bounds_ms[LATENCY_BUCKETS] = {100,   500,    1000,    5000,   15000,
                                                   60000, 300000, 1800000, 3600000};

struct waiting {
  const struct latency_times *times;
  struct latency latency;
};

int query_latency_note(struct latency_times *times, struct arena *arena, uint64_t n,
                       int64_t time_ms) {
  if (times->count == times->capacity) {
    struct latency_time *larger =
        arena_enlarge(arena, times->list, &times->capacity, sizeof *larger);
    if (!larger) return -1;
    times->list = larger;
  }
  times->list[times->count++] = (struct latency_time){n, time_ms};
  return 0;
}

/* The first whose number is at least `n`. */
static size_t first_time(const struct latency_times *times, uint64_t n) {
  size_t from = 0, to = times->count;
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    if (times->list[middle].n < n) from = middle + 1;
    else to = middle;
  }
  return from;
}

void query_latency_count(struct latency *latency, int64_t wait_ms) {
  if (wait_ms < 0) wait_ms = 0; /* a clock that was set back */
  for (size_t i = 0; i < LATENCY_BUCKETS; i++) latency->buckets[i] += wait_ms <= bounds_ms[i];
  latency->count++;
  latency->sum_ms += (uint64_t)wait_ms;
}

bool query_latency_takes(const struct latency *latency, const struct delivery *delivery) {
  return delivery->state == DELIVERY_COMMITTED && delivery->leased_ms >= latency->since_ms;
}

static int count_delivery(void *context, const struct delivery *delivery) {
  struct waiting *waiting = context;
  const struct latency_times *times = waiting->times;
  bool counts = query_latency_takes(&waiting->latency, delivery);
  for (size_t i = 0; counts && i < delivery->disposition_count; i++) {
    const struct disposition_range *range = &delivery->dispositions[i];
    if (range->outcome != OUTCOME_DELIVERED) continue;
    for (size_t at = first_time(times, range->first);
         at < times->count && times->list[at].n <= range->last; at++)
      query_latency_count(&waiting->latency, delivery->leased_ms - times->list[at].ms);
  }
  return 0;
}

void query_latency_put(struct json_writer *writer, const struct latency *latency) {
  json_open(writer, "latency", '{');
  json_put_u64(writer, "window_ms", LATENCY_WINDOW_MS);
  json_put_u64(writer, "count", latency->count);
  json_put_u64(writer, "sum_ms", latency->sum_ms);
  json_open(writer, "buckets", '[');
  for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
    json_open(writer, NULL, '{');
    json_put_i64(writer, "most_ms", bounds_ms[i]);
    json_put_u64(writer, "count", latency->buckets[i]);
    json_close(writer, '}');
  }
  json_close(writer, ']');
  json_close(writer, '}');
}

int query_latency_write(struct question *question, const struct latency_times *times,
                        struct tidings_error *error) {
  struct op *op = &question->op;
  struct waiting waiting = {.times = times, .latency.since_ms = op->now_ms - LATENCY_WINDOW_MS};
  int code = op->session
                 ? delivery_scan(op->txn, op->session, &op->arena, count_delivery, &waiting, error)
                 : 0;
  if (!code) query_latency_put(&question->writer, &waiting.latency);
  return code;
}
