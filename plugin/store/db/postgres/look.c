/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/look.c: one statement that checks whether a session has changed since it was
 * read, and what is in its inbox. A hook with nothing to deliver uses it without a transaction and
 * without loading rows. If pushes wait, the answer contains them, and they are kept with the
 * session for the next snapshot.
 */
#include <stdlib.h>

#include "store/db/postgres/remote.h"

/* Reads the next column of a binary record: its type, its length, its bytes. */
static bool next_column(struct tidings_span *record, struct tidings_span *ret_value) {
  uint32_t len;
  if (record->len < 8) return false;
  memcpy(&len, record->ptr + 4, 4);
  len = be32toh(len);
  if (len > record->len - 8)
    return false; /* also if it is NULL, which none of these columns may be */
  *ret_value = span_of(record->ptr + 8, len);
  *record = span_of(record->ptr + 8 + len, record->len - 8 - len);
  return true;
}

/* Keeps a row of the inbox, of which it reads the first columns. Returns 0, or the engine's error.
 */
static int keep_waiting(struct pg_session *session, struct tidings_span record) {
  struct tidings_span name, n, body, rings;
  uint64_t number;
  if (record.len < 4) return PG_E_REFUSED;
  record = span_of(record.ptr + 4, record.len - 4); /* the number of columns */
  if (!next_column(&record, &name) || !next_column(&record, &n) || n.len != sizeof number ||
      !next_column(&record, &body) || !next_column(&record, &rings) || rings.len != 1)
    return PG_E_REFUSED;
  memcpy(&number, n.ptr, sizeof number);
  return pg_session_add_waiting(session, (int64_t)be64toh(number), body, *rings.ptr != '\0');
}

static int by_number(const void *a, const void *b) {
  const struct pg_inbox *one = a, *other = b;
  return one->n < other->n ? -1 : one->n > other->n;
}

int pg_session_looked(struct db *db, struct pg_session *session, const PGresult *result) {
  int rc = 0, count = PQntuples(result);
  pg_session_drop_waiting(session);
  session->again = !count || count == PG_MOST_WAITING;
  for (int i = 0; i < count && !session->again && !PQgetisnull(result, i, 0) && !rc; i++)
    rc =
        keep_waiting(session, span_of(PQgetvalue(result, i, 0), (size_t)PQgetlength(result, i, 0)));
  if (session->inbox_count)
    qsort(session->inbox, session->inbox_count, sizeof *session->inbox, by_number);
  if (!session->again) pg_session_as_read(db, session);
  return rc;
}

static int send_look(struct pg_conn *conn, uint32_t number, int64_t version,
                     struct tidings_span name) {
  struct pg_params params = {.count = 0};
  pg_param_int8(&params, number);
  pg_param_int8(&params, version);
  pg_param_bytes(&params, name);
  return pg_send(conn, PG_LOOK, &params);
}

int pg_session_send_look(struct pg_conn *conn, const struct pg_session *session) {
  return send_look(conn, session->number, session->version, span_text(session->name));
}

/* -- a hook that has nothing to deliver -------------------------------------------------------- */

uint64_t pg_look_stamp(const struct db_txn *txn) {
  const struct pg_session *session = pg_engine(txn)->declared;
  return session && session->version > 0 ? (uint64_t)session->version : 0;
}

/* Keeps the answer. True: the next snapshot may use it. */
static bool keep_answer(struct db *db, uint32_t number, uint64_t stamp, const PGresult *result) {
  struct pg_session *session = pg_session_take(db, number, span_of(NULL, 0));
  if (!session) return false;
  bool kept = (uint64_t)session->version == stamp && !session->folded_count &&
              !pg_session_looked(db, session, result) && !session->again;
  session->has_answer = kept;
  pg_session_give(db, session);
  return kept;
}

/* After any error it returns false; the next snapshot then reports the error. */
bool pg_look_is_unchanged(struct db *db, uint32_t session, uint64_t stamp, store_deadline deadline,
                          bool *ret_has_answer) {
  char name[PG_SESSION_NAME_BYTES];
  bool asks = pg_session_is_at(db, session, (int64_t)stamp, name) && !pg_clock_is_old(db);
  struct pg_conn *conn = asks ? pg_conn_take_idle(db) : NULL;
  PGresult *result = NULL;
  bool unchanged = false;
  *ret_has_answer = false;
  if (!conn) return false;
  int rc = send_look(conn, session, (int64_t)stamp, span_text(name));
  if (!rc) rc = pg_run(db, conn, deadline, &result, 1);
  pg_conn_give(db, conn);
  if (!rc) unchanged = PQntuples(result) == 1 && PQgetisnull(result, 0, 0);
  if (!rc && !unchanged) *ret_has_answer = keep_answer(db, session, stamp, result);
  PQclear(result);
  return unchanged;
}
