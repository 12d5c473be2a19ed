/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/session.c: loads sessions for transactions, and caches them. A transaction
 * takes a session out of the cache; another one of this process that needs it meanwhile loads its
 * own copy.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "store/db/postgres/engine.h"

void pg_session_drop_waiting(struct pg_session *session) {
  for (size_t i = 0; i < session->inbox_count; i++) free(session->inbox[i].body);
  free(session->inbox);
  session->inbox = NULL;
  session->inbox_count = session->inbox_next = 0;
}

void pg_session_free(struct pg_session *session) {
  if (!session) return;
  pg_map_free(&session->map);
  pg_session_drop_waiting(session);
  free(session->name);
  free(session->folded);
  free(session->gone);
  free(session->tools);
  free(session);
}

/* -- the cache --------------------------------------------------------------------------------- */

static bool is_it(const struct pg_session *session, uint32_t number, struct tidings_span name) {
  if (number) return session->number == number;
  return session->name && span_equal(span_text(session->name), name);
}

struct pg_session *pg_session_take(struct db *db, uint32_t number, struct tidings_span name) {
  struct pg_session *session = NULL, *stale = NULL;
  pthread_mutex_lock(&db->lock);
  uint64_t lost = db->lost;
  for (size_t i = 0; i < CACHED_SESSIONS && !session && (number || name.len); i++) {
    if (!db->cache[i] || !is_it(db->cache[i], number, name)) continue;
    session = db->cache[i];
    db->cache[i] = NULL;
  }
  pthread_mutex_unlock(&db->lock);
  if (session && session->lost != lost) {
    stale = session;
    session = NULL;
  }
  pg_session_free(stale);
  if (!session) {
    session = calloc(1, sizeof *session);
    if (!session) return NULL;
    session->number = number;
    session->version = -1;
    session->lost = lost;
  }
  if (!session->name && name.len && !(session->name = strndup(name.ptr, name.len))) {
    pg_session_free(session);
    return NULL;
  }
  return session;
}

bool pg_session_is_at(struct db *db, uint32_t number, int64_t version,
                      char ret_name[PG_SESSION_NAME_BYTES]) {
  bool is_at = false;
  pthread_mutex_lock(&db->lock);
  for (size_t i = 0; i < CACHED_SESSIONS && !is_at; i++) {
    const struct pg_session *session = db->cache[i];
    is_at = session && session->number == number && session->version == version &&
            session->lost == db->lost && !session->folded_count && !session->again &&
            session->name && strlen(session->name) < PG_SESSION_NAME_BYTES;
    if (is_at) memcpy(ret_name, session->name, strlen(session->name) + 1);
  }
  pthread_mutex_unlock(&db->lock);
  return is_at;
}

/* Rows that are looked up by a hash are not cached, because they would pile up. */
static void keep_little(const struct db *db, struct pg_session *session) {
  struct pg_map *map = &session->map;
  size_t kept = 0;
  for (size_t i = 0; i < map->count; i++) {
    struct pg_row *row = &map->rows[i];
    bool old = db->kinds[row->kind] == DB_KIND_ENDS && row->n < session->floors[row->kind];
    if (!row->dirty && (old || db->kinds[row->kind] >= DB_KIND_LOOKED_UP)) free(row->value);
    else map->rows[kept++] = *row;
  }
  map->count = kept;
}

void pg_session_give(struct db *db, struct pg_session *session) {
  size_t place = CACHED_SESSIONS, oldest = 0;
  if (!session->number || !session->exists || session->folding) {
    pg_session_free(session);
    return;
  }
  keep_little(db, session);
  if (!session->has_answer) pg_session_drop_waiting(session);
  session->gone_count = 0;
  session->written = session->is_noted = session->tools_noted = false;
  pthread_mutex_lock(&db->lock);
  session->used = ++db->uses;
  for (size_t i = 0; i < CACHED_SESSIONS; i++) {
    struct pg_session *other = db->cache[i];
    bool same =
        other && other->number == session->number; /* another thread has returned its copy */
    if (same || (!other && place == CACHED_SESSIONS)) place = i;
    if (db->cache[oldest] && (!other || other->used < db->cache[oldest]->used)) oldest = i;
  }
  if (place == CACHED_SESSIONS) place = oldest;
  struct pg_session *other = db->cache[place];
  bool newer =
      other && other->number == session->number &&
      (other->version > session->version ||
       (other->version == session->version && other->folded_count >= session->folded_count));
  if (!newer) db->cache[place] = session;
  pthread_mutex_unlock(&db->lock);
  pg_session_free(newer ? session : other);
}

