/* SPDX-License-Identifier: MIT
 *
 * store/rows/messages.c: the messages that may start turns. Each message has three rows. A small
 * row is rewritten whenever the message's state changes. Its content has a row of its own, so that
 * choosing the next message reads no content. A third row, whose n is a hash of the message's id,
 * leads from the id to the message; it holds the whole id, so that another id with the same hash is
 * not taken for it.
 */
#include "common/fnv.h"
#include "render/missing.h"
#include "store/rows/rows.h"

enum { ID_PROBES = 16, HASH_STEP = 16 };

/* -- by id ------------------------------------------------------------------------------------- */

static uint64_t hash_id(struct tidings_span id) {
  return fnv_span(FNV_START, id) & ~(uint64_t)(HASH_STEP - 1);
}

/* Finds the row of this id, with its message's number, or else a free place for the row (n 0).
 * FULL: there is no free place. */
static int find_id(struct store_txn *txn, uint32_t session, struct tidings_span id,
                   struct db_key *ret_key, uint64_t *ret_n, struct tidings_error *error) {
  uint64_t hash = hash_id(id);
  for (uint64_t i = 0; i < ID_PROBES; i++) {
    struct db_key key = row_key(session, ROW_MESSAGE_ID, hash + i);
    struct record_reader reader;
    struct tidings_span value;
    int rc = row_get(txn, &key, &value);
    if (rc) return db_failed(error, rc, "look for a message");
    bool free = !value.ptr, same = false;
    uint64_t n = 0;
    if (!free && record_open(&reader, &key, value)) {
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
  struct db_key key;
  *ret_n = 0;
  int code = session ? find_id(txn, session, id, &key, ret_n, NULL) : 0;
  if (code == TIDINGS_E_FULL) return 0;
  return code ? fail(error, code, "the store failed to look for a message") : 0;
}

/* -- rows -------------------------------------------------------------------------------------- */

enum message_flag {
  FLAG_STEER = 1,
  FLAG_WAITED = 2,
  FLAG_OF_TURN = 4,
  FLAG_ORPHANED = 8,
  MESSAGE_FLAGS = 16
};

void message_encode(struct buffer *out, const struct message *message) {
  record_begin(out);
  record_bytes(out, message->id);
  record_u64(out, message->place);
  record_u64(out, message->delivery);
  record_u64(out, message->carriers);
  record_i64(out, message->stamp_ms);
  record_u64(out, message->state);
  record_u64(out, (message->steer ? FLAG_STEER : 0u) | (message->waited ? FLAG_WAITED : 0u) |
                      (message->of_turn ? FLAG_OF_TURN : 0u) |
                      (message->orphaned ? FLAG_ORPHANED : 0u));
  if (message->due_ms) record_i64(out, message->due_ms); /* most records end before it */
}

bool message_decode(struct record_reader *reader, struct message *ret_message) {
  struct message message = {.id = record_read_bytes(reader)};
  message.place = record_read_u64(reader);
  message.delivery = record_read_u64(reader);
  message.carriers = (uint32_t)record_read_u64(reader);
  message.stamp_ms = record_read_i64(reader);
  message.state = record_read_below(reader, MESSAGE_STATE_COUNT);
  uint8_t flags = record_read_below(reader, MESSAGE_FLAGS);
  message.steer = flags & FLAG_STEER;
  message.waited = flags & FLAG_WAITED;
  message.of_turn = flags & FLAG_OF_TURN;
  message.orphaned = flags & FLAG_ORPHANED;
  bool timed = reader->at < reader->end;
  message.due_ms = timed ? record_read_i64(reader) : 0;
  if (!message.state || (message.state == MESSAGE_LEASED && !message.carriers) ||
      timed != (message.due_ms != 0) || !record_close(reader))
    return false;
  *ret_message = message;
  return true;
}

/* Returns 0, NOMEM, or STORE: it is damaged. */
static int read_message(uint32_t session, uint64_t n, struct tidings_span value,
                        struct arena *arena, struct message *ret_message) {
  struct db_key key = row_key(session, ROW_MESSAGE, n);
  struct record_reader reader;
  struct tidings_span copy;
  if (arena_copy(arena, value, &copy)) return TIDINGS_E_NOMEM;
  if (!record_open(&reader, &key, copy) || !message_decode(&reader, ret_message))
    return TIDINGS_E_STORE;
  ret_message->n = n;
  return 0;
}

int message_get(struct store_txn *txn, uint32_t session, uint64_t n, struct arena *arena,
                struct message *ret_message, struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_MESSAGE, n);
  struct tidings_span value;
  int rc = row_get(txn, &key, &value);
  if (rc) return db_failed(error, rc, "read a message");
  if (!value.ptr) return fail(error, TIDINGS_E_NOT_FOUND, "the store has no such message");
  int code = read_message(session, n, value, arena, ret_message);
  if (code == TIDINGS_E_NOMEM) return fail(error, code, "no memory for a message");
  return code ? row_damaged(error, "message", session, n) : 0;
}

struct message_list {
  struct arena *arena;
  struct message *messages;
  size_t count, capacity, room;
};

static int list_message(struct message_list *list, const struct message *message) {
  if (list->count + list->room >= list->capacity) {
    size_t capacity = list->capacity * 2 + list->room + 8;
    struct message *larger = arena_zalloc(list->arena, capacity, sizeof *larger);
    if (!larger) return -1;
    if (list->count) memcpy(larger, list->messages, list->count * sizeof *larger);
    list->messages = larger;
    list->capacity = capacity;
  }
  if (message) list->messages[list->count++] = *message;
  return 0;
}

static bool is_live(const struct message *message) {
  return !message_is_over(message->state) || message->of_turn || message->orphaned;
}

static int read_messages(struct store_txn *txn, uint32_t session, uint64_t first, bool all,
                         struct message_list *messages, struct tidings_error *error) {
  struct message_list list = *messages;
  struct arena *arena = list.arena;
  struct db_key from = row_key(session, ROW_MESSAGE, first);
  struct db_cursor cursor;
  int code = list_message(&list, NULL) ? TIDINGS_E_NOMEM : 0;
  int rc = db_cursor_open(txn->db, &cursor);
  if (rc) return db_failed(error, rc, "read messages");
  if (!code) rc = db_cursor_seek(&cursor, &from);
  while (!code && !rc && row_key_is_like(cursor.key, &from)) {
    struct message message;
    code = read_message(session, row_key_n(cursor.key), cursor.value, arena, &message);
    bool wanted = !code && (all || is_live(&message));
    if (code == TIDINGS_E_STORE) code = 0;
    if (wanted && list_message(&list, &message)) code = TIDINGS_E_NOMEM;
    rc = db_cursor_next(&cursor);
  }
  db_cursor_close(&cursor);
  if (code) return fail(error, code, "no memory for a session's messages");
  if (rc) return db_failed(error, rc, "read messages");
  *messages = list;
  return 0;
}

int message_live(struct store_txn *txn, uint32_t session, uint64_t first, size_t room,
                 struct arena *arena, struct message **ret_messages, size_t *ret_count,
                 struct tidings_error *error) {
  struct message_list list = {.arena = arena, .room = room};
  int code = read_messages(txn, session, first, false, &list, error);
  if (code) return code;
  *ret_messages = list.messages;
  *ret_count = list.count;
  return 0;
}

int message_all(struct store_txn *txn, uint32_t session, struct arena *arena,
                struct message **ret_messages, size_t *ret_count, struct tidings_error *error) {
  struct message_list list = {.arena = arena};
  int code = read_messages(txn, session, 0, true, &list, error);
  if (code) return code;
  *ret_messages = list.messages;
  *ret_count = list.count;
  return 0;
}

int message_put(struct store_txn *txn, uint32_t session, const struct message *message,
                struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_MESSAGE, message->n);
  struct buffer body = BUFFER_EMPTY;
  message_encode(&body, message);
  return row_put(txn, &key, &body, error);
}

