/* SPDX-License-Identifier: MIT
 *
 * store/rows/sessions.c: finds a session's number by its name. Keys contain the number, so that
 * they are short and of one width. A process that remembers a number checks it against the name,
 * because an older store may have replaced this one, in which the number belongs to another session
 * or to none. A part of the number is random, so it is unlikely that both stores have given it out.
 * The n of a name's row is a hash of the name. Rows of names that collide follow one another.
 */
#include <errno.h>

#include "common/fnv.h"
#include "store/rows/rows.h"

enum { NAME_PROBES = 16 };

static uint64_t hash_name(struct tidings_span name) {
  return fnv_span(FNV_START, name) & ~(uint64_t)0xff; /* room for names that collide */
}

struct db_key session_name_row(struct tidings_span name) {
  return row_key(0, ROW_NAME, hash_name(name));
}

/* Finds the row of `name`. If there is none, *ret_number is 0 and *ret_key is a free place for
 * it. */
static int find_name(struct store_txn *txn, struct tidings_span name, struct db_key *ret_key,
                     uint32_t *ret_number, struct tidings_error *error) {
  uint64_t hash = hash_name(name);
  for (uint64_t i = 0; i < NAME_PROBES; i++) {
    struct db_key key = row_key(0, ROW_NAME, hash + i);
    struct record_reader reader;
    struct tidings_span value;
    int rc = row_get(txn, &key, &value);
    if (rc) return db_failed(error, rc, "look up a session");
    if (!value.ptr) {
      *ret_key = key;
      *ret_number = 0;
      return 0;
    }
    if (!record_open(&reader, &key, value))
      return row_damaged(error, "the session's name", 0, hash + i);
    uint64_t number = record_read_u64(&reader);
    struct tidings_span stored = record_read_bytes(&reader);
    if (!record_close(&reader) || !number || number > UINT32_MAX)
      return row_damaged(error, "the session's name", 0, hash + i);
    if (span_equal(stored, name)) {
      *ret_number = (uint32_t)number;
      return 0;
    }
  }
  return fail(error, TIDINGS_E_FULL,
              "the store has too many sessions with names like this one; choose "
              "another name");
}

int session_find(struct store_txn *txn, struct tidings_span session, uint32_t *ret_number,
                 struct tidings_error *error) {
  struct db_key key;
  return find_name(txn, session, &key, ret_number, error);
}

static int put_name(struct store_txn *txn, const struct db_key *key, struct tidings_span name,
                    uint32_t number, struct tidings_error *error) {
  struct buffer body = BUFFER_EMPTY;
  record_begin(&body);
  record_u64(&body, number);
  record_bytes(&body, name);
  return row_put(txn, key, &body, error);
}

/* EEXIST: another session has the number. */
static int name_session(struct store_txn *txn, uint32_t number, struct tidings_span name) {
  struct db_key first = row_key(number, 0, 0);
  struct db_cursor cursor;
  if (db_remote) return db_remote->name_session(txn->db, number, name);
  int rc = db_cursor_open(txn->db, &cursor);
  if (rc) return rc;
  rc = db_cursor_seek(&cursor, &first);
  bool taken = !rc && cursor.key && row_key_session(cursor.key) == number;
  db_cursor_close(&cursor);
  return taken ? EEXIST : rc;
}

/* Takes a number that no other session has. */
static int take_number(struct store_txn *txn, struct tidings_span name, uint32_t *ret_number,
                       struct tidings_error *error) {
  enum { DRAWS = 16 };
  int rc = EEXIST;
  for (int i = 0; i < DRAWS && rc == EEXIST; i++) {
    int code = meta_take_number(txn, ret_number, error);
    if (code) return code;
    rc = name_session(txn, *ret_number, name);
  }
  return rc ? db_failed(error, rc, "name a session") : 0;
}

int session_check_scope(struct store_txn *txn, const struct db_scope *scope,
                        struct tidings_error *error) {
  uint32_t number = 0;
  if (!scope || !scope->session || !scope->name.len || db_remote)
    return 0; /* a remote engine checks */
  int code = session_find(txn, scope->name, &number, error);
  if (code || number == scope->session) return code;
  atomic_fetch_add(&txn->store->voided, 1);
  return fail(error, TIDINGS_E_BUSY,
              "session %s was forgotten, or the store has gone back in time; nothing was done, try "
              "again",
              quote(scope->name).text);
}

int session_add(struct store_txn *txn, struct tidings_span session, uint32_t *ret_number,
                struct tidings_error *error) {
  struct db_key key;
  uint32_t number = 0;
  int code = find_name(txn, session, &key, &number, error);
  if (code) return code;
  if (!number) { /* another process may just be adding it */
    int rc = db_remote ? db_remote->own(txn->db, 0) : 0;
    code =
        rc ? db_failed(error, rc, "add a session") : find_name(txn, session, &key, &number, error);
    if (code) return code;
  }
  if (!number) {
    code = take_number(txn, session, &number, error);
    if (!code) code = put_name(txn, &key, session, number, error);
    if (code) return code;
  }
  *ret_number = number;
  return 0;
}

int session_name(struct store_txn *txn, struct tidings_span name, uint32_t number,
                 struct tidings_error *error) {
  struct db_key key;
  uint32_t taken = 0;
  int code = find_name(txn, name, &key, &taken, error);
  if (!code && taken)
    code = fail(error, TIDINGS_E_FULL, "the session %s is there already", quote(name).text);
  int rc = code ? 0 : name_session(txn, number, name);
  if (rc) return db_failed(error, rc, "name a session");
  return code ? code : put_name(txn, &key, name, number, error);
}

/* Names that collide are found one after the other, so the names after the deleted one move up, but
 * none of them to before the first place of its own hash. */
int session_delete_name(struct store_txn *txn, struct tidings_span name,
                        struct tidings_error *error) {
  struct db_key key = session_name_row(name);
  uint64_t first = row_key_n(key.bytes), n = first;
  bool found = false;
  for (uint64_t i = 0; i <= NAME_PROBES; i++) {
    struct db_key next = row_key(0, ROW_NAME, first + i);
    struct tidings_span value, other;
    uint32_t number;
    int rc = row_get(txn, &next, &value);
    if (rc) return db_failed(error, rc, "look up a session");
    if (!value.ptr || i == NAME_PROBES) break;
    if (!session_decode(&next, value, &other, &number))
      return row_damaged(error, "the session's name", 0, first + i);
    struct db_key free_place = row_key(0, ROW_NAME, n), home = session_name_row(other);
    bool moves = found && row_key_n(home.bytes) <= n;
    int code = moves ? put_name(txn, &free_place, other, number, error) : 0;
    if (code) return code;
    bool is_it = !found && span_equal(other, name);
    if (moves || is_it) n = first + i;
    found = found || is_it;
  }
  struct db_key last = row_key(0, ROW_NAME, n);
  int rc = found ? db_delete(txn->db, &last) : 0;
  return rc ? db_failed(error, rc, "forget a session's name") : 0;
}

bool session_decode(const struct db_key *key, struct tidings_span record,
                    struct tidings_span *ret_name, uint32_t *ret_number) {
  struct record_reader reader;
  if (!record_open(&reader, key, record)) return false;
  uint64_t number = record_read_u64(&reader);
  *ret_name = record_read_bytes(&reader);
  *ret_number = (uint32_t)number;
  return record_close(&reader) && number && number <= UINT32_MAX;
}

int session_scan(struct store_txn *txn, session_visitor each, void *context,
                 struct tidings_error *error) {
  uint64_t next;
  return session_page_here(txn, 0, SIZE_MAX, each, context, &next, error);
}
