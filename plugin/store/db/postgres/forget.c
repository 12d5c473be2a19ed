/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/forget.c: forgetting a session: the server deletes its rows, a portion in each
 * transaction, and counts them.
 */
#include <errno.h>

#include "store/db/postgres/remote.h"

enum { PORTION_ROWS = 5000, COUNTS = 4 };

/* Adds the counts in the first columns of the answer. */
static void add_counts(struct db_forgotten *counts, const PGresult *result) {
  uint64_t numbers[COUNTS];
  for (int i = 0; i < COUNTS; i++) {
    numbers[i] = (uint64_t)pg_int8(result, 0, i);
    counts->rows += numbers[i];
  }
  counts->notifications += numbers[0];
  counts->deliveries += numbers[1];
  counts->messages += numbers[2];
}

/* Executes a statement in its own transaction. It answers with one row. */
static int ask_once(struct db *db, enum pg_statement statement, const struct pg_params *params,
                    store_deadline deadline, PGresult **ret_result) {
  struct pg_conn *conn = NULL;
  if (pg_conn_take(db, deadline, &conn, NULL)) return PG_E_LOST;
  pg_conn_limit(conn, deadline, false);
  int rc = pg_send(conn, statement, params);
  if (!rc) rc = pg_run(db, conn, deadline, ret_result, 1);
  pg_conn_give(db, conn);
  return !rc && PQntuples(*ret_result) != 1 ? PG_E_REFUSED : rc;
}

int pg_forget(struct db *db, struct tidings_span name, const struct owner *ended,
              store_deadline deadline, struct db_forgotten *counts, bool *ret_done) {
  struct pg_params params = {.count = 0};
  uint8_t owner[PG_OWNER_BYTES];
  PGresult *result = NULL;
  pg_param_bytes(&params, name);
  pg_param_int8(&params, PORTION_ROWS);
  pg_owner_bytes(ended, owner);
  if (ended->pid) pg_param_bytes(&params, span_of((const char *)owner, sizeof owner));
  else pg_param_null(&params);
  int rc = ask_once(db, PG_FORGET, &params, deadline, &result);
  if (!rc) {
    add_counts(counts, result);
    *ret_done = PQgetvalue(result, 0, COUNTS)[0];
  }
  PQclear(result);
  return rc == PG_E_OWNED ? EPERM : rc;
}

int pg_forget_count(struct db *db, struct tidings_span name, store_deadline deadline,
                    struct db_forgotten *ret_counts) {
  struct pg_params params = {.count = 0};
  struct db_forgotten counts = {0};
  PGresult *result = NULL;
  pg_param_bytes(&params, name);
  int rc = ask_once(db, PG_FORGET_COUNT, &params, deadline, &result);
  if (!rc) {
    add_counts(&counts, result);
    *ret_counts = counts;
  }
  PQclear(result);
  return rc;
}
