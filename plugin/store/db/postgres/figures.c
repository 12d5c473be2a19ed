/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/figures.c: figures of a whole store, which the server counts.
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
  size_t count = txn->db->revision >= PG_SCHEMA_OF_DAYS ? 2 : 1;
  int rc = pg_send(engine->conn, PG_FIGURES, NULL);
  if (!rc && count == 2) rc = pg_send(engine->conn, PG_DEAD_LETTERS, NULL);
  if (!rc) rc = pg_run(txn->db, engine->conn, engine->deadline, results, count);
  for (size_t i = 0; !rc && i < count; i++) tell(results[i], each, context);
  for (size_t i = 0; i < count; i++) PQclear(results[i]);
  if (rc) engine->failing = true;
  return rc;
}

int pg_dead_letters(struct db_txn *txn, struct tidings_span name, size_t most,
                    int (*each)(void *context, const struct db_dead *dead), void *context,
                    struct tidings_error *error) {
  struct pg_params params = {.count = 0};
  PGresult *result = NULL;
  if (txn->db->revision < PG_SCHEMA_OF_DAYS) return 0;
  pg_param_bytes(&params, name);
  pg_param_int8(&params, (int64_t)most);
  int rc = pg_txn_fetch(txn, PG_DEAD_OF_SESSION, &params, &result);
  int code = rc ? pg_fail_in(txn->db, rc, "list the dead letters", error) : 0;
  for (int i = 0; !code && i < PQntuples(result); i++) {
    const struct db_dead dead = {
        .outcome = PQgetvalue(result, i, 0),
        .reason = PQgetvalue(result, i, 1),
        .ended_ms = pg_int8(result, i, 2),
        .body = span_of(PQgetvalue(result, i, 3), (size_t)PQgetlength(result, i, 3))};
    code = each(context, &dead);
  }
  PQclear(result);
  return code;
}
