/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/tree.c: rows and cursors, in the maps of the sessions that a transaction has
 * loaded. A cursor stays within a session.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/db/postgres/remote.h"

struct place {
  uint32_t session;
  uint8_t kind;
  uint64_t n;
};

static struct place place_of(const struct db_key *key) {
  uint32_t session;
  uint64_t n;
  memcpy(&session, key->bytes, 4);
  memcpy(&n, key->bytes + 5, 8);
  return (struct place){be32toh(session), key->bytes[4], be64toh(n)};
}

static void write_key(uint8_t *bytes, uint32_t session, uint8_t kind, uint64_t n) {
  uint32_t session_be = htobe32(session);
  uint64_t n_be = htobe64(n);
  memcpy(bytes, &session_be, 4);
  bytes[4] = kind;
  memcpy(bytes + 5, &n_be, 8);
}

static bool is_known_kind(uint8_t kind) { return kind < KINDS; }

/* -- the store's own rows ---------------------------------------------------------------------- */

/* The names of sessions never change, so their rows are kept. The row of the schema number is read
 * from the server once in each transaction. All other rows of the store are read anew each time. */
static bool find_kept(struct db_txn *txn, const struct place *at, struct tidings_span *ret_value) {
  struct pg_txn *engine = txn->engine;
  bool first = at->kind == PG_META && !at->n;
  if (first && engine->checked) return false;
  engine->checked = engine->checked || first;
  pthread_mutex_lock(&txn->db->lock);
  const struct pg_row *row = pg_map_get(&txn->db->store_rows, at->kind, at->n);
  if (row) *ret_value = span_of(row->value, row->len);
  pthread_mutex_unlock(&txn->db->lock);
  return row;
}

void pg_keep_row(struct db *db, const struct pg_row *row) {
  pthread_mutex_lock(&db->lock);
  if (!pg_map_get(&db->store_rows, row->kind, row->n)) {
    struct pg_row *copy = pg_map_put(&db->store_rows, row->kind, row->n, row->len);
    if (copy) memcpy(copy->value, row->value, row->len);
  }
  pthread_mutex_unlock(&db->lock);
}

/* -- rows -------------------------------------------------------------------------------------- */

/* May the server have a row that is not in the map? */
static bool may_be_elsewhere(const struct db *db, const struct pg_session *session, uint8_t kind,
                             uint64_t n) {
  if (!session->number) return !session->own || kind != PG_META;
  if (!session->exists) return false;
  switch (db->kinds[kind]) {
  case DB_KIND_ENDS: return n < session->near[kind];
  case DB_KIND_LOOKED_UP:
  case DB_KIND_ONCE: return true;
  default: return false;
  }
}

static bool was_deleted(const struct pg_session *session, uint8_t kind, uint64_t n) {
  for (size_t i = 0; i < session->gone_count; i++) {
    if (session->gone[i].kind == kind && session->gone[i].n == n) return true;
  }
  return false;
}

/* A row that was found missing stays missing while the session is locked. (pg_txn_own locks session
 * 0 and asks again.) */
static bool is_absent(const struct pg_session *session, uint8_t kind, uint64_t n) {
  for (size_t i = 0; i < session->absent_count; i++) {
    if (session->absent[i].kind == kind && session->absent[i].n == n) return true;
  }
  return false;
}

void pg_note_absent(const struct db_txn *txn, struct pg_session *session, uint8_t kind,
                    uint64_t n) {
  enum { MOST = sizeof session->absent / sizeof *session->absent };
  if ((txn->access == DB_WRITES || !session->number) && session->absent_count < MOST)
    session->absent[session->absent_count++] = (struct pg_gone){.n = n, .kind = kind};
}

static int find(struct db_txn *txn, struct pg_session *session, const struct place *at,
                struct pg_row **ret_row) {
  struct pg_row *row = pg_map_get(&session->map, at->kind, at->n);
  bool found = row, elsewhere = !row && may_be_elsewhere(txn->db, session, at->kind, at->n) &&
                                !was_deleted(session, at->kind, at->n) &&
                                !is_absent(session, at->kind, at->n);
  int rc = elsewhere ? pg_txn_fetch_one(txn, session, at->kind, at->n, &found) : 0;
  if (rc) return rc;
  if (elsewhere && !found) pg_note_absent(txn, session, at->kind, at->n);
  *ret_row = found ? pg_map_get(&session->map, at->kind, at->n) : NULL;
  if (elsewhere && *ret_row && !session->number) pg_keep_row(txn->db, *ret_row);
  return 0;
}

