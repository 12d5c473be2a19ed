/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/errors.c: turns an error of the server into one of the engine's error numbers,
 * and into words that say what to do.
 */
#include <errno.h>
#include <string.h>

#include "store/db/postgres/engine.h"

/* Logs the server's words, except of errors that the functions in SQL raise: push.c returns them.
 */
int pg_error_of(struct db *db, const PGresult *result) {
  static const struct {
    const char *state;
    enum pg_error error;
  } known[] = {{"55P03", PG_E_LOCKED},     {"57014", PG_E_LATE},
               {"40P01", PG_E_LOCKED},     {"25006", PG_E_READ_ONLY},
               {"42501", PG_E_DENIED},     {"42P01", PG_E_NO_SCHEMA},
               {"42883", PG_E_OLD_TABLES}, {"3F000", PG_E_NO_SCHEMA},
               {"53100", PG_E_DISK_FULL},  {"53300", PG_E_NO_CONNECTION_LEFT},
               {"57P03", PG_E_STARTING},   {"57P01", PG_E_LOST},
               {"57P02", PG_E_LOST},       {"25P03", PG_E_LOST},
               {"26000", PG_E_POOLED},     {"42P05", PG_E_POOLED},
               {"08P01", PG_E_POOLED},     {"22012", PG_E_OUTDATED},
               {"23505", PG_E_OUTDATED},   {"42703", PG_E_OLD_TABLES},
               {"TDSTA", PG_E_OWNED},      {"TDFUL", PG_E_REFUSED},
               {"TDSCH", PG_E_REFUSED}};
  const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
  if (!state) return PG_E_LOST;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(state, known[i].state) == 0) return (int)known[i].error;
  }
  db_log(db, TIDINGS_LOG_ERROR, "store %s: %s", db->place.shown,
         PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
  return PG_E_REFUSED;
}

const char *pg_reason_of(int rc) {
  switch (rc) {
  case PG_E_LOST: return "the connection to the database broke; try again";
  case PG_E_LATE: return "the database did not answer in time; nothing was lost, try again";
  case PG_E_LOCKED: return "another writer has the session; nothing was lost, try again";
  case PG_E_READ_ONLY:
    return "the database is read-only (a standby?); name the primary, or add "
           "target_session_attrs=read-write to the URL";
  case PG_E_DENIED:
    return "the role may not do this; grant it the schema's role NAME_host, or NAME_producer if it "
           "only pushes (tidings push --create)";
  case PG_E_NO_SCHEMA:
    return "the schema is not one of tidings, or not for this role; run 'tidings store init URL', "
           "name another with ?schema=NAME, or grant the role NAME_host or NAME_producer";
  case PG_E_OLD_TABLES:
    return "its tables are not those of this build; run 'tidings store upgrade URL' of the newest "
           "build that uses it";
  case PG_E_DISK_FULL: return "the database's disk is full; free some space";
  case PG_E_NO_CONNECTION_LEFT:
    return "the database has no connection left; raise its max_connections, or end some clients";
  case PG_E_OUTDATED: return "another writer has changed the session; nothing was lost, try again";
  case PG_E_MOVED:
    return "the session was forgotten, or the store has gone back in time; nothing was done, try "
           "again";
  case PG_E_POOLED:
    return "a pooler gives each transaction another connection to the database; have it pool "
           "sessions (pgbouncer: pool_mode=session), or name the server itself";
  case PG_E_STARTING: return "the database is starting up or recovering; try again";
  default: return "the database refused it (see the log)";
  }
}

int db_failed(struct tidings_error *error, int rc, const char *what) {
  if (rc == ENOMEM) return fail(error, TIDINGS_E_NOMEM, "the store had no memory to %s", what);
  int code = rc == PG_E_LATE || rc == PG_E_LOCKED || rc == PG_E_OUTDATED || rc == PG_E_MOVED
                 ? TIDINGS_E_BUSY
                 : TIDINGS_E_STORE;
  return fail(error, code, "the store failed to %s: %s", what, pg_reason_of(rc));
}
