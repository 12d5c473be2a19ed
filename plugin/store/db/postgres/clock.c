/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/clock.c: the server's clock, from which all times in the store come, because
 * hosts on many machines have different clocks. It is read together with other statements. Between
 * two readings, the time that has passed on this machine's monotonic clock is added.
 */
#include "store/db/postgres/engine.h"

enum { CLOCK_AGE_MS = 60000 };

void pg_clock_read(struct db *db, int64_t server_ms) {
  int64_t here_ms = store_uptime_ms();
  atomic_store(&db->clock_read_ms, here_ms);
  atomic_store(&db->clock_ahead_ms, server_ms - here_ms);
}

void pg_clock_take(struct db *db, const PGresult *result) {
  if (PQntuples(result) != 1) return;
  pg_clock_read(db, pg_int8(result, 0, 0));
  atomic_store(&db->pending_most, pg_int8(result, 0, 1));
  atomic_store(&db->is_full, *PQgetvalue(result, 0, 2) != '\0');
}

bool pg_clock_is_old(const struct db *db) {
  return store_uptime_ms() - atomic_load(&db->clock_read_ms) > CLOCK_AGE_MS;
}

int64_t db_now(const struct db *db, int64_t host_ms) {
  if (db->hosts_clock || !atomic_load(&db->clock_read_ms)) return host_ms;
  return store_uptime_ms() + atomic_load(&db->clock_ahead_ms);
}
