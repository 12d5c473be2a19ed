/* SPDX-License-Identifier: MIT
 *
 * stops/worker.h: a process that uses the store: opens it, pushes, delivers, settles, closes it.
 */
#ifndef STOPS_WORKER_H
#define STOPS_WORKER_H

#include "kit/rig.h"
#include "stops/board.h"

enum { BUDGET_MS = 100 };

struct worker {
  struct rig *rig;
  struct board *board;
  const char *store;
  enum role role;
  bool has_total; /* its calls have one budget together, not one each */
};

/* Each fails the test if the plugin returns anything but OK and BUSY. A call is left out if it
 * needs an earlier one that was refused. */
void worker_open(struct worker *worker);
void worker_work(struct worker *worker); /* push, hook, settle */
void worker_close(struct worker *worker);

/* Delivers and settles everything that waits in the session of `role`, in a process that waits
 * long. Checks that what was acknowledged and not settled comes once, and that nothing comes that
 * was settled. */
void worker_drain(struct worker *worker, enum role role);

#endif
