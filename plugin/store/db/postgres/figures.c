/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/figures.c: what the server counts of a whole store.
 */
#include <string.h>

#include "store/db/postgres/remote.h"

static void tell(const PGresult *result,
                 void (*each)(void *context, const struct db_figure *figure), void *context) {
  for (int i = 0; i < PQntuples(result); i++) {
    const struct db_figure figure = {
        .name = PQgetvalue(result, i, 0),
        .of = span_of(PQgetvalue(result, i, 1), (size_t)PQgetlength(result, i, 1)),
        .value = (uint64_t)pg_int8(result, i, 2)};
    each(context, &figure);
  }
}

/* Tables of schema 2 have no dead letters. */
int pg_figures(struct db_txn *txn, void (*each)(void *context, const struct db_figure *figure),
               void *context) {
  struct pg_txn *engine = pg_engine(txn);
  PGresult *results[2] = {NULL, NULL};
  size_t count = txn->db->revision >= PG_SCHEMA ? 2 : 1;
  int rc = pg_send(engine->conn, PG_FIGURES, NULL);
  if (!rc && count == 2) rc = pg_send(engine->conn, PG_DEAD_LETTERS, NULL);
  if (!rc) rc = pg_run(txn->db, engine->conn, engine->deadline, results, count);
  for (size_t i = 0; !rc && i < count; i++) tell(results[i], each, context);
  for (size_t i = 0; i < count; i++) PQclear(results[i]);
  if (rc) engine->failing = true;
  return rc;
}
