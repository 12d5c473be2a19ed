/* SPDX-License-Identifier: MIT
 *
 * query/latency.h: see latency.c.
 */
#ifndef QUERY_LATENCY_H
#define QUERY_LATENCY_H

#include "query/answer.h"

/* The time at which each notification that the store still has was pushed, by number; in an arena.
 */
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

/* "latency". Errors: STORE, NOMEM. */
int query_latency_write(struct question *question, const struct latency_times *times,
                        struct tidings_error *error);

#endif
