/* SPDX-License-Identifier: MIT
 *
 * query/past.h: what history, explain and stream have in common: a session's deliveries and items
 * in memory, and why an item ended as it did.
 */
#ifndef QUERY_PAST_H
#define QUERY_PAST_H

#include "query/answer.h"

struct past {
  struct arena *arena;
  struct delivery *deliveries;
  size_t delivery_count, delivery_capacity;
  struct item *items;
  size_t item_count, item_capacity;
  struct tidings_error *error;
};

/* With `items`, or with the deliveries alone. Errors: STORE, NOMEM. */
int past_read(struct question *question, bool items, struct past *past,
              struct tidings_error *error);
/* NULL: retention has forgotten it. */
const struct item *past_item(const struct past *past, uint64_t n);

void past_write_time(struct buffer *out, int64_t ms); /* RFC 3339, without quotes */

/* As the end of a sentence. `note` is empty if the item was forgotten. */
void past_write_reason(const struct question *question, const struct notification *note,
                       const struct fate_range *fate, struct buffer *out);

/* Why a delivery was rolled back, by who did it: a clause. */
const char *past_rollback(uint8_t settled_by);

#endif
