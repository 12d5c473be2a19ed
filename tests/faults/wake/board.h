/* SPDX-License-Identifier: MIT
 *
 * wake/board.h: memory that pushers, sleeper and killer share, which outlives a SIGKILL; and their
 * main functions.
 *
 * Each thread of a pusher has a lane: it pushes its next number, and continues only when the
 * sleeper has got the number. Only pushes wake the sleeper. The next push or swap would hide a lost
 * wake, so now and then all lanes are stopped and nothing is swapped. If a lane's push is not
 * delivered then, a wake is lost.
 */
#ifndef WAKE_BOARD_H
#define WAKE_BOARD_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kit/rig.h"

enum {
  PUSHERS = 4, /* processes */
  LANES_EACH = 2,
  LANES = PUSHERS * LANES_EACH,
  PATIENCE_SECONDS = 120, /* after this time a wake counts as lost */
};

struct lane {
  atomic_bool busy;            /* a push was begun and has not woken the sleeper yet */
  _Atomic(uint64_t) next;      /* the number of the current push */
  _Atomic(uint64_t) delivered; /* the highest number that was handed out */
  sem_t delivery;              /* posted when `delivered` has grown */
};

struct board {
  atomic_bool ready; /* the sleeper owns its sessions and sleeps */
  atomic_bool stop;  /* tells pushers to finish */
  atomic_uint awake; /* a bit for each lane that may push; with fewer lanes the sleeper really
                        sleeps more often */
  _Atomic(uint64_t) acknowledged, passive; /* how many pushes ring, and how many do not */
  _Atomic(uint64_t) woken, named, empty;   /* counts of the sleeper: returns from poll, named
                                              sessions, and named sessions without anything new */
  sem_t swap;                              /* posted to make the sleeper swap once */
  _Atomic(uint64_t) swaps, late; /* late: how many sessions only the last look named, because the
                                    pusher was killed before it rang */
  struct lane lanes[LANES];
};

/* The last two lanes share a session, the others have one each. */
static inline void lane_session(unsigned lane, char name[8]) {
  name[0] = 'w';
  name[1] = (char)('0' + (lane == LANES - 1 ? lane - 1 : lane));
  name[2] = 0;
}
#define QUIET_SESSION "quiet"

/* Never returns: a pusher ends when `stop` is set or it is killed. `rig` is loaded, not open. */
_Noreturn void pusher_main(struct rig *rig, struct board *board, const char *store, unsigned number,
                           uint64_t seed);
/* Sleeps, and swaps the plugin when it is requested, until the writers of `control` have closed it;
 * then looks a last time. */
_Noreturn void sleeper_main(const char *plugin, struct board *board, const char *store,
                            int control);

#endif
