/* SPDX-License-Identifier: MIT
 *
 * top/listing.h: selects and sorts the rows of an answer. Pure.
 */
#ifndef TIDINGS_CLI_TOP_LISTING_H
#define TIDINGS_CLI_TOP_LISTING_H

#include <jansson.h>

enum top_order {
  TOP_BY_STORE,
  TOP_BY_NAME,
  TOP_BY_PENDING,
  TOP_BY_USE,
  TOP_ORDER_COUNT
}; /* BY_STORE: in the answer's order, the running ones first */
const char *listing_order_name(enum top_order order);

/* Returns a copy of the answer whose list `member` has only the rows that contain `filter`, without
 * regard to case. NULL: no memory. */
json_t *listing_filter(const json_t *answer, const char *member, const char *filter);
/* Sorts the list "sessions"; equal rows keep their order. */
void listing_sort(json_t *sessions, enum top_order order);

/* Removes sessions that have no owner and nothing waiting: closed ones, which the store keeps for a
 * day, and those that no host ever had. */
void listing_drop_closed(json_t *answer);

#endif
