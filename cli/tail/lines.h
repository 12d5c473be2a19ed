/* SPDX-License-Identifier: MIT
 *
 * tail/lines.h: finds the new events in answers of the query `timeline`. It prints nothing, and
 * uses no store.
 */
#ifndef TIDINGS_CLI_TAIL_LINES_H
#define TIDINGS_CLI_TAIL_LINES_H

#include <jansson.h>
#include <stdint.h>

/* The part that was listed already. Zero: nothing. */
struct tail {
  uint64_t last_push, last_delivery; /* the newest item's id, the newest delivery's number */
  json_t *deliveries;                /* the outcomes in the newest answer, by id */
  char end[96]; /* the end of the newest answer, to ask from there on; empty: ask for everything */
};

/* Returns the events of `answer` that were not listed yet, as a JSON list in order of time; the
 * caller releases it. Each is {"time", "event": "push", "delivery", "settled", "outcome", "rewound"
 * or "turn", ...}. NULL: out of memory. */
json_t *tail_take(struct tail *tail, const json_t *answer);
void tail_finish(struct tail *tail);

#endif
