/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/ahead.c: a transaction declares which rows it will ask for; they are fetched in
 * the round trip that loads the session.
 */
#include <errno.h>
#include <string.h>

#include "store/db/postgres/engine.h"

/* Returns the declared row of session 0. NULL: none is declared, or this process has it already. */
static const struct db_key *find_wanted(struct db *db, const struct db_scope *scope) {
  bool here = true;
  if (!scope->prefetches) return NULL;
  pthread_mutex_lock(&db->lock);
  here = pg_map_get(&db->store_rows, scope->wanted.bytes[4], pg_key_n(&scope->wanted));
  pthread_mutex_unlock(&db->lock);
  return here ? NULL : &scope->wanted;
}

struct pg_ahead pg_ahead_of(struct db *db, const struct pg_session *session,
                            const struct db_scope *scope) {
  struct pg_ahead ahead = {.count = 0};
  if (!scope) return ahead;
  ahead.wanted = find_wanted(db, scope);
  if (session->number && session->name) ahead.event = scope->event;
  ahead.count = (ahead.wanted ? 1u : 0u) + (ahead.event ? 2u : 0u);
  return ahead;
}

static int send_fetch(struct pg_conn *conn, uint32_t session, const struct db_key *key) {
  struct pg_params params = {.count = 0};
  pg_param_row(&params, session, key->bytes[4], pg_key_n(key));
  return pg_send(conn, PG_FETCH_ONE, &params);
}

static int send_event(struct pg_conn *conn, const struct pg_session *session,
                      const struct db_event *event) {
  struct pg_params params = {.count = 0};
  int rc = send_fetch(conn, session->number, &event->row);
  pg_param_bytes(&params, span_text(session->name));
  pg_param_bytes(&params, event->source);
  pg_param_bytes(&params, event->id);
  pg_param_int8(&params, event->since_ms);
  return rc ? rc : pg_send(conn, PG_SEEN, &params);
}

int pg_ahead_send(struct pg_conn *conn, const struct pg_session *session,
                  const struct pg_ahead *ahead) {
  int rc = ahead->wanted ? send_fetch(conn, 0, ahead->wanted) : 0;
  return !rc && ahead->event ? send_event(conn, session, ahead->event) : rc;
}

static int take_fetched(const struct db_txn *txn, struct pg_session *session,
                        const struct db_key *key, const PGresult *result) {
  uint8_t kind = key->bytes[4];
  if (!PQntuples(result)) {
    pg_note_absent(txn, session, kind, pg_key_n(key));
    return 0;
  }
  size_t len = (size_t)PQgetlength(result, 0, 0);
  struct pg_row *row = pg_map_put(&session->map, kind, pg_key_n(key), len);
  if (!row) return ENOMEM;
  memcpy(row->value, PQgetvalue(result, 0, 0), len);
  if (!session->number) pg_keep_row(txn->db, row);
  return 0;
}

int pg_ahead_take(struct db_txn *txn, struct pg_session *session, const struct pg_ahead *ahead,
                  PGresult *const *results) {
  struct pg_txn *engine = pg_engine(txn);
  struct pg_session *own = NULL;
  int rc = ahead->wanted ? pg_txn_session(txn, 0, &own) : 0;
  if (!rc && ahead->wanted) rc = take_fetched(txn, own, ahead->wanted, *results++);
  if (rc || !ahead->event) return rc;
  engine->event = *ahead->event;
  engine->event_of = session->number;
  engine->event_seen = PQntuples(results[1]);
  return take_fetched(txn, session, &ahead->event->row, results[0]);
}
