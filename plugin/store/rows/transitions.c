/* SPDX-License-Identifier: MIT
 *
 * store/rows/transitions.c: the steps of a session's run: one row for each step.
 */
#include "store/rows/rows.h"

void transition_encode(struct buffer *out, const struct transition *transition) {
  record_begin(out);
  record_i64(out, transition->time_ms);
  record_u64(out, transition->event);
  record_u64(out, transition->from);
  record_u64(out, transition->to);
  record_u64(out, transition->abort);
  record_u64(out, transition->system);
  record_u64(out, transition->message_count);
  for (size_t i = 0; i < transition->message_count; i++) {
    record_bytes(out, transition->messages[i].id);
    record_u64(out, transition->messages[i].state);
  }
}

bool transition_decode(struct record_reader *reader, struct arena *arena,
                       struct transition *ret_transition, bool *ret_no_memory) {
  struct transition transition = {.time_ms = record_read_i64(reader)};
  *ret_no_memory = false;
  transition.event = record_read_below(reader, TURNS_EVENT_COUNT);
  transition.from = record_read_below(reader, RUN_STATE_COUNT);
  transition.to = record_read_below(reader, RUN_STATE_COUNT);
  transition.abort = record_read_below(reader, 2);
  transition.system = record_read_u64(reader);
  transition.message_count = record_read_count(reader, 2);
  struct transition_message *messages =
      arena_zalloc(arena, transition.message_count, sizeof *messages);
  if (!messages) {
    *ret_no_memory = true;
    return false;
  }
  for (size_t i = 0; i < transition.message_count; i++) {
    messages[i].id = record_read_bytes(reader);
    messages[i].state = record_read_below(reader, MESSAGE_STATE_COUNT);
  }
  transition.messages = messages;
  if (!record_close(reader)) return false;
  *ret_transition = transition;
  return true;
}

int transition_put(struct store_txn *txn, uint32_t session, const struct transition *transition,
                   struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_TRANSITION, transition->n);
  struct buffer body = BUFFER_EMPTY;
  transition_encode(&body, transition);
  return row_put(txn, &key, &body, error);
}

static int read_transition(uint32_t session, uint64_t n, struct tidings_span value,
                           struct arena *arena, struct transition *ret_transition) {
  struct db_key key = row_key(session, ROW_TRANSITION, n);
  struct record_reader reader;
  struct tidings_span copy;
  bool no_memory = false;
  if (arena_copy(arena, value, &copy)) return TIDINGS_E_NOMEM;
  if (!record_open(&reader, &key, copy) ||
      !transition_decode(&reader, arena, ret_transition, &no_memory))
    return no_memory ? TIDINGS_E_NOMEM : TIDINGS_E_STORE;
  ret_transition->n = n;
  return 0;
}

int transition_scan(struct store_txn *txn, uint32_t session, uint64_t first, struct arena *arena,
                    transition_visitor each, void *context, struct tidings_error *error) {
  struct db_key from = row_key(session, ROW_TRANSITION, first);
  struct db_cursor cursor;
  int code = 0, rc = db_cursor_open(txn->db, &cursor);
  if (rc) return db_failed(error, rc, "read what a session's run did");
  rc = db_cursor_seek(&cursor, &from);
  while (!rc && row_key_is_like(cursor.key, &from)) {
    struct transition transition;
    code = read_transition(session, row_key_n(cursor.key), cursor.value, arena, &transition);
    bool damaged = code == TIDINGS_E_STORE;
    if (code == TIDINGS_E_NOMEM) (void)fail(error, code, "no memory for what a session's run did");
    if (!code) code = each(context, &transition);
    if (code && !damaged) break;
    code = 0;
    rc = db_cursor_next(&cursor);
  }
  db_cursor_close(&cursor);
  return rc ? db_failed(error, rc, "read what a session's run did") : code;
}
