/* SPDX-License-Identifier: MIT
 *
 * store/rows/heads.c: the head row of a session.
 */
#include "store/outlines.h"
#include "store/rows/rows.h"

static void encode_owner(struct buffer *out, const struct owner *owner) {
  record_u64(out, owner->pid);
  if (!owner->pid) return;
  buffer_append(out, owner->boot_id, sizeof owner->boot_id);
  record_u64(out, owner->pid_namespace);
  record_u64(out, owner->start_time);
}

static void decode_owner(struct record_reader *reader, struct owner *owner) {
  uint64_t pid = record_read_u64(reader);
  memset(owner, 0, sizeof *owner);
  if (!pid) return;
  if (pid > INT32_MAX || (size_t)(reader->end - reader->at) < sizeof owner->boot_id) {
    reader->bad = true;
    return;
  }
  owner->pid = (uint32_t)pid;
  memcpy(owner->boot_id, reader->at, sizeof owner->boot_id);
  reader->at += sizeof owner->boot_id;
  owner->pid_namespace = record_read_u64(reader);
  owner->start_time = record_read_u64(reader);
}

/* Stores each range as its distance from the range before, which takes few bytes. A range that is
 * out of order cannot be stored. */
static void encode_taken(struct buffer *out, const struct head *head) {
  uint64_t base = head->watermark;
  record_u64(out, head->taken_count);
  for (size_t i = 0; i < head->taken_count; i++) {
    const struct taken *taken = &head->taken[i];
    record_u64(out, taken->first - base);
    record_u64(out, taken->last - taken->first);
    record_u64(out, taken->delivery);
    base = taken->last + 1;
  }
}

static struct taken *decode_taken(struct record_reader *reader, struct arena *arena, uint64_t base,
                                  size_t *ret_count) {
  size_t count = record_read_count(reader, 3);
  struct taken *taken = arena_zalloc(arena, count, sizeof *taken);
  for (size_t i = 0; taken && i < count; i++) {
    taken[i].first = base + record_read_u64(reader);
    taken[i].last = taken[i].first + record_read_u64(reader);
    taken[i].delivery = record_read_u64(reader);
    if (taken[i].first < base || taken[i].last < taken[i].first || taken[i].last == UINT64_MAX)
      reader->bad = true;
    base = taken[i].last + 1;
  }
  *ret_count = count;
  return taken;
}

void head_encode(struct buffer *out, const struct head *head) {
  record_begin(out);
  record_u64(out, head->generation);
  record_u64(out, head->watermark);
  record_u64(out, head->floor);
  record_u64(out, head->last_delivery);
  record_u64(out, head->dedup_cursor);
  record_u64(out, head->epoch);
  encode_owner(out, &head->owner);
  record_u64(out, head->former_count);
  for (size_t i = 0; i < head->former_count; i++) encode_owner(out, &head->formers[i]);
  record_i64(out, head->attached_ms);
  record_i64(out, head->closed_ms);
  record_bytes(out, head->cwd);
  record_bytes(out, head->host);
  encode_taken(out, head);
  record_u64(out, head->leased_count);
  for (size_t i = 0; i < head->leased_count; i++) record_u64(out, head->leased[i]);
  record_u64(out, OUTCOME_COUNT);
  for (size_t i = 0; i < OUTCOME_COUNT; i++) record_u64(out, head->outcomes[i]);
  run_encode(out, &head->run);
  record_u64(out, head->last_transition);
  record_u64(out, head->message_cursor);
  if (head->preamble) record_u64(out, head->preamble); /* records of earlier versions end here */
}

bool head_decode(struct record_reader *reader, struct arena *arena, struct head *ret_head,
                 bool *ret_no_memory) {
  struct head head = {0};
  *ret_no_memory = false;
  head.generation = record_read_u64(reader);
  head.watermark = record_read_u64(reader);
  head.floor = record_read_u64(reader);
  head.last_delivery = record_read_u64(reader);
  head.dedup_cursor = record_read_u64(reader);
  head.epoch = record_read_u64(reader);
  decode_owner(reader, &head.owner);
  head.former_count = record_read_below(reader, FORMERS + 1);
  for (size_t i = 0; i < head.former_count; i++) decode_owner(reader, &head.formers[i]);
  head.attached_ms = record_read_i64(reader);
  head.closed_ms = record_read_i64(reader);
  head.cwd = record_read_bytes(reader);
  head.host = record_read_bytes(reader);
  head.taken = decode_taken(reader, arena, head.watermark, &head.taken_count);
  head.leased_count = record_read_count(reader, 1);
  uint64_t *leased = arena_zalloc(arena, head.leased_count, sizeof *leased);
  if (!head.taken || !leased) {
    *ret_no_memory = true;
    return false;
  }
  for (size_t i = 0; i < head.leased_count; i++) leased[i] = record_read_u64(reader);
  head.leased = leased;
  if (record_read_u64(reader) != OUTCOME_COUNT) reader->bad = true;
  for (size_t i = 0; i < OUTCOME_COUNT; i++) head.outcomes[i] = record_read_u64(reader);
  run_decode(reader, &head.run);
  head.last_transition = record_read_u64(reader);
  head.message_cursor = record_read_u64(reader);
  bool said = reader->at < reader->end;
  head.preamble = said ? record_read_u64(reader) : 0;
  if (said && !head.preamble) reader->bad = true;
  if (!record_close(reader)) return false;
  *ret_head = head;
  return true;
}