int db_get(struct db_txn *txn, const struct db_key *key, struct tidings_span *ret_value) {
  struct place at = place_of(key);
  struct pg_session *session;
  struct pg_row *row = NULL;
  *ret_value = span_of(NULL, 0);
  if (!is_known_kind(at.kind)) return 0;
  struct pg_session *own = NULL;
  for (size_t i = 0; !at.session && i < ((struct pg_txn *)txn->engine)->count; i++) {
    struct pg_session *other = ((struct pg_txn *)txn->engine)->sessions[i];
    if (!other->number && (other->own || other->written)) own = other;
  }
  if (!at.session && !own && find_kept(txn, &at, ret_value)) return 0;
  int rc = pg_txn_session(txn, at.session, &session);
  if (!rc) rc = find(txn, session, &at, &row);
  if (!rc && row) *ret_value = span_of(row->value, row->len);
  return rc;
}

int db_put_room(struct db_txn *txn, const struct db_key *key, size_t len, void **ret_value) {
  struct place at = place_of(key);
  struct pg_session *session;
  int rc = pg_txn_session(txn, at.session, &session);
  if (rc) return rc;
  const struct pg_row *old = pg_map_get(&session->map, at.kind, at.n);
  bool fresh = old ? old->fresh
                   : !may_be_elsewhere(txn->db, session, at.kind, at.n) &&
                         !was_deleted(session, at.kind, at.n);
  struct pg_row *row = pg_map_put(&session->map, at.kind, at.n, len);
  if (!row) return ENOMEM;
  row->dirty = true;
  row->fresh = fresh;
  session->written = true;
  session->rewritten = session->rewritten || at.n < session->floors[at.kind];
  for (size_t i = session->gone_count; i--;) { /* the same row may be noted twice */
    struct pg_gone *gone = &session->gone[i];
    if (gone->kind == at.kind && gone->n == at.n) *gone = session->gone[--session->gone_count];
  }
  *ret_value = row->value;
  return 0;
}

int db_put(struct db_txn *txn, const struct db_key *key, struct tidings_span value) {
  void *room;
  int rc = db_put_room(txn, key, value.len, &room);
  if (!rc && value.len) memcpy(room, value.ptr, value.len);
  return rc;
}

/* Only the server knows whether the row is new. */
int db_put_new(struct db_txn *txn, const struct db_key *key, struct tidings_span value) {
  struct place at = place_of(key);
  struct pg_session *session;
  int rc = db_put(txn, key, value);
  if (!rc) rc = pg_txn_session(txn, at.session, &session);
  if (rc) return rc;
  struct pg_row *row = pg_map_get(&session->map, at.kind, at.n);
  if (row) row->fresh = true;
  return 0;
}

static int note_gone(struct pg_session *session, uint8_t kind, uint64_t n) {
  if (session->gone_count == session->gone_capacity) {
    size_t capacity = session->gone_capacity ? session->gone_capacity * 2 : 32;
    struct pg_gone *larger = realloc(session->gone, capacity * sizeof *larger);
    if (!larger) return ENOMEM;
    session->gone = larger;
    session->gone_capacity = capacity;
  }
  session->gone[session->gone_count++] = (struct pg_gone){n, kind};
  session->written = true;
  return 0;
}

static void remove_row(struct pg_session *session, uint8_t kind, uint64_t n) {
  size_t at = pg_map_find(&session->map, kind, n);
  if (pg_map_get(&session->map, kind, n)) pg_map_remove(&session->map, at);
}

/* Notes the change first, because a session without a noted change is cached as it is. */
static int delete_row(struct pg_session *session, uint8_t kind, uint64_t n) {
  int rc = note_gone(session, kind, n);
  if (!rc) remove_row(session, kind, n);
  return rc;
}

int db_delete(struct db_txn *txn, const struct db_key *key) {
  struct place at = place_of(key);
  struct pg_session *session;
  int rc = pg_txn_session(txn, at.session, &session);
  return rc ? rc : delete_row(session, at.kind, at.n);
}

int db_reserve(struct db_txn *txn, uint64_t bytes, struct tidings_error *error) {
  (void)txn; /* the server itself checks its disk */
  (void)bytes;
  (void)error;
  return 0;
}

