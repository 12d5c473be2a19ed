/* SPDX-License-Identifier: MIT
 *
 * powercut/workload.h: the work during which the power may fail: it makes a store, pushes, delivers
 * and settles notifications, and lets messages start turns.
 */
#ifndef POWERCUT_WORKLOAD_H
#define POWERCUT_WORKLOAD_H

#include "powercut/trace.h"

enum workload_kind {
  WORKLOAD_SERIAL,  /* one thread; repeats exactly for a seed */
  WORKLOAD_THREADS, /* several pushers at once, so that commits have several pushes; the order
                     * differs from run to run */
};
/* The first sessions are for notifications, the others for turns. */
enum {
  WORKLOAD_SESSIONS = 5,
  WORKLOAD_LANES = 2,
  WORKLOAD_ALL_SESSIONS = WORKLOAD_SESSIONS + WORKLOAD_LANES,
  WORKLOAD_TOKENS = 4096,
  WORKLOAD_STORE_DEPTH = 2
};

/* Runs in a child process on a new store below `root`; returns when the child has ended. Ends the
 * test if anything fails. Also compares the trace with the files in `root`, to find calls that the
 * tracer missed. */
struct trace *workload_run(enum workload_kind kind, const char *plugin, uint64_t seed,
                           const char *root);

/* The store's path below the root, and the name of session number `i`. */
void workload_store_path(const char *root, char *path);
void workload_session(unsigned i, char name[8]);

#endif
