/* SPDX-License-Identifier: MIT
 *
 * query/latency.h: how long delivered notifications had waited.
 */
#ifndef QUERY_LATENCY_H
#define QUERY_LATENCY_H

#include "query/answer.h"

/* The times at which the notifications in the store were pushed, sorted by number; in an arena. */
struct latency_time {
  uint64_t n;
  int64_t ms;
};
struct latency_times {
  struct latency_time *list;
  size_t count, capacity;
};
/* -1: no memory. */
int query_latency_note(struct latency_times *times, struct arena *arena, uint64_t n,
                       int64_t time_ms);

/* How long the notifications that were delivered within the last hour had waited. */
enum { LATENCY_BUCKETS = 9, LATENCY_WINDOW_MS = 3600000 };
struct latency {
  int64_t since_ms;
  uint64_t buckets[LATENCY_BUCKETS], count, sum_ms;
};
void query_latency_count(struct latency *latency, int64_t wait_ms);
/* Is the delivery counted? */
bool query_latency_takes(const struct latency *latency, const struct delivery *delivery);
/* Writes the member "latency". */
void query_latency_put(struct json_writer *writer, const struct latency *latency);
/* Counts the deliveries of the question's session, and writes them. Errors: STORE, NOMEM. */
int query_latency_write(struct question *question, const struct latency_times *times,
                        struct tidings_error *error);

#endif