/* -- loading ----------------------------------------------------------------------------------- */

int pg_session_send_load(struct pg_conn *conn, const struct pg_session *session) {
  enum { INT8 = 20 };
  struct buffer folded = BUFFER_EMPTY;
  struct pg_params params = {.count = 0};
  pg_array_begin(&folded, INT8, session->folded_count);
  for (size_t i = 0; i < session->folded_count; i++) {
    uint64_t n = htobe64((uint64_t)session->folded[i]);
    pg_array_add(&folded, &n, 8);
  }
  if (session->number) pg_param_int8(&params, session->number);
  else pg_param_null(&params);
  if (session->name) pg_param_bytes(&params, span_text(session->name));
  else pg_param_null(&params);
  pg_param_int8(&params, session->version);
  pg_param_bytes(&params, buffer_view(&folded));
  int rc = folded.failed ? ENOMEM : pg_send(conn, PG_LOAD, &params);
  buffer_free(&folded);
  return rc;
}

static void take_floors(struct pg_session *session, const char *bytes, int len) {
  for (int i = 0; i < KINDS; i++) {
    uint64_t floor = 0;
    if (len == KINDS * 8) memcpy(&floor, bytes + (ptrdiff_t)i * 8, 8);
    session->floors[i] = be64toh(floor);
  }
}

int pg_session_add_waiting(struct pg_session *session, int64_t n, struct tidings_span body,
                           bool rings) {
  struct pg_inbox *larger =
      realloc(session->inbox, (session->inbox_count + 1) * sizeof *session->inbox);
  char *copy = malloc(body.len ? body.len : 1);
  if (larger) session->inbox = larger;
  if (!larger || !copy) {
    free(copy);
    return ENOMEM;
  }
  if (body.len) memcpy(copy, body.ptr, body.len);
  struct pg_inbox *row = &session->inbox[session->inbox_count++];
  row->n = n;
  row->body = copy;
  row->len = body.len;
  row->rings = rings;
  return 0;
}

static int take_name(struct pg_session *session, const char *name, size_t len) {
  if (session->name) return 0;
  session->name = strndup(name, len);
  return session->name ? 0 : ENOMEM;
}

static int by_key(const void *a, const void *b) {
  const struct pg_row *one = a, *other = b;
  if (one->kind != other->kind) return one->kind < other->kind ? -1 : 1;
  return one->n < other->n ? -1 : one->n > other->n;
}

/* Adds a row at the end of the map. The rows come in any order and are sorted once, after the last
 * one. */
static int take_row(struct pg_session *session, uint8_t kind, uint64_t n, const char *value,
                    size_t len) {
  struct pg_map *map = &session->map;
  session->rewritten = session->rewritten || n < session->floors[kind];
  if (map->count == map->capacity) {
    size_t capacity = map->capacity ? map->capacity * 2 : 32;
    struct pg_row *rows = realloc(map->rows, capacity * sizeof *rows);
    if (!rows) return ENOMEM;
    map->rows = rows;
    map->capacity = capacity;
  }
  char *copy = malloc(len ? len : 1);
  if (!copy) return ENOMEM;
  memcpy(copy, value, len);
  map->rows[map->count++] = (struct pg_row){.value = copy, .len = len, .n = n, .kind = kind};
  return 0;
}

static void start_anew(struct pg_session *session) {
  pg_map_free(&session->map);
  session->folded_count = 0;
  session->folded_rings = 0;
  session->rewritten = false;
}