int message_add(struct store_txn *txn, uint32_t session, const struct message *message,
                struct tidings_span content, struct tidings_span trigger,
                struct tidings_error *error) {
  struct buffer body = BUFFER_EMPTY;
  struct db_key key;
  uint64_t before;
  int code = db_reserve(txn->db, (size_t)8 * 4096 + 2 * (content.len + trigger.len), error);
  if (!code) code = find_id(txn, session, message->id, &key, &before, error);
  if (code) return code;
  record_begin(&body);
  record_u64(&body, message->n);
  record_bytes(&body, message->id);
  code = row_put(txn, &key, &body, error);
  if (!code) code = content_put(txn, session, message->n, content, trigger, error);
  return code ? code : message_put(txn, session, message, error);
}

/* -- contents ---------------------------------------------------------------------------------- */

int content_put(struct store_txn *txn, uint32_t session, uint64_t n, struct tidings_span content,
                struct tidings_span trigger, struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_CONTENT, n);
  struct buffer body = BUFFER_EMPTY;
  record_begin(&body);
  record_bytes(&body, content);
  record_bytes(&body, trigger);
  return row_put(txn, &key, &body, error);
}

int content_get(struct store_txn *txn, uint32_t session, uint64_t n, struct arena *arena,
                struct tidings_span *ret_content, struct tidings_span *ret_trigger,
                struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_CONTENT, n);
  struct record_reader reader;
  struct tidings_span copy = {NULL, 0};
  struct tidings_span value;
  int rc = row_get(txn, &key, &value);
  if (rc) return db_failed(error, rc, "read a message");
  if (value.ptr && arena_copy(arena, value, &copy))
    return fail(error, TIDINGS_E_NOMEM, "no memory for a message");
  bool intact = copy.len && record_open(&reader, &key, copy);
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
