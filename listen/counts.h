/* SPDX-License-Identifier: MIT
 *
 * listen/counts.h: counts the requests of a route by their answers. Any thread may count.
 */
#ifndef LISTEN_COUNTS_H
#define LISTEN_COUNTS_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { COUNTS_STATUSES = 12 };

struct counts {
  atomic_ullong accepted;    /* requests of which something new was stored */
  atomic_ullong repeated;    /* requests of which everything had been stored before */
  atomic_ullong overtaken;   /* requests of which everything was overtaken by a later push with the
                                same key */
  atomic_ullong ignored;     /* requests of which no rule made a notification */
  atomic_ullong unaddressed; /* requests that do not say where they go */
  atomic_ullong refused[COUNTS_STATUSES];
};

void counts_refused(struct counts *counts, unsigned status);
/* {"accepted": 1, …, "refused": {"401": 2}}; NULL: no memory. */
json_t *counts_json(const struct counts *counts);
void counts_copy(struct counts *counts, const struct counts *from);

#endif
