/* SPDX-License-Identifier: MIT
 *
 * stops/well.h: the processes that run while another one is stopped, and the times of their calls.
 */
#ifndef STOPS_WELL_H
#define STOPS_WELL_H

#include <sys/types.h>

#include "stops/worker.h"

enum { LATE_MS = BUDGET_MS + 50 };

struct well {
  struct rig *rig; /* loaded here, opened in the children */
  struct board *board;
  const char *store;
  int patience_ms; /* a call that takes longer counts as hanging */
  struct {
    pid_t child; /* 0: there is none */
    int orders, answers;
  } resident;
  struct {
    uint64_t made, busy, late, late_itself;
    int64_t worst_ns, worst_itself_ns; /* itself: without waiting for a processor */
  } totals[CALL_KINDS];
  bool newcomer_has_total; /* every second newcomer has one budget for all its calls */
  uint64_t late_lives;     /* how many such newcomers were late */
  int64_t worst_life_ns;
};

/* Starts a host that has the store open all the time. */
void well_start_resident(struct well *well);
/* Ends the resident, and delivers all that waits in its session. */
void well_end_resident(struct well *well);

/* Checks that every call of a newcomer, and of the resident if there is one, returns in time; for
 * every second newcomer, that all calls together do. A late call is made again, because the machine
 * may be busy. The test fails if the call is late each time, even without the time of waiting for a
 * processor, and by more than a sleep of the same length. */
void well_measure(struct well *well);

/* Opens the store in a process with a long budget, and delivers all that waits in the sessions of
 * victim and newcomer. */
void well_drain(struct well *well);
void well_print(const struct well *well);
int64_t well_longest_ms(
    const struct well *well); /* the longest time of a call, or of all calls with one budget */

#endif
