/* SPDX-License-Identifier: MIT
 *
 * tail/lines.h: turns answers of the query `timeline` into the lines that are new. It prints
 * nothing, and knows no store.
 */
#ifndef TIDINGS_CLI_TAIL_LINES_H
#define TIDINGS_CLI_TAIL_LINES_H

#include <jansson.h>
#include <stdint.h>

/* The events that were listed already. Zero: nothing. */
struct tail {
  uint64_t last_push, last_delivery; /* the newest item's id, the newest delivery's number */
  json_t *deliveries;                /* outcomes by id, of the newest answer */
  char end[96]; /* of the newest answer: what to ask for next; empty: everything */
};

/* The events of `answer` that were not listed yet, as a JSON list in their order; the caller
 * decrefs it. Each is {"time", "event": "push", "delivery", "settled", "outcome", "rewound" or
 * "turn", ...}. NULL: out of memory. */
json_t *tail_take(struct tail *tail, const json_t *answer);
void tail_finish(struct tail *tail);

#endif
