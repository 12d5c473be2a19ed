/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/inbox.c: pushes to a session that no write transaction of it has seen yet. A
 * transaction numbers them; their order is kept with the session, so that a write after a snapshot
 * finds the same order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/db/postgres/remote.h"

bool pg_inbox_waits(const struct db_txn *txn) {
  const struct pg_txn *engine = txn->engine;
  const struct pg_session *session = engine->declared;
  return session && (session->inbox_count || session->folded_count);
}

int pg_inbox_next(struct db_txn *txn, struct tidings_span *ret_body) {
  const struct pg_txn *engine = txn->engine;
  struct pg_session *session = engine->declared;
  *ret_body = span_of(NULL, 0);
  if (!session) return 0;
  session->folding = session->inbox_next < session->inbox_count;
  if (!session->folding) return 0;
  if (session->folded_count == session->folded_capacity) {
    size_t capacity = session->folded_capacity ? session->folded_capacity * 2 : 32;
    int64_t *larger = realloc(session->folded, capacity * sizeof *larger);
    if (!larger) return ENOMEM;
    session->folded = larger;
    session->folded_capacity = capacity;
  }
  const struct pg_inbox *row = &session->inbox[session->inbox_next++];
  session->folded[session->folded_count++] = row->n;
  session->folded_rings += row->rings;
  *ret_body = span_of(row->body, row->len);
  return 0;
}

struct db_places pg_inbox_places(const struct db_txn *txn, uint64_t most) {
  const struct pg_session *session = ((const struct pg_txn *)txn->engine)->declared;
  struct db_places places = {0, 0};
  for (; session && places.count < session->folded_count && places.count < most; places.count++) {
    places.stamp ^= (uint64_t)session->folded[places.count];
    places.stamp = (places.stamp ^ places.stamp >> 29) * 0xff51afd7ed558ccdu;
  }
  return places;
}

/* -- ids --------------------------------------------------------------------------------------- */

/* Begins the parameters with the session and the source. *ret_known: the session has a name;
 * nothing was pushed to a session without a name. */
static int begin_id(struct db_txn *txn, uint32_t number, struct tidings_span source,
                    struct tidings_span id, struct pg_params *params, bool *ret_known) {
  struct pg_session *session = NULL;
  int rc = pg_txn_session(txn, number, &session);
  *ret_known = !rc && session->name;
  if (!*ret_known) return rc;
  pg_param_bytes(params, span_text(session->name));
  pg_param_bytes(params, source);
  pg_param_bytes(params, id);
  return 0;
}

int pg_inbox_seen(struct db_txn *txn, uint32_t session, struct tidings_span source,
                  struct tidings_span id, int64_t since_ms, bool *ret_seen) {
  const struct pg_txn *engine = pg_engine(txn);
  struct pg_params params = {.count = 0};
  PGresult *result = NULL;
  bool known;
  if (session && engine->event_of == session && engine->event.since_ms == since_ms &&
      span_equal(engine->event.source, source) && span_equal(engine->event.id, id)) {
    *ret_seen = engine->event_seen;
    return 0;
  }
  int rc = begin_id(txn, session, source, id, &params, &known);
  *ret_seen = false;
  if (!known) return rc;
  pg_param_int8(&params, since_ms);
  rc = pg_txn_fetch(txn, PG_SEEN, &params, &result);
  if (!rc) *ret_seen = PQntuples(result);
  PQclear(result);
  return rc;
}

/* An id to note as seen. The commit sends it, because no reader needs it before. */
struct pg_noted {
  struct pg_noted *next;
  struct pg_params params;
  char texts[]; /* the texts to which the parameters point */
};

int pg_inbox_note(struct db_txn *txn, uint32_t session, struct tidings_span source,
                  struct tidings_span id, int64_t now_ms, int64_t keep_ms) {
  struct pg_params params = {.count = 0};
  size_t len = 0;
  bool known;
  int rc = begin_id(txn, session, source, id, &params, &known);
  if (!known) return rc;
  for (int i = 0; i < params.count; i++) len += (size_t)params.lengths[i];
  struct pg_noted *noted = calloc(1, sizeof *noted + len);
  if (!noted) return ENOMEM;
  char *at = noted->texts;
  for (int i = 0; i < params.count; i++) {
    size_t bytes = (size_t)params.lengths[i];
    memcpy(at, params.values[i], bytes);
    pg_param_bytes(&noted->params, span_of(at, bytes));
    at += bytes;
  }
  pg_param_int8(&noted->params, now_ms);
  pg_param_int8(&noted->params, keep_ms);
  noted->next = pg_engine(txn)->noted;
  pg_engine(txn)->noted = noted;
  return 0;
}

int pg_inbox_send_noted(const struct pg_txn *engine) {
  int rc = 0;
  for (const struct pg_noted *noted = engine->noted; noted && !rc; noted = noted->next)
    rc = pg_send(engine->conn, PG_NOTE_ID, &noted->params);
  return rc;
}

void pg_inbox_drop_noted(struct pg_txn *engine) {
  struct pg_noted *noted;
  while ((noted = engine->noted)) {
    engine->noted = noted->next;
    free(noted);
  }
}

int pg_inbox_sessions(struct db *db, bool nameless, store_deadline deadline,
                      int (*each)(void *context, struct tidings_span name), void *context,
                      struct tidings_error *error) {
  struct pg_conn *conn = NULL;
  PGresult *result = NULL;
  int code = pg_conn_take(db, deadline, &conn, error);
  if (code) return code;
  int rc = pg_send(conn, nameless ? PG_INBOX_NAMELESS : PG_INBOX_NAMES, NULL);
  if (!rc) rc = pg_run(db, conn, deadline, &result, 1);
  pg_conn_give(db, conn);
  if (rc) code = db_failed(error, rc, "look for what was pushed");
  for (int i = 0; !code && i < PQntuples(result); i++)
    code = each(context, span_of(PQgetvalue(result, i, 0), (size_t)PQgetlength(result, i, 0)));
  PQclear(result);
  return code;
}
