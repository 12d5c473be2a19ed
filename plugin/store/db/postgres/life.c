/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/life.c: identifies the server and the tables of a connection. After a failover,
 * a start from a backup, or a restore, the tables may lack rows that this process has seen; then
 * its caches are wrong. So each new connection asks for the id of the table, the transaction that
 * wrote its row, and the time at which the server was started.
 */
#include <stdlib.h>

#include "store/db/postgres/life.h"
#include "store/db/postgres/remote.h"

static const char life[] =
    "SELECT schema, hashtextextended(concat_ws(' ', to_jsonb(store) ->> 'identity', "
    "store.tableoid, store.xmin, pg_postmaster_start_time()), 0) FROM store";

/* Keeps the rows, because readers may still use them; nothing searches them any more. If there is
 * no memory for the list, the values leak. Call it with the lock. */
static void keep_for_readers(struct db *db) {
  struct pg_map *from = &db->store_rows, *to = &db->void_rows;
  struct pg_row *rows = realloc(to->rows, (to->count + from->count + 1) * sizeof *rows);
  if (rows) {
    to->rows = rows;
    if (from->count) memcpy(rows + to->count, from->rows, from->count * sizeof *rows);
    to->count += from->count;
  }
  free(from->rows);
  *from = (struct pg_map){.rows = NULL};
}

/* A session that a transaction has taken out of the cache is stale too, because `lost` has grown.
 */
void pg_void(struct db *db) {
  struct pg_session *stale[CACHED_SESSIONS];
  pthread_mutex_lock(&db->lock);
  db->lost++;
  memcpy(stale, db->cache, sizeof stale);
  memset(db->cache, 0, sizeof db->cache);
  keep_for_readers(db);
  memset(&db->pushes, 0, sizeof db->pushes);
  atomic_fetch_add(&db->lives, 1);
  pthread_mutex_unlock(&db->lock);
  for (size_t i = 0; i < CACHED_SESSIONS; i++) pg_session_free(stale[i]);
}

int pg_life_look(struct db *db, struct pg_conn *conn, store_deadline deadline) {
  PGresult *result = NULL;
  int rc = PQsendQueryParams(conn->pg, life, 0, NULL, NULL, NULL, NULL, 0)
               ? pg_run(db, conn, deadline, &result, 1)
               : PG_E_LOST;
  if (rc == PG_E_NO_SCHEMA || rc == PG_E_OLD_TABLES || rc == PG_E_DENIED) rc = 0;
  bool known = !rc && result && PQntuples(result) == 1;
  int64_t now = known ? pg_int_text(result, 0, 1) : 0;
  pthread_mutex_lock(&db->lock);
  bool changed = known && db->life && db->life != now;
  if (known) {
    db->schema = (int)pg_int_text(result, 0, 0);
    db->life = now;
  }
  pthread_mutex_unlock(&db->lock);
  PQclear(result);
  if (changed) pg_void(db);
  return rc;
}

bool pg_life_has_older_builds(const struct db *db) { return db->schema < PG_SCHEMA_OF_MARKS; }

uint32_t pg_life_count(const struct db *db) {
  return atomic_load_explicit(&db->lives, memory_order_acquire);
}
