/* SPDX-License-Identifier: MIT
 *
 * store/rows/messages.c: the messages that may start turns. A small row a message, rewritten as it
 * moves on; its content in a row of its own, so that deciding which is next reads none of it; and a
 * row that finds it by its id, at a hash of the id, holding the id's message, so that a collision
 * is never taken for it.
 */
#include "render/missing.h"
#include "store/internal.h"
#include "store/rows/record.h"

enum { LONGEST_PROBE = 16, HASH_STEP = 16 };

/* -- by id ------------------------------------------------------------------------------------- */

static uint64_t hash_id(struct tidings_span id) { /* FNV-1a */
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < id.len; i++) hash = (hash ^ (uint8_t)id.ptr[i]) * 0x100000001b3u;
  return hash & ~(uint64_t)(HASH_STEP - 1);
}

/* The row of this id, with its message's number; or a free place for it (n 0). FULL: there is
 * none. */
static int probe(struct store_txn *txn, uint32_t session, struct tidings_span id,
                 struct row_key *ret_key, uint64_t *ret_n, struct tidings_error *error) {
  uint64_t hash = hash_id(id);
  for (uint64_t i = 0; i < LONGEST_PROBE; i++) {
    struct row_key key = row_key(session, ROW_MESSAGE_ID, hash + i);
    struct record_reader reader;
    MDB_val value;
    int rc = row_get(txn, &key, &value);
    if (rc && rc != MDB_NOTFOUND) return lmdb_failed(error, rc, "look for a message");
    bool free = rc == MDB_NOTFOUND, same = false;
    uint64_t n = 0;
    if (!rc && record_open(&reader, &key, value.mv_data, value.mv_size)) {
      n = record_read_u64(&reader);
      same = span_equal(record_read_bytes(&reader), id) && record_close(&reader);
    }
    if (!free && !same) continue;
    *ret_key = key;
    *ret_n = same ? n : 0;
    return 0;
  }
  return fail(error, TIDINGS_E_FULL,
              "message %s: too many ids of this session collide with it; choose another",
              quote(id).text);
}

int message_find(struct store_txn *txn, uint32_t session, struct tidings_span id, uint64_t *ret_n,
                 struct tidings_error *error) {
  struct row_key key;
  *ret_n = 0;
  int code = session ? probe(txn, session, id, &key, ret_n, NULL) : 0;
  if (code == TIDINGS_E_FULL) return 0;
  return code ? fail(error, code, "the store failed to look for a message") : 0;
}

/* -- rows -------------------------------------------------------------------------------------- */

/* Returns 0, NOMEM, or STORE: it is damaged. */
static int decode(uint32_t session, uint64_t n, const MDB_val *value, struct arena *arena,
                  struct message *ret_message) {
  struct row_key key = row_key(session, ROW_MESSAGE, n);
  struct record_reader reader;
  struct tidings_span copy;
  if (arena_copy(arena, span_of(value->mv_data, value->mv_size), &copy)) return TIDINGS_E_NOMEM;
  if (!record_open(&reader, &key, copy.ptr, copy.len) || !decode_message(&reader, ret_message))
    return TIDINGS_E_STORE;
  ret_message->n = n;
  return 0;
}

int message_get(struct store_txn *txn, uint32_t session, uint64_t n, struct arena *arena,
                struct message *ret_message, struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_MESSAGE, n);
  MDB_val value;
  int rc = row_get(txn, &key, &value);
  if (rc == MDB_NOTFOUND) return fail(error, TIDINGS_E_NOT_FOUND, "the store has no such message");
  if (rc) return lmdb_failed(error, rc, "read a message");
  int code = decode(session, n, &value, arena, ret_message);
  if (code == TIDINGS_E_NOMEM) return fail(error, code, "no memory for a message");
  return code ? row_damaged(error, "message", session, n) : 0;
}

struct gathering {
  struct arena *arena;
  struct message *messages;
  size_t count, capacity, room;
};

static int gather(struct gathering *gathering, const struct message *message) {
  if (gathering->count + gathering->room >= gathering->capacity) {
    size_t capacity = gathering->capacity * 2 + gathering->room + 8;
    struct message *larger = arena_zalloc(gathering->arena, capacity, sizeof *larger);
    if (!larger) return -1;
    if (gathering->count) memcpy(larger, gathering->messages, gathering->count * sizeof *larger);
    gathering->messages = larger;
    gathering->capacity = capacity;
  }
  if (message) gathering->messages[gathering->count++] = *message;
  return 0;
}

