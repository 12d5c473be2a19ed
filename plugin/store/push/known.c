/* SPDX-License-Identifier: MIT
 *
 * store/push/known.c: see the header. Pushes come in bursts. Apart from the disk, most of the cost
 * of a push is looking up what the push before has left. If the commit fails, no rows have the
 * number that the batch noted.
 */
#include "store/push/known.h"

static int look_for_tools(struct store_txn *txn, uint32_t session, bool *ret_any,
                          struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_TOOLS, 0);
  struct tidings_span value;
  int rc = row_get(txn, &key, &value);
  if (rc) return db_failed(error, rc, "read what tools have declared");
  *ret_any = value.ptr;
  return 0;
}

int push_place_read(struct store_txn *txn, uint32_t session, struct push_place *ret_place,
                    struct tidings_error *error) {
  struct push_place place = {.session = session};
  struct arena arena = ARENA_EMPTY;
  struct head head;
  int code = head_get(txn, session, &arena, &head, error);
  if (!code) code = item_last(txn, session, &head, &place.last, error);
  if (!code) code = look_for_tools(txn, session, &place.declares, error);
  if (!code) {
    place.live = head_count_live(&head, place.last);
    place.owner = head.owner;
    *ret_place = place;
  }
  arena_free(&arena);
  return code;
}

static void forget(struct push_known *known) {
  known->state = 0;
  known->name_len = 0;
}

void push_known_begin(struct push_known *known, const struct db_txn *txn) {
  uint64_t before = db_state(txn).before;
  if (!before || known->state != before) forget(known);
}

const struct push_place *push_known_find(const struct push_known *known,
                                         struct tidings_span session) {
  bool same = known->name_len && span_equal(span_of(known->name, known->name_len), session);
  return same ? &known->place : NULL;
}

void push_known_set(struct push_known *known, struct tidings_span session,
                    const struct push_place *place) {
  if (push_known_find(known, session)) {
    known->place.last = place->last;
    known->place.live = place->live;
    return;
  }
  known->place = *place;
  known->name_len = session.len <= PUSH_NAME_BYTES ? session.len : 0;
  memcpy(known->name, session.ptr, known->name_len);
}

void push_known_end(struct push_known *known, const struct db_txn *txn, bool stored) {
  if (stored) known->state = db_state(txn).after;
  else forget(known);
}