int head_get(struct store_txn *txn, uint32_t session, struct arena *arena, struct head *ret_head,
             struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_HEAD, 0);
  struct record_reader reader;
  struct tidings_span copy;
  struct tidings_span value = span_of(NULL, 0);
  bool no_memory = false;
  int rc = session ? row_get(txn, &key, &value) : 0;
  if (rc) return db_failed(error, rc, "read a session's head");
  if (!value.ptr) {
    *ret_head = (struct head){.watermark = 1};
    return 0;
  }
  if (arena_copy(arena, value, &copy))
    return fail(error, TIDINGS_E_NOMEM, "no memory for a session's head");
  if (record_open(&reader, &key, copy) && head_decode(&reader, arena, ret_head, &no_memory))
    return 0;
  return no_memory ? fail(error, TIDINGS_E_NOMEM, "no memory for a session's head")
                   : row_damaged(error, "head", session, 0);
}

int head_anew(struct store_txn *txn, uint32_t session, struct head *ret_head,
              struct tidings_error *error) {
  struct head head = {.generation = UINT32_MAX}; /* no plan under way was made from a head of this
                                                  * generation */
  int code = item_last(txn, session, &head, &head.floor, error);
  if (!code) code = row_last(txn, session, ROW_DELIVERY, &head.last_delivery, error);
  if (!code) code = row_last(txn, session, ROW_MESSAGE, &head.run.last_message, error);
  if (!code) code = row_last(txn, session, ROW_TRANSITION, &head.last_transition, error);
  if (code) return code;
  head.watermark = head.floor + 1;
  *ret_head = head;
  return 0;
}

bool head_has_pending(const struct head *head, uint64_t n) {
  size_t low = 0, high = head->taken_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (head->taken[middle].last < n) low = middle + 1;
    else high = middle;
  }
  return n >= head->watermark && (low == head->taken_count || head->taken[low].first > n);
}

uint64_t head_count_live(const struct head *head, uint64_t last) {
  uint64_t live = last >= head->watermark ? last - head->watermark + 1 : 0;
  for (size_t i = 0; i < head->taken_count; i++) {
    if (!head->taken[i].delivery) live -= head->taken[i].last - head->taken[i].first + 1;
  }
  return live;
}

bool head_is_over(const struct head *head, uint64_t last) {
  bool no_message = !head->run.last_message || head->run.first_message > head->run.last_message;
  return no_message && head->watermark > last && !head->taken_count && !head->leased_count &&
         head->floor >= last;
}

struct db_noted head_noted(const struct head *head, uint64_t last) {
  return (struct db_noted){.waiting = head_count_live(head, last),
                           .closed_ms = head_is_over(head, last) ? head->closed_ms : 0,
                           .owner = head->owner};
}

void head_floors(const struct head *head, struct head_floor ret_floors[HEAD_FLOORS]) {
  const struct head_floor floors[HEAD_FLOORS] = {
      {ROW_ITEM, head->watermark},
      {ROW_DELIVERY, head->leased_count ? head->leased[0] : head->last_delivery},
      {ROW_MESSAGE, head->run.first_message},
      {ROW_CONTENT, head->run.first_message},
      {ROW_TRANSITION, head->last_transition}};
  memcpy(ret_floors, floors, sizeof floors);
}

/* Describes the head to an engine that keeps history apart. For other engines it does nothing:
 * looking the newest item up would cost as much as writing the head. */
static int describe_head_to_engine(struct store_txn *txn, uint32_t session, const struct head *head,
                                   struct tidings_error *error) {
  struct head_floor floors[HEAD_FLOORS];
  uint64_t last = 0;
  if (!db_remote) return 0;
  int code = item_last(txn, session, head, &last, error);
  if (code) return code;
  struct db_noted noted = head_noted(head, last);
  db_remote->note(txn->db, session, &noted);
  head_floors(head, floors);
  for (int i = 0; i < HEAD_FLOORS; i++)
    db_remote->ended_below(txn->db, session, floors[i].kind, floors[i].n);
  return 0;
}

int head_put(struct store_txn *txn, uint32_t session, const struct head *head,
             struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_HEAD, 0);
  struct head next = *head;
  struct buffer body = BUFFER_EMPTY;
  if (db_touch(txn->db, session))
    return fail(error, TIDINGS_E_STORE, "too many sessions in one transaction");
  next.generation++;
  head_encode(&body, &next);
  int code = row_put(txn, &key, &body, error);
  if (!code) code = describe_head_to_engine(txn, session, head, error);
  if (!code && session == txn->folded) txn->folded = 0;
  return code;
}