/* -- cursors ----------------------------------------------------------------------------------- */

struct pg_cursor {
  struct db_txn *txn;
  bool near; /* it sees only loaded rows */
  struct db_key key;
};

static int open_cursor(struct db_txn *txn, bool near, struct db_cursor *ret_cursor) {
  struct pg_cursor *engine = calloc(1, sizeof *engine);
  if (!engine) return ENOMEM;
  engine->txn = txn;
  engine->near = near;
  *ret_cursor = (struct db_cursor){.engine = engine};
  return 0;
}

int db_cursor_open(struct db_txn *txn, struct db_cursor *ret_cursor) {
  return open_cursor(txn, false, ret_cursor);
}

int pg_cursor_open_near(struct db_txn *txn, struct db_cursor *ret_cursor) {
  return open_cursor(txn, true, ret_cursor);
}

void db_cursor_close(struct db_cursor *cursor) { free(cursor->engine); }

static void stand_at(struct db_cursor *cursor, const struct pg_session *session, size_t at) {
  struct pg_cursor *engine = cursor->engine;
  cursor->key = NULL;
  if (at >= session->map.count) return;
  const struct pg_row *row = &session->map.rows[at];
  write_key(engine->key.bytes, session->number, row->kind, row->n);
  cursor->key = engine->key.bytes;
  cursor->value = span_of(row->value, row->len);
}

/* Loads all rows of this kind from n on into the map. */
static int bring_near(const struct pg_cursor *engine, struct pg_session *session, uint8_t kind,
                      uint64_t n) {
  struct db *db = engine->txn->db;
  if (engine->near || !is_known_kind(kind)) return 0;
  if (session->number && (!session->exists || db->kinds[kind] == DB_KIND_KEPT)) return 0;
  if (n >= session->near[kind]) return 0;
  int rc = pg_txn_fetch_range(engine->txn, session, kind, n);
  for (size_t i = 0; i < session->gone_count;
       i++) /* the server still has the rows that this transaction deleted */
    remove_row(session, session->gone[i].kind, session->gone[i].n);
  return rc;
}

static int seek(struct db_cursor *cursor, const struct place *to) {
  struct pg_cursor *engine = cursor->engine;
  struct pg_session *session;
  int rc = pg_txn_session(engine->txn, to->session, &session);
  if (!rc) rc = bring_near(engine, session, to->kind, to->n);
  if (rc) {
    cursor->key = NULL;
    return rc;
  }
  stand_at(cursor, session, pg_map_find(&session->map, to->kind, to->n));
  return 0;
}

int db_cursor_seek(struct db_cursor *cursor, const struct db_key *key) {
  struct place to = place_of(key);
  return seek(cursor, &to);
}

/* The map has the newest row of a kind and all rows from `near` on, but only some of the rows
 * before. */
int db_cursor_before(struct db_cursor *cursor, const struct db_key *key) {
  struct pg_cursor *engine = cursor->engine;
  struct place to = place_of(key);
  struct pg_session *session;
  int rc = pg_txn_session(engine->txn, to.session, &session);
  if (rc) return rc;
  size_t at = pg_map_find(&session->map, to.kind, to.n);
  bool found = at && session->map.rows[at - 1].kind == to.kind;
  uint64_t last = found ? session->map.rows[at - 1].n : 0;
  if (to.n && is_known_kind(to.kind) && (!found || last < session->near[to.kind])) {
    rc = bring_near(engine, session, to.kind, last);
    at = pg_map_find(&session->map, to.kind, to.n);
  }
  cursor->key = NULL;
  if (!rc && at) stand_at(cursor, session, at - 1);
  return rc;
}

int db_cursor_next(struct db_cursor *cursor) {
  const struct pg_cursor *engine = cursor->engine;
  struct place to = place_of(&engine->key);
  to.n++;
  return seek(cursor, &to);
}

/* The cursor keeps its key, so that db_cursor_next goes to the row after it. */
int db_cursor_delete(struct db_cursor *cursor) {
  const struct pg_cursor *engine = cursor->engine;
  struct place at = place_of(&engine->key);
  struct pg_session *session;
  int rc = pg_txn_session(engine->txn, at.session, &session);
  return rc ? rc : delete_row(session, at.kind, at.n);
}
