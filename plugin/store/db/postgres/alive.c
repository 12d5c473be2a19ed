/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/alive.c: tells whether an owner is alive. A process of this machine is alive
 * while it runs. A process of another machine is alive while it holds its advisory lock; its
 * connection for this lock breaks when the process or the machine dies, and then the server
 * releases the lock.
 */
#include <string.h>

#include "common/fnv.h"
#include "store/db/postgres/engine.h"

enum { ALIVE_BUDGET_MS = 1000 };

void pg_owner_bytes(const struct owner *owner, uint8_t bytes[PG_OWNER_BYTES]) {
  uint64_t space = htobe64(owner->pid_namespace), start = htobe64(owner->start_time);
  uint32_t pid = htobe32(owner->pid);
  memcpy(bytes, owner->boot_id, 16);
  memcpy(bytes + 16, &space, 8);
  memcpy(bytes + 24, &start, 8);
  memcpy(bytes + 32, &pid, 4);
}

/* Returns the number of the owner's lock. It depends on the schema too, because locks belong to the
 * whole database. */
static int64_t lock_of(const struct db *db, const struct owner *owner) {
  uint8_t bytes[PG_OWNER_BYTES];
  pg_owner_bytes(owner, bytes);
  uint64_t hash = fnv_span(FNV_START, span_of((const char *)bytes, PG_OWNER_BYTES));
  return (int64_t)fnv_span(hash, span_text(db->place.schema));
}

/* Writes the name of the connection that shows that the owner is alive. */
enum { ALIVE_NAME_BYTES = 40 };
static void name_of(const struct db *db, const struct owner *owner, char name[ALIVE_NAME_BYTES]) {
  (void)snprintf(name, ALIVE_NAME_BYTES, "tidings alive %016llx",
                 (unsigned long long)lock_of(db, owner));
}

/* Clients of schema 2 check only the lock. Another login of the database may hold that lock; then
 * the connection's name shows that this process is alive. The call does not wait for the lock. */
static int take_lock(struct db *db, store_deadline deadline, struct tidings_error *error) {
  static const Oid types[] = {20, 25};
  static const int formats[] = {1, 1};
  struct pg_params params = {.count = 0};
  char name[ALIVE_NAME_BYTES];
  PGresult *result = NULL;
  int code = pg_conn_open(db, deadline, &db->alive, error);
  if (code) return code;
  name_of(db, &db->self, name);
  pg_param_int8(&params, lock_of(db, &db->self));
  pg_param_bytes(&params, span_text(name));
  int rc = PQsendQueryParams(db->alive->pg,
                             "SELECT pg_try_advisory_lock_shared($1), "
                             "set_config('application_name', $2, false)",
                             2, types, params.values, params.lengths, formats, 1)
               ? pg_run(db, db->alive, deadline, &result, 1)
               : PG_E_LOST;
  PQclear(result);
  if (!rc) return 0;
  pg_conn_close(db->alive);
  db->alive = NULL;
  return db_failed(error, rc, "say that this host is alive");
}

int pg_alive_begin(struct db *db, store_deadline deadline, struct tidings_error *error) {
  pthread_mutex_lock(&db->alive_lock);
  if (db->alive && !pg_conn_lives(db->alive)) {
    pg_conn_close(db->alive);
    db->alive = NULL;
  }
  int code = db->alive ? 0 : take_lock(db, deadline, error);
  pthread_mutex_unlock(&db->alive_lock);
  return code;
}

void pg_alive_end(struct db *db) {
  pg_conn_close(db->alive);
  db->alive = NULL;
}

static bool is_here(const struct db *db, const struct owner *owner) {
  return owner->pid_namespace == db->self.pid_namespace &&
         memcmp(owner->boot_id, db->self.boot_id, sizeof owner->boot_id) == 0;
}

/* If the database does not answer, the owner counts as alive, so that no session is taken from it.
 */
bool db_owner_alive(struct db *db, const struct owner *owner) {
  struct pg_params params = {.count = 0};
  struct pg_conn *conn = NULL;
  PGresult *result = NULL;
  store_deadline deadline = store_deadline_in(ALIVE_BUDGET_MS);
  bool known = false;
  if (!owner->pid || is_here(db, owner)) return owner_alive(owner);
  if (pg_scan_knows_alive(lock_of(db, owner), &known)) return known;
  if (pg_conn_take(db, deadline, &conn, NULL)) return true;
  char name[ALIVE_NAME_BYTES];
  name_of(db, owner, name);
  pg_param_int8(&params, lock_of(db, owner));
  pg_param_bytes(&params, span_text(name));
  int rc = pg_send(conn, PG_HAS_LOCK, &params);
  if (!rc) rc = pg_run(db, conn, deadline, &result, 1);
  bool alive = rc || PQntuples(result);
  PQclear(result);
  pg_conn_give(db, conn);
  return alive;
}
