/* SPDX-License-Identifier: MIT
 *
 * host/simhost.h: a simulated host gives its plugin a clock that moves only on request, randomness
 * from a seed, and a log.
 */
#ifndef HOSTSIM_SIMHOST_H
#define HOSTSIM_SIMHOST_H

#include <tidings/host.h>

#include <pthread.h>
#include <stdbool.h>

/* The start of every simulated clock: 2023-11-14T22:13:20Z. */
#define SIMHOST_EPOCH_MS INT64_C(1700000000000)
#define SIMHOST_START_NS UINT64_C(1000000000)

struct simhost {
  struct tidings_host host; /* give this to open */
  pthread_mutex_t lock;
  int64_t now_ms;
  uint64_t mono_ns;
  uint64_t random_state;
  bool counts; /* four random bytes are zeros */
  bool log_to_stderr;
};

/* A plugin makes ids of sessions and deliveries from four random bytes. Scenarios name ids, so
 * these bytes are zeros, unless the seed has this bit. */
#define SIMHOST_DRAWS_IDS ((uint64_t)1 << 63)
void simhost_init(struct simhost *simhost, uint64_t seed, bool log_to_stderr);
void simhost_finish(struct simhost *simhost);

/* Sets the clocks to the caller's; the monotonic clock never goes back. */
void simhost_set_clock(struct simhost *simhost, int64_t now_ms, uint64_t mono_ns);

/* Returns the next random number (SplitMix64). It is for values that must differ, but be the same
 * in each run; no secret depends on it. */
uint64_t simhost_random(uint64_t *state);

#endif
