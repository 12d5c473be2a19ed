/* SPDX-License-Identifier: MIT
 *
 * stops/well.h: the processes that are well while another one is stopped, and the time that each of
 * their calls took.
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
  int patience_ms; /* what takes longer hangs */
  struct {
    pid_t child; /* 0: there is none */
    int orders, answers;
  } resident;
  struct {
    uint64_t made, busy, late, late_itself;
    int64_t worst_ns, worst_itself_ns; /* itself: without the time that others had the processors */
  } totals[CALL_KINDS];
  bool newcomer_has_total; /* every second one: all its calls have one budget */
  uint64_t late_lives;     /* of those */
  int64_t worst_life_ns;
};

/* A host that has the store open all the time. */
void well_start_resident(struct well *well);
/* Ends it, and drains its session. */
void well_end_resident(struct well *well);

/* Every call of a newcomer, and of the resident if there is one, returns in time; of every second
 * newcomer, all calls together. A call that is late is made anew, because the machine may be busy:
 * the test fails if it is late each time, without the time that others had the processors, and by
 * more than what a sleep of the same length is late. */
void well_measure(struct well *well);

/* A process that waits for long opens the store and drains the sessions of victim and newcomer. */
void well_drain(struct well *well);
void well_print(const struct well *well);
int64_t well_longest_ms(const struct well *well); /* that any call took, or all with one budget */

#endif
