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
  bool has_total; /* all its calls have one budget together */
};

/* Each fails the test if the plugin returns anything but OK or BUSY. A call that needs an earlier,
 * refused one is left out. */
void worker_open(struct worker *worker);
void worker_work(struct worker *worker); /* push, hook, settle */
void worker_close(struct worker *worker);

/* Delivers and settles everything that waits in the session of `role`, in a process with a long
 * budget. Checks that what was acknowledged and not settled comes once, and that nothing settled
 * comes. */
void worker_drain(struct worker *worker, enum role role);

#endif
