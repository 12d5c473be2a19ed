/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/pooler.c: detects a pooler that gives each transaction another connection to
 * the server. Prepared statements, settings, the locks that show who is alive, and LISTEN all
 * belong to one connection.
 *
 * A pooler reports a process number of its own to its clients. If that number differs from the
 * server's, this file checks whether the connection's last server process is free for others, or
 * does not serve its next transaction.
 */
#include <stdlib.h>
#include <string.h>

#include "store/db/postgres/engine.h"

enum { REFUSED = -1 }; /* a pooler of statements lets no client begin a transaction */

/* Returns the server process that serves a new transaction; 0: not known. `stays`: the transaction
 * stays open. */
static int process_of(struct db *db, struct pg_conn *conn, bool stays, store_deadline deadline) {
  PGresult *results[2] = {NULL, NULL};
  size_t before = stays ? 1 : 0;
  bool sent = (!stays || PQsendQueryParams(conn->pg, "BEGIN", 0, NULL, NULL, NULL, NULL, 0)) &&
              PQsendQueryParams(conn->pg, "SELECT pg_backend_pid()", 0, NULL, NULL, NULL, NULL, 0);
  int process = 0;
  int rc = sent ? pg_run(db, conn, deadline, results, before + 1) : PG_E_LOST;
  if (rc == PG_E_POOLED) process = REFUSED;
  if (!rc && PQntuples(results[before]) == 1) process = (int)pg_int_text(results[before], 0, 0);
  PQclear(results[0]);
  PQclear(results[1]);
  return process;
}

static bool is_shared(struct db *db, struct pg_conn *conn, int mine, store_deadline deadline) {
  struct pg_conn *other = NULL;
  if (pg_conn_dial(db, deadline, &other, NULL)) return false;
  int theirs = process_of(db, other, true, deadline), again = 0;
  if (theirs > 0 && theirs != mine) again = process_of(db, conn, false, deadline);
  pg_conn_close(other);
  return theirs == REFUSED || theirs == mine || (again && again != mine);
}

int pg_pooler_refuse(struct db *db, struct pg_conn *conn, int process, store_deadline deadline,
                     struct tidings_error *error) {
  if (atomic_load(&db->pooler_looked_for)) return 0;
  if (is_shared(db, conn, process, deadline)) {
    struct tidings_error inner = {.size = sizeof inner};
    int code = db_failed(&inner, PG_E_POOLED, "connect");
    return fail(error, code, "store %s: %s", db->place.shown, inner.text);
  }
  atomic_store(&db->pooler_looked_for, true);
  return 0;
}
