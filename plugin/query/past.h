/* SPDX-License-Identifier: MIT
 *
 * query/past.h: shared by history, explain and stream: reads a session's deliveries and items, and
 * explains why an item ended as it did.
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

/* Reads the deliveries, and with `items` the items too. Errors: STORE, NOMEM. */
int past_read(struct question *question, bool items, struct past *past,
              struct tidings_error *error);
/* The items from number `first` on. Errors: the same. */
int past_read_items(struct question *question, uint64_t first, struct past *past,
                    struct tidings_error *error);
/* NULL: retention has forgotten it. */
const struct item *past_item(const struct past *past, uint64_t n);

/* Copies of the items that a delivery showed, and of those whose places these took, as far as they
 * are still there; in the arena. -1: no memory. */
int past_items_shown(const struct past *past, const struct delivery *delivery,
                     struct item **ret_items, size_t *ret_count);

/* "tool.failed", with the quotes. */
void past_write_kind(const struct notification *note, struct buffer *out);
void past_write_time(struct buffer *out, int64_t ms); /* RFC 3339, without quotes */

/* Writes why an item ended so, as the end of a sentence. `note` is empty if the item was forgotten.
 */
void past_write_reason(const struct question *question, const struct notification *note,
                       const struct disposition_range *disposition, struct buffer *out);

/* The effect of a delivery on an item. */
struct past_disposition {
  const struct delivery *delivery;
  const struct disposition_range *disposition;
};
/* Returns the disposition of item `n`; NULL: the delivery did not have it. */
const struct disposition_range *past_find_disposition(const struct disposition_range *dispositions,
                                                      size_t count, uint64_t n);

/* How an item stands. */
struct past_end {
  const char *outcome; /* "pending", "leased", how it ended, or "ended" if only that is known */
  struct past_disposition by; /* what ended it, or has it; empty: it is pending, or "ended" */
};
/* Says what happened to the item, in sentences. `dispositions` has those of each delivery that had
 * it, in order. */
void past_explain_item(const struct question *question, const struct item *item,
                       const struct past_disposition *dispositions, size_t count,
                       struct buffer *out, struct past_end *ret_end);

/* The members of a delivery, without its items. */
void past_write_delivery(struct question *question, const struct delivery *delivery);
/* "messages": the texts of the delivery, rendered again as they were then; and "rendering", which
 * says how they were rendered and whether these are the same bytes (again.c). `first`: the delivery
 * had the preamble, unless its row says otherwise. Errors: STORE, NOMEM, INVAL. */
int past_write_shown(struct question *question, const struct past *past,
                     const struct delivery *delivery, bool first, struct tidings_error *error);

/* Writes a clause that says why a delivery was rolled back. The clause depends on who did it. */
const char *past_rollback(uint8_t settled_by);

#endif
