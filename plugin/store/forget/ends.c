/* SPDX-License-Identifier: MIT
 *
 * store/forget/ends.c: when an item ended. An item's row does not say it, so the session's
 * deliveries are read, the oldest first, up to the first one that is not old.
 */
#include <errno.h>

#include "store/forget/retention.h"

enum { MOST_DELIVERIES = 512 }; /* read in one visit */

static bool is_recent(const struct visit *visit, int64_t time_ms) {
  return !retention_is_older(visit->now_ms, time_ms, RETENTION_AGE_MS);
}

/* Does the range of this delivery say how its items ended? Items of a rolled back delivery are
 * pending again, and so are items that a rewound one had shown. */
static bool has_ended(const struct delivery *delivery, const struct disposition_range *range) {
  if (delivery->state == DELIVERY_REWOUND) return range->outcome != OUTCOME_DELIVERED;
  return delivery->state == DELIVERY_COMMITTED;
}

static int add_ends(struct visit *visit, const struct delivery *delivery) {
  struct old_ends *ends = &visit->ends;
  bool recent = is_recent(visit, delivery->settled_ms ? delivery->settled_ms : delivery->leased_ms);
  for (size_t i = 0; i < delivery->disposition_count; i++) {
    const struct disposition_range *range = &delivery->dispositions[i];
    if (!has_ended(delivery, range)) continue;
    if (ends->count == ends->capacity) {
      struct old_end *list = arena_enlarge(visit->arena, ends->list, &ends->capacity, sizeof *list);
      if (!list) return ENOMEM;
      ends->list = list;
    }
    ends->list[ends->count++] = (struct old_end){range->first, range->last, recent};
  }
  return 0;
}

static int read_delivery(struct visit *visit, const struct db_cursor *cursor) {
  struct old_ends *ends = &visit->ends;
  struct db_key key = row_key(visit->session, ROW_DELIVERY, row_key_n(cursor->key));
  struct record_reader reader;
  struct delivery delivery;
  bool no_memory = false;
  bool intact = record_open(&reader, &key, cursor->value) &&
                delivery_decode(&reader, visit->arena, &delivery, &no_memory);
  if (no_memory) return ENOMEM;
  ends->next = row_key_n(cursor->key) + 1;
  if (!intact) return 0;
  if (++ends->read > MOST_DELIVERIES || is_recent(visit, delivery.leased_ms)) {
    ends->rest = ENDS_RECENT;
    return 0;
  }
  return add_ends(visit, &delivery);
}

/* Reads deliveries until one of them has ended something. */
static int read_ends(struct visit *visit) {
  struct old_ends *ends = &visit->ends;
  struct db_key key = row_key(visit->session, ROW_DELIVERY, ends->next);
  size_t count = ends->count;
  struct db_cursor cursor;
  int rc = db_remote ? db_remote->cursor_open_near(visit->txn->db, &cursor)
                     : db_cursor_open(visit->txn->db, &cursor);
  if (rc) return rc;
  rc = db_cursor_seek(&cursor, &key);
  while (!rc && ends->rest == ENDS_UNREAD && ends->count == count) {
    if (!row_key_is_like(cursor.key, &key)) ends->rest = ENDS_ALL_READ;
    else rc = read_delivery(visit, &cursor);
    if (!rc && ends->rest == ENDS_UNREAD) rc = db_cursor_next(&cursor);
  }
  db_cursor_close(&cursor);
  return rc;
}

/* Was the item due long ago? This is for items whose delivery is lost, or was moved to the history
 * before them. */
static bool was_due_long_ago(const struct visit *visit, uint64_t n) {
  struct db_key key = row_key(visit->session, ROW_ITEM, n);
  struct record_reader reader;
  struct item item;
  return !record_open(&reader, &key, visit->cursor.value) || !item_decode(&reader, &item) ||
         !is_recent(visit, item.time_ms);
}

int visit_is_long_over(struct visit *visit, uint64_t n, bool *ret_over) {
  struct old_ends *ends = &visit->ends;
  int rc = 0;
  for (size_t i = 0; !rc;) {
    for (; i < ends->count; i++) {
      if (n < ends->list[i].first || n > ends->list[i].last) continue;
      *ret_over = !ends->list[i].recent;
      return 0;
    }
    if (ends->rest != ENDS_UNREAD) break;
    rc = read_ends(visit);
  }
  if (!rc) *ret_over = ends->rest == ENDS_ALL_READ && was_due_long_ago(visit, n);
  return rc;
}