void pg_session_as_read(const struct db *db, struct pg_session *session) {
  session->absent_count = 0;
  memcpy(session->ended, session->floors, sizeof session->ended);
  for (int i = 0; i < KINDS; i++)
    session->near[i] = db->kinds[i] >= DB_KIND_LOOKED_UP ? UINT64_MAX : session->floors[i];
}

/* Values of the first column of PG_LOAD for rows that do not come from the stored rows. */
enum {
  LOADED_SESSION = 0,
  LOADED_PUSH = -1,
  LOADED_NAME = -2,
  LOADED_PUSH_THAT_RINGS = -3,
  LOADED_CLOCK = -4,
  LOADED_WAITING = -8 /* down to -8 - (DB_LEVELS - 1): how many wait, by level */
};

static int16_t loaded_kind(const PGresult *result, int row) {
  return (int16_t)be16toh(*(const uint16_t *)(const void *)PQgetvalue(result, row, 0));
}

bool pg_session_is_row(const PGresult *result, int row) {
  return loaded_kind(result, row) == LOADED_SESSION;
}

struct pg_session *pg_session_of_row(const PGresult *result, int row) {
  struct pg_session *session = calloc(1, sizeof *session);
  if (!session) return NULL;
  session->exists = true;
  session->number = (uint32_t)pg_int8(result, row, 1);
  session->version = pg_int8(result, row, 2);
  take_floors(session, PQgetvalue(result, row, 3), PQgetlength(result, row, 3));
  return session;
}

int pg_session_add_row(struct pg_session *session, const PGresult *result, int row) {
  int16_t kind = loaded_kind(result, row);
  uint64_t n = (uint64_t)pg_int8(result, row, 2);
  const char *value = PQgetvalue(result, row, 3);
  size_t len = (size_t)PQgetlength(result, row, 3);
  if (kind == LOADED_NAME) return take_name(session, value, len);
  if (kind <= LOADED_WAITING && kind > LOADED_WAITING - DB_LEVELS)
    session->waiting.levels[LOADED_WAITING - kind] = n;
  if (kind <= 0 || kind >= KINDS) return 0;
  return take_row(session, (uint8_t)kind, n ^ (uint64_t)1 << 63, value, len);
}

void pg_session_sort_rows(const struct db *db, struct pg_session *session) {
  if (session->map.count)
    qsort(session->map.rows, session->map.count, sizeof *session->map.rows, by_key);
  pg_session_as_read(db, session);
}

int pg_session_loaded(struct db *db, struct pg_session *session, const PGresult *result) {
  int64_t version = -1;
  int rc = 0;
  session->again = false;
  session->exists = false;
  pg_session_drop_waiting(session);
  for (int i = 0; i < PQntuples(result); i++) {
    if (loaded_kind(result, i) != LOADED_SESSION) continue;
    session->exists = true;
    session->number = (uint32_t)pg_int8(result, i, 1);
    version = pg_int8(result, i, 2);
    take_floors(session, PQgetvalue(result, i, 3), PQgetlength(result, i, 3));
  }
  if (version != session->version) {
    session->again =
        session->folded_count; /* the pushes that the query left out have to be loaded too */
    start_anew(session);
  }
  session->version = version;
  for (int i = 0; i < PQntuples(result) && !rc; i++) {
    int16_t kind = loaded_kind(result, i);
    uint64_t n = (uint64_t)pg_int8(result, i, 2);
    const char *value = PQgetvalue(result, i, 3);
    size_t len = (size_t)PQgetlength(result, i, 3);
    if (kind == LOADED_CLOCK) pg_clock_read(db, (int64_t)n);
    else if (kind == LOADED_NAME) rc = take_name(session, value, len);
    else if (kind == LOADED_PUSH || kind == LOADED_PUSH_THAT_RINGS)
      rc = pg_session_add_waiting(session, (int64_t)n, span_of(value, len),
                                  kind == LOADED_PUSH_THAT_RINGS);
    else if (kind > 0 && kind < KINDS)
      rc = take_row(session, (uint8_t)kind, n ^ (uint64_t)1 << 63, value, len);
  }
  if (session->map.count)
    qsort(session->map.rows, session->map.count, sizeof *session->map.rows, by_key);
  pg_session_as_read(db, session);
  return rc;
}
