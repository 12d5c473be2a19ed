/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/in_use.c: is a host of one of the store's sessions alive? The process of a live
 * host holds a lock (alive.c).
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/db/postgres/admin.h"
#include "store/db/postgres/engine.h"

/* Finds the address from which the holder of the lock connects. *ret_held false: the lock is free.
 */
static int find_holder(const struct pg_place *place, PGconn *pg, int64_t lock, char ret_from[64],
                       bool *ret_held, struct tidings_error *error) {
  char sql[400];
  PGresult *result = NULL;
  (void)snprintf(sql, sizeof sql,
                 "SELECT coalesce(host(client_addr), 'this machine') FROM pg_locks LEFT JOIN "
                 "pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted AND "
                 "classid = %u AND objid = %u LIMIT 1",
                 (unsigned)((uint64_t)lock >> 32), (unsigned)(uint64_t)lock);
  int code = pg_admin_run(place, pg, sql, &result, error);
  if (code) return code;
  *ret_held = PQntuples(result) > 0;
  if (*ret_held) (void)snprintf(ret_from, 64, "%s", PQgetvalue(result, 0, 0));
  PQclear(result);
  return 0;
}

/* Reads an owner from the text of a bytea. */
static bool read_owner(const char *text, uint8_t bytes[PG_OWNER_BYTES]) {
  if (strlen(text) != 2 + 2 * PG_OWNER_BYTES) return false;
  for (int i = 0; i < PG_OWNER_BYTES; i++) {
    const char pair[3] = {text[2 + 2 * i], text[3 + 2 * i], '\0'};
    bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
  }
  return true;
}

int pg_in_use_refuse(const struct pg_place *place, PGconn *pg, struct tidings_error *error) {
  char sql[200], from[64];
  PGresult *owners = NULL;
  (void)snprintf(sql, sizeof sql,
                 "SELECT owner, min(name), count(*) FROM \"%s\".session WHERE owner IS NOT NULL "
                 "GROUP BY owner",
                 place->schema);
  int code = pg_admin_run(place, pg, sql, &owners, error);
  for (int i = 0; !code && i < PQntuples(owners); i++) {
    uint8_t bytes[PG_OWNER_BYTES];
    uint32_t pid = 0;
    bool held = false;
    if (!read_owner(PQgetvalue(owners, i, 0), bytes)) continue;
    code = find_holder(place, pg, pg_alive_lock(place->schema, bytes), from, &held, error);
    memcpy(&pid, bytes + PG_OWNER_BYTES - sizeof pid, sizeof pid);
    if (!code && held)
      code = fail(
          error, TIDINGS_E_STATE,
          "store %s is in use: the host with pid %u on %s lives and has %s of its sessions, "
          "\"%s\" among them; end that host first",
          place->shown, be32toh(pid), from, PQgetvalue(owners, i, 2), PQgetvalue(owners, i, 1));
  }
  PQclear(owners);
  return code;
}