int message_live(struct store_txn *txn, uint32_t session, uint64_t first, size_t room,
                 struct arena *arena, struct message **ret_messages, size_t *ret_count,
                 struct tidings_error *error) {
  struct gathering gathering = {.arena = arena, .room = room};
  struct row_key from = row_key(session, ROW_MESSAGE, first);
  MDB_val key = {KEY_BYTES, from.bytes}, value;
  MDB_cursor *cursor;
  int code = gather(&gathering, NULL) ? TIDINGS_E_NOMEM : 0;
  int rc = mdb_cursor_open(txn->txn, txn->store->tree, &cursor);
  if (rc) return lmdb_failed(error, rc, "read messages");
  if (!code) rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
  while (!code && !rc && key.mv_size == KEY_BYTES && memcmp(key.mv_data, from.bytes, 5) == 0) {
    struct message message;
    code = decode(session, row_key_n(key.mv_data), &value, arena, &message);
    bool wanted = !code && (!message_is_over(message.state) || message.of_turn || message.orphaned);
    if (code == TIDINGS_E_STORE) code = 0;
    if (wanted && gather(&gathering, &message)) code = TIDINGS_E_NOMEM;
    rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  if (code) return fail(error, code, "no memory for a session's messages");
  if (rc && rc != MDB_NOTFOUND) return lmdb_failed(error, rc, "read messages");
  *ret_messages = gathering.messages;
  *ret_count = gathering.count;
  return 0;
}

int message_put(struct store_txn *txn, uint32_t session, const struct message *message,
                struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_MESSAGE, message->n);
  struct buffer body = BUFFER_EMPTY;
  encode_message(&body, message);
  int code = row_put(txn, &key, &body, error);
  buffer_free(&body);
  return code;
}

int message_add(struct store_txn *txn, uint32_t session, const struct message *message,
                struct tidings_span content, struct tidings_span trigger,
                struct tidings_error *error) {
  struct buffer body = BUFFER_EMPTY;
  struct row_key key;
  uint64_t before;
  int code =
      datafile_reserve(txn->store, (size_t)8 * 4096 + 2 * (content.len + trigger.len), error);
  if (!code) code = probe(txn, session, message->id, &key, &before, error);
  if (code) return code;
  record_begin(&body);
  record_u64(&body, message->n);
  record_bytes(&body, message->id);
  code = row_put(txn, &key, &body, error);
  buffer_free(&body);
  if (!code) code = content_put(txn, session, message->n, content, trigger, error);
  return code ? code : message_put(txn, session, message, error);
}

/* -- contents ---------------------------------------------------------------------------------- */

int content_put(struct store_txn *txn, uint32_t session, uint64_t n, struct tidings_span content,
                struct tidings_span trigger, struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_CONTENT, n);
  struct buffer body = BUFFER_EMPTY;
  record_begin(&body);
  record_bytes(&body, content);
  record_bytes(&body, trigger);
  int code = row_put(txn, &key, &body, error);
  buffer_free(&body);
  return code;
}

int content_get(struct store_txn *txn, uint32_t session, uint64_t n, struct arena *arena,
                struct tidings_span *ret_content, struct tidings_span *ret_trigger,
                struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_CONTENT, n);
  struct record_reader reader;
  struct tidings_span copy = {NULL, 0};
  MDB_val value;
  int rc = row_get(txn, &key, &value);
  if (rc && rc != MDB_NOTFOUND) return lmdb_failed(error, rc, "read a message");
  if (!rc && arena_copy(arena, span_of(value.mv_data, value.mv_size), &copy))
    return fail(error, TIDINGS_E_NOMEM, "no memory for a message");
  bool intact = copy.len && record_open(&reader, &key, copy.ptr, copy.len);
  struct tidings_span content = span_of(NULL, 0), trigger = content;
  if (intact) {
    content = record_read_bytes(&reader);
    trigger = record_read_bytes(&reader);
    intact = record_close(&reader);
  }
  *ret_content = intact ? content : render_lost_content();
  *ret_trigger = intact ? trigger : span_of(NULL, 0);
  return 0;
}
