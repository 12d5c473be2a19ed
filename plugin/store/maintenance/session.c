/* SPDX-License-Identifier: MIT
 */
#include "store/maintenance/session.h"

#include <stdlib.h>

#include "common/error.h"

/* The facts that the remaining rows of a session tell. */
struct gathered {
  struct maintenance_target *target;
  struct maintenance_report *report;
  const struct maintenance_saved *saved;
  uint32_t session;
  struct arena arena;
  struct buffer record;
  struct head head;
  bool lost_head; /* no head can be read */
  bool no_memory; /* there was none for a row, which then seemed unreadable */
  uint64_t first_item, last_item, items; /* numbers of items, and how many there are */
  uint64_t newest;     /* the newest item that any row names: no number may be given out again */
  struct taken *ended; /* items that committed deliveries ended; only if the head is made anew */
  size_t ended_count, ended_capacity;
};

static bool read_record(struct gathered *all, const struct maintenance_row *row,
                        struct tidings_span *ret_record) {
  if (!maintenance_row_read(all->saved->rows, row, &all->record)) return false;
  *ret_record = buffer_view(&all->record);
  return true;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* -- reading ----------------------------------------------------------------------------------- */

/* Reads a record into memory that stays valid, and opens a reader of it. False: the record cannot
 * be used. */
static bool open_record(struct gathered *all, const struct maintenance_row *row,
                        struct record_reader *ret_reader) {
  struct tidings_span record, copy;
  if (!read_record(all, row, &record)) return false;
  if (arena_copy(&all->arena, record, &copy)) {
    all->no_memory = true;
    return false;
  }
  return record_open(ret_reader, &row->key, copy);
}

static bool read_head(struct gathered *all, const struct maintenance_row *row,
                      struct head *ret_head) {
  struct record_reader reader;
  bool no_memory = false;
  bool read =
      open_record(all, row, &reader) && head_decode(&reader, &all->arena, ret_head, &no_memory);
  all->no_memory = all->no_memory || no_memory;
  return read;
}

static bool read_delivery(struct gathered *all, const struct maintenance_row *row,
                          struct delivery *ret_delivery) {
  struct record_reader reader;
  bool no_memory = false;
  bool read = open_record(all, row, &reader) &&
              delivery_decode(&reader, &all->arena, ret_delivery, &no_memory);
  all->no_memory = all->no_memory || no_memory;
  if (read) ret_delivery->n = row_key_n(row->key.bytes);
  return read;
}

static int check_memory(const struct gathered *all, struct tidings_error *error) {
  if (!all->no_memory && !all->record.failed) return 0;
  return fail(error, TIDINGS_E_NOMEM, "no memory for the rows of a session");
}

static int add_ended(struct gathered *all, const struct disposition_range *disposition,
                     struct tidings_error *error) {
  if (all->ended_count == all->ended_capacity) {
    size_t capacity = all->ended_capacity ? all->ended_capacity * 2 : 64;
    struct taken *list = realloc(all->ended, capacity * sizeof *list);
    if (!list) return fail(error, TIDINGS_E_NOMEM, "no memory for what has ended");
    all->ended = list;
    all->ended_capacity = capacity;
  }
  all->ended[all->ended_count++] =
      (struct taken){.first = disposition->first, .last = disposition->last};
  all->head.outcomes[disposition->outcome] += disposition->last - disposition->first + 1;
  return 0;
}

static int look_at_delivery(struct gathered *all, const struct maintenance_row *row,
                            struct tidings_error *error) {
  struct delivery delivery;
  int code = 0;
  all->head.last_delivery = larger(all->head.last_delivery, row_key_n(row->key.bytes));
  if (!read_delivery(all, row, &delivery)) return 0;
  all->newest = larger(all->newest, delivery.after);
  bool counts = all->lost_head && delivery.state == DELIVERY_COMMITTED;
  for (size_t i = 0; counts && !code && i < delivery.disposition_count; i++)
    code = add_ended(all, &delivery.dispositions[i], error);
  /* When a delivery's items become pending again, an item that was withdrawn while it was leased
   * does not. */
  counts = all->lost_head && delivery.state == DELIVERY_LEASED;
  for (size_t i = 0; counts && !code && i < delivery.recalled_count; i++)
    code = add_ended(all, &delivery.recalled[i], error);
  return code;
}

static void look_at_message(struct gathered *all, const struct maintenance_row *row) {
  struct record_reader reader;
  struct tidings_span record;
  struct message message;
  struct run *run = &all->head.run;
  run->last_message = larger(run->last_message, row_key_n(row->key.bytes));
  if (!read_record(all, row, &record) || !record_open(&reader, &row->key, record) ||
      !message_decode(&reader, &message))
    return;
  run->last_place = larger(run->last_place, message.place);
  if (message.stamp_ms > run->last_stamp_ms) run->last_stamp_ms = message.stamp_ms;
}

static int look_at_row(struct gathered *all, const struct maintenance_row *row,
                       struct tidings_error *error) {
  uint64_t n = row_key_n(row->key.bytes);
  switch (row->key.bytes[4]) {
  case ROW_ITEM:
    if (!all->items++) all->first_item = n;
    all->last_item = n;
    all->newest = larger(all->newest, n);
    return 0;
  case ROW_DELIVERY: return look_at_delivery(all, row, error);
  case ROW_MESSAGE: look_at_message(all, row); return 0;
  case ROW_TRANSITION: all->head.last_transition = larger(all->head.last_transition, n); return 0;
  default: return 0;
  }
}

/* -- the head ---------------------------------------------------------------------------------- */

static int compare_taken(const void *a, const void *b) {
  const struct taken *left = a, *right = b;
  return left->first < right->first ? -1 : left->first > right->first;
}

/* Sorts the ranges, and joins them so that they are disjoint and none is below the watermark.
 * Deliveries overlap if an item was delivered again after a rollback. */
static void join_ended(struct gathered *all) {
  size_t count = 0;
  if (all->ended_count) qsort(all->ended, all->ended_count, sizeof *all->ended, compare_taken);
  for (size_t i = 0; i < all->ended_count; i++) {
    struct taken range = all->ended[i];
    if (range.last < all->head.watermark) continue;
    range.first = larger(range.first, all->head.watermark);
    if (count && range.first <= all->ended[count - 1].last + 1)
      all->ended[count - 1].last = larger(all->ended[count - 1].last, range.last);
    else all->ended[count++] = range;
  }
  all->head.taken = all->ended;
  all->head.taken_count = all->ended_count = count;
}

static bool has_ended(const struct gathered *all, uint64_t n) {
  for (size_t i = 0; i < all->ended_count; i++)
    if (n >= all->ended[i].first && n <= all->ended[i].last) return true;
  return false;
}

static void count_pending(struct gathered *all) {
  for (size_t i = 0; i < all->saved->count; i++) {
    const struct db_key *key = &all->saved->list[i]->key;
    if (key->bytes[4] == ROW_ITEM && !has_ended(all, row_key_n(key->bytes)))
      all->report->pending_again++;
  }
}

/* If the session has all its items, and no deliveries, run or messages, everything in it is
 * pending, and it needs no head. */
static bool needs_head(const struct gathered *all) {
  const struct head *head = &all->head;
  return !all->lost_head || head->last_delivery || head->run.last_message ||
         head->last_transition || all->items < all->newest;
}

/* Writes to `list` the ranges of numbers, between `from` and `last`, that no item and no range of
 * the head has. Returns how many there are. */
static size_t find_lost(const struct gathered *all, uint64_t from, uint64_t last,
                        struct taken *list) {
  const struct head *head = &all->head;
  size_t count = 0, row = 0, range = 0;
  while (from <= last) {
    struct taken next = {.first = last + 1, .last = last + 1};
    for (; row < all->saved->count; row++) {
      const struct db_key *key = &all->saved->list[row]->key;
      uint64_t n = row_key_n(key->bytes);
      if (key->bytes[4] != ROW_ITEM || n < from) continue;
      if (n < next.first) next = (struct taken){.first = n, .last = n};
      break;
    }
    while (range < head->taken_count && head->taken[range].last < from) range++;
    if (range < head->taken_count && head->taken[range].first < next.first)
      next = head->taken[range];
    if (next.first > from) list[count++] = (struct taken){.first = from, .last = next.first - 1};
    from = next.last + 1;
  }
  return count;
}

static void raise_watermark(struct head *head) {
  while (head->taken_count && !head->taken->delivery && head->taken->first <= head->watermark) {
    head->watermark = head->taken->last + 1;
    head->taken++;
    head->taken_count--;
  }
}

/* Ends the items that are lost, as dropped: they would count as pending, and could never end. */
static int end_lost_items(struct gathered *all, struct tidings_error *error) {
  struct head *head = &all->head;
  struct taken *list = calloc(all->items + 2 * head->taken_count + 1, sizeof *list);
  if (!list) return fail(error, TIDINGS_E_NOMEM, "no memory for what has ended");
  if (!head->watermark) head->watermark = 1;
  size_t lost = find_lost(all, head->watermark, larger(all->newest, head->floor), list);
  for (size_t i = 0; i < lost; i++)
    head->outcomes[OUTCOME_DROPPED] += list[i].last - list[i].first + 1;
  if (head->taken_count) memcpy(list + lost, head->taken, head->taken_count * sizeof *list);
  free(all->ended);
  all->ended = list;
  head->taken = list;
  head->taken_count += lost;
  if (head->taken_count) qsort(list, head->taken_count, sizeof *list, compare_taken);
  raise_watermark(head);
  return 0;
}

static int put_head(struct gathered *all, struct tidings_error *error) {
  struct db_key key = row_key(all->session, ROW_HEAD, 0);
  struct buffer body = BUFFER_EMPTY;
  struct store_txn *txn = NULL;
  if (all->newest > larger(all->last_item, all->head.floor)) all->head.floor = all->newest;
  if (all->lost_head) {
    all->head.watermark = all->items ? all->first_item : all->newest + 1;
    join_ended(all);
    count_pending(all);
    all->report->made_heads++;
  }
  int code = end_lost_items(all, error);
  if (code) return code;
  head_encode(&body, &all->head);
  code = maintenance_target_txn(all->target, body.len, &txn, error);
  if (code) {
    buffer_free(&body);
    return code;
  }
  all->report->rows++;
  return row_put(txn, &key, &body, error);
}

/* -- the other rows ---------------------------------------------------------------------------- */

/* Writes a delivery. If the head was lost, a leased delivery is rolled back. Also writes the row of
 * the delivery's id, which may be lost too. */
static int put_delivery(struct gathered *all, const struct maintenance_row *row,
                        struct tidings_error *error) {
  struct delivery delivery;
  struct store_txn *txn = NULL;
  if (!read_delivery(all, row, &delivery)) {
    all->report->damaged++;
    return 0;
  }
  if (all->lost_head && delivery.state == DELIVERY_LEASED) {
    delivery.state = DELIVERY_ROLLED_BACK;
    delivery.settled_by = SETTLED_BY_RECOVERY;
    delivery.settled_ms = delivery.leased_ms;
  }
  int code = maintenance_target_txn(all->target, row->bytes, &txn, error);
  if (!code) maintenance_count(all->report, &row->key);
  return code ? code : delivery_add(txn, all->session, &delivery, error);
}

static int put_message(struct gathered *all, const struct maintenance_row *row,
                       struct tidings_error *error) {
  struct record_reader reader;
  struct tidings_span record;
  struct message message;
  struct store_txn *txn = NULL;
  if (!read_record(all, row, &record) || !record_open(&reader, &row->key, record) ||
      !message_decode(&reader, &message)) {
    all->report->damaged++;
    return 0;
  }
  message.n = row_key_n(row->key.bytes);
  if (all->lost_head && !message_is_over(message.state)) {
    message.state = MESSAGE_QUEUED;
    message.carriers = 0;
    message.steer = false;
  }
  if (all->lost_head) message.of_turn = message.orphaned = false;
  int code = maintenance_target_txn(all->target, row->bytes, &txn, error);
  if (!code) maintenance_count(all->report, &row->key);
  return code ? code : message_put(txn, all->session, &message, error);
}

static int put_row(struct gathered *all, const struct maintenance_row *row,
                   struct tidings_error *error) {
  struct tidings_span record;
  switch (row->key.bytes[4]) {
  case ROW_HEAD:               /* written separately */
  case ROW_OUTLINES: return 0; /* their items may be lost, so they are left out */
  case ROW_DELIVERY: return put_delivery(all, row, error);
  case ROW_MESSAGE: return put_message(all, row, error);
  default:
    if (!read_record(all, row, &record))
      return fail(error, TIDINGS_E_STORE, "the store cannot be read a second time");
    maintenance_count(all->report, &row->key);
    return maintenance_target_put(all->target, &row->key, record, error);
  }
}

int maintenance_session_put(struct maintenance_target *target,
                            const struct maintenance_saved *saved,
                            struct maintenance_report *report, struct tidings_error *error) {
  struct gathered all = {.target = target, .saved = saved, .report = report};
  int code = 0;
  all.session = row_key_session(saved->list[0]->key.bytes);
  all.lost_head = true;
  for (size_t i = 0; i < saved->count && all.lost_head; i++)
    if (saved->list[i]->key.bytes[4] == ROW_HEAD)
      all.lost_head = !read_head(&all, saved->list[i], &all.head);
  if (all.lost_head) all.head = (struct head){.generation = UINT32_MAX};
  for (size_t i = 0; !code && i < saved->count; i++)
    code = look_at_row(&all, saved->list[i], error);
  if (!code) code = check_memory(&all, error);
  if (!code && needs_head(&all)) code = put_head(&all, error);
  for (size_t i = 0; !code && i < saved->count; i++) {
    code = put_row(&all, saved->list[i], error);
    if (!code) code = check_memory(&all, error);
  }
  free(all.ended);
  buffer_free(&all.record);
  arena_free(&all.arena);
  return code;
}
