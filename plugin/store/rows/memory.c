/* SPDX-License-Identifier: MIT
 *
 * store/rows/memory.c: the one row in which producers remember facts about a session.
 */
#include "store/rows/rows.h"

enum call_state { CALL_RUNS, CALL_OVER, CALL_ORPHANED, CALL_STATES };

static void decode_calls(struct record_reader *reader, struct memory *memory) {
  size_t count = record_read_count(reader, 5);
  if (count > MEMORY_CALLS) reader->bad = true;
  for (size_t i = 0; i < count && !reader->bad; i++) {
    struct tool_call *call = &memory->calls[i];
    call->call_id = record_read_bytes(reader);
    call->tool = record_read_bytes(reader);
    call->from_ms = record_read_i64(reader);
    call->to_ms = record_read_i64(reader);
    unsigned state = record_read_below(reader, CALL_STATES);
    call->over = state != CALL_RUNS;
    call->orphaned = state == CALL_ORPHANED;
  }
  memory->call_count = reader->bad ? 0 : count;
}

int memory_get(struct store_txn *txn, uint32_t session, struct arena *arena,
               struct memory *ret_memory, struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_MEMORY, 0);
  struct record_reader reader;
  struct tidings_span value = span_of(NULL, 0);
  struct memory memory = {0};
  int rc = session ? row_get(txn, &key, &value) : 0;
  if (rc) return db_failed(error, rc, "read what is remembered of a session");
  *ret_memory = (struct memory){0};
  if (!value.ptr) return 0;
  if (arena_copy(arena, value, &value))
    return fail(error, TIDINGS_E_NOMEM, "no memory for what is remembered of a session");
  if (!record_open(&reader, &key, value))
    return 0; /* after damage, a threshold is reported once more */
  memory.budget_percent = record_read_below(&reader, 101);
  if (reader.at < reader.end) decode_calls(&reader, &memory);
  if (reader.at < reader.end) memory.edits = record_read_bytes(&reader);
  if (memory.edits.len % EDIT_KEY_BYTES) reader.bad = true;
  if (record_close(&reader)) *ret_memory = memory;
  return 0;
}

int memory_put(struct store_txn *txn, uint32_t session, const struct memory *memory,
               struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_MEMORY, 0);
  struct buffer body = BUFFER_EMPTY;
  record_begin(&body);
  record_u64(&body, memory->budget_percent);
  /* Records of earlier versions end here or after the calls. */
  if (memory->call_count || memory->edits.len) record_u64(&body, memory->call_count);
  for (size_t i = 0; i < memory->call_count; i++) {
    const struct tool_call *call = &memory->calls[i];
    record_bytes(&body, call->call_id);
    record_bytes(&body, call->tool);
    record_i64(&body, call->from_ms);
    record_i64(&body, call->to_ms);
    record_u64(&body, call->orphaned ? CALL_ORPHANED : call->over ? CALL_OVER : CALL_RUNS);
  }
  if (memory->edits.len) record_bytes(&body, memory->edits);
  return row_put(txn, &key, &body, error);
}
