/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/statements.c: all statements: a connection prepares each before its first use.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "store/db/postgres/engine.h"

/* Selects a session by number ($1), by name ($2), or by both; with both, it must have both, because
 * after a failover or a restore the number may belong to another session. With an OR of the two, no
 * index would be used. */
#define IS_IT                                                                                      \
  "session = coalesce($1, (SELECT session FROM session WHERE name = $2)) AND ($2 IS NULL OR name " \
  "= $2)"

/* Live rows for each kind and number of two arrays, found by the index. Without OFFSET 0, a plan
 * that was made while the table was empty would read all rows of the session. */
#define EACH_OF(kinds, numbers, columns, whose)                                                    \
  "(SELECT unnest(" kinds "::smallint[]) AS k, unnest(" numbers "::bigint[]) AS m) AS wanted, "    \
  "LATERAL (SELECT " columns " FROM live WHERE " whose                                             \
  " AND kind = k AND n = m OFFSET 0) AS found"

/* In a commit, the statements that follow the one for the session's row have an effect only if that
 * row was written: see PG_SESSION. */
#define IF_WRITTEN "current_setting('tidings.written', true) = 'yes'"

/* FROM unnest(...) is not used, because it first copies each array into a temporary table. */
#define PUT                                                                                        \
  "INSERT INTO live SELECT $1, unnest($2::smallint[]), unnest($3::bigint[]), unnest($4::bytea[]) " \
  "WHERE " IF_WRITTEN

/* Reads the level in a push's record. The record begins with a format, the time (six bytes until
 * 2039, then seven), the ttl (at most six) and the level. */
#define LEVEL_OF_BODY                                                                              \
  "least(get_byte(body, CASE WHEN get_byte(body, 6) < 128 THEN 7 ELSE 8 END + CASE WHEN "          \
  "get_byte(body, CASE WHEN get_byte(body, 6) < 128 THEN 7 ELSE 8 END) < 128 THEN 1 WHEN "         \
  "get_byte(body, CASE WHEN get_byte(body, 6) < 128 THEN 8 ELSE 9 END) < 128 THEN 2 WHEN "         \
  "get_byte(body, CASE WHEN get_byte(body, 6) < 128 THEN 9 ELSE 10 END) < 128 THEN 3 WHEN "        \
  "get_byte(body, CASE WHEN get_byte(body, 6) < 128 THEN 10 ELSE 11 END) < 128 THEN 4 WHEN "       \
  "get_byte(body, CASE WHEN get_byte(body, 6) < 128 THEN 11 ELSE 12 END) < 128 THEN 5 ELSE 6 "     \
  "END), 3)"

/* Archives the rows of kind $2 with a number below $3. */
#define ARCHIVE                                                                                    \
  "WITH over AS (DELETE FROM live WHERE session = $1 AND kind = $2 AND n < $3 AND " IF_WRITTEN     \
  " RETURNING session, kind, n, value) INSERT INTO history (session, kind, n, value) SELECT * "    \
  "FROM over"

/* The changes that a commit makes in the session's row. The parameters are those of PG_SESSION. */
#define SESSION_CHANGES                                                                            \
  "version = s.version + 1, token = $3, waiting = coalesce($4, s.waiting), "                       \
  "owner = CASE WHEN $4::bigint IS NULL THEN s.owner ELSE $5 END, "                                \
  "tools = CASE WHEN $8 THEN $6::jsonb ELSE s.tools END, floors = $7, "                            \
  "closed_ms = CASE WHEN $4::bigint IS NULL THEN s.closed_ms ELSE $10 END, "                       \
  "closed_version = CASE WHEN $4::bigint IS NULL AND s.closed_version <> s.version "               \
  "THEN s.closed_version ELSE s.version + 1 END, name = coalesce(s.name, $2), rung = s.rung + $9"
#define NOTE_WRITTEN "RETURNING version, set_config('tidings.written', 'yes', true)"

static const char *const statements[PG_STATEMENTS] = {
    [PG_BEGIN] = "BEGIN",
    [PG_LIMITS] = "SELECT set_config('lock_timeout', $1, $2), "
                  "set_config('statement_timeout', $1, $2)",
    [PG_COMMIT] = "COMMIT",
    [PG_ROLLBACK] = "ROLLBACK",
    [PG_LOCK] = "SELECT token FROM session WHERE session = $1 FOR UPDATE",
    [PG_LOCK_NAMED] = "SELECT FROM session WHERE name = $1 FOR UPDATE",
    [PG_FENCE_OFF] = "UPDATE session SET version = version + 1, closed_version = closed_version + "
                     "(closed_version = version)::integer WHERE session = $1",
    /* Locks the session's row if it still has the version that was read; otherwise the following
     * statements do nothing. */
    [PG_LOCK_VERSION] = "SELECT count(*), set_config('tidings.written', CASE count(*) WHEN 1 THEN "
                        "'yes' ELSE 'no' END, true) FROM (SELECT FROM session WHERE session = $1 "
                        "AND version = $2 AND coalesce(name = $3, true) FOR UPDATE) AS same",
    [PG_LOCK_NAME] = "SELECT FROM name_lock WHERE n = abs(hashtext($1)::bigint % 64) FOR UPDATE",
    /* Locks a name in tables of schema 2. */
    [PG_LOCK_NAME_OLDER] = "SELECT pg_advisory_xact_lock(hashtext(current_schema()), hashtext($1))",
    /* Reads the few META rows of session 0, and the rows that were asked for. */
    [PG_OWN_ROWS] =
        "SELECT kind, n, value FROM live WHERE session = 0 AND kind = 1 UNION ALL "
        "SELECT kind, n, value FROM " EACH_OF("$1", "$2", "kind, n, value", "session = 0"),
    /* $1 number, $2 name, $3 the cached version, $4 the cached rows of the inbox */
    [PG_LOAD] = "SELECT 0::smallint, session, version, floors FROM session WHERE " IS_IT " "
                "UNION ALL SELECT -2::smallint, session, 0, convert_to(name, 'UTF8') FROM session "
                "WHERE session = $1 AND $2 IS NULL AND name IS NOT NULL "
                "UNION ALL SELECT -4::smallint, 0, "
                "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, NULL "
                "UNION ALL SELECT kind, 0, n, value FROM live WHERE session = "
                "(SELECT session FROM session WHERE " IS_IT " AND version <> $3) "
                "UNION ALL SELECT CASE WHEN rings THEN -3 ELSE -1 END::smallint, 0, n, body FROM "
                "(SELECT rings, n, body, sum(octet_length(body)) OVER (ORDER BY n ROWS UNBOUNDED "
                "PRECEDING) - octet_length(body) AS bytes_before FROM inbox WHERE name = "
                "coalesce($2, (SELECT name FROM session WHERE session = $1)) "
                "AND n <> ALL ($4) ORDER BY n LIMIT 1024) AS waiting WHERE bytes_before < 1048576",
    /* $1 number, $2 version. No row: it has another version. NULL: nothing waits. The whole row is
     * one column, because each further column costs time even if nothing waits. */
    [PG_LOOK] = "SELECT inbox FROM session LEFT JOIN inbox ON inbox.name = session.name "
                "WHERE session = $1 AND version = $2 AND session.name = $3 LIMIT 33",
    [PG_PUT] = PUT " ON CONFLICT (session, kind, n) DO UPDATE SET value = excluded.value",
    [PG_PUT_FRESH] = PUT,
    /* "session + 0" keeps the server from using the index a second time. The condition is needed if
     * the table has partitions, because rows of different partitions may have the same ctid. */
    [PG_DELETE] = "DELETE FROM live WHERE ctid = ANY (ARRAY(SELECT place FROM " EACH_OF(
        "$2", "$3", "ctid AS place", "session = $1") ")) AND session + 0 = $1 AND " IF_WRITTEN,
    [PG_ARCHIVE] = ARCHIVE,
    /* For rows that may be in the history already. */
    [PG_ARCHIVE_AGAIN] =
        ARCHIVE " ON CONFLICT (session, kind, n, day) DO UPDATE SET value = excluded.value",
    [PG_DROP_HISTORY] =
        "DELETE FROM history WHERE session = $1 AND kind = $2 AND n = $3 AND " IF_WRITTEN,
    /* Writes and locks the row if it has version $11. It writes nothing if the version differs, or
     * if PG_LOCK_VERSION, or the statement for the session before this one, found another version
     * ($12: this session is the first). Then the following statements do nothing, and the commit is
     * empty. There is no error, because the server would log it each time. */
    [PG_SESSION] =
        "UPDATE session AS s SET " SESSION_CHANGES " WHERE session = $1 AND version = $11 AND "
        "coalesce(name = $2, true) AND ($12 OR " IF_WRITTEN ") " NOTE_WRITTEN,
    /* The same for a session without a row; if another process has made the row meanwhile, its
     * version does not matter. */
    [PG_SESSION_NEW] =
        "INSERT INTO session AS s (session, name, version, token, waiting, owner, tools, floors, "
        "rung, closed_ms, closed_version) "
        "SELECT $1, $2, 1, $3, coalesce($4, 0), $5, $6::jsonb, $7, $9, $10, 1 WHERE ($12 "
        "OR " IF_WRITTEN ") ON CONFLICT (session) DO UPDATE SET " SESSION_CHANGES
        " WHERE coalesce(s.name = $2, true) " NOTE_WRITTEN,
    [PG_CLEAR_INBOX] =
        "DELETE FROM inbox WHERE name = $1 AND n = ANY ($2::bigint[]) AND " IF_WRITTEN,
    /* A row of history may have been written again; then the live row counts. */
    [PG_FETCH_ONE] =
        "SELECT value FROM (SELECT value, 'infinity'::date AS day FROM live WHERE session = $1 AND "
        "kind = $2 AND n = $3 UNION ALL SELECT value, day FROM history WHERE session = $1 AND "
        "kind = $2 AND n = $3) AS rows ORDER BY day DESC LIMIT 1",
    [PG_FETCH_RANGE] =
        "SELECT DISTINCT ON (n) n, value FROM (SELECT n, value, 'infinity'::date AS day FROM live "
        "WHERE session = $1 AND kind = $2 AND n >= $3 AND n < $4 UNION ALL SELECT n, value, day "
        "FROM history WHERE session = $1 AND kind = $2 AND n >= $3 AND n < $4) AS rows "
        "ORDER BY n, day DESC",
    [PG_PUSH] = "SELECT push_record($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
    /* Does what push_record does for most pushes. No row: call push_record. */
    [PG_PUSH_PLAIN] =
        "INSERT INTO inbox (name, body, counted, counted_at) SELECT $1, $2, coalesce(counted, 0), "
        "coalesce(counted_at, 0) FROM (SELECT) AS one LEFT JOIN session ON session.name = $1 "
        "LEFT JOIN LATERAL (SELECT n, CASE counted_at WHEN 0 THEN 1 ELSE counted END AS counted, "
        "CASE counted_at WHEN 0 THEN n ELSE counted_at END AS counted_at FROM inbox WHERE name = "
        "$1 ORDER BY inbox.n DESC LIMIT 1) AS newest ON true WHERE tools IS NULL AND "
        "coalesce(waiting, 0) + coalesce(counted + n - counted_at, 0) < $3 "
        "RETURNING n, counted, counted_at, (SELECT waiting FROM session WHERE name = $1)",
    /* The same for a client that knows that the session is far from full. */
    [PG_PUSH_NEXT] = "INSERT INTO inbox (name, body, counted, counted_at) VALUES ($1, $2, $3, $4)",
    /* The same when the estimate has become too uncertain: it counts the waiting pushes if there
     * are not too many. */
    [PG_PUSH_COUNT] =
        "INSERT INTO inbox (name, body, counted, counted_at) SELECT $1, $2, waits, newest FROM "
        "(SELECT count(*) AS waits, coalesce(max(n), 0) AS newest FROM (SELECT n FROM inbox WHERE "
        "name = $1 LIMIT 16385) AS few) AS counted WHERE waits <= 16384 AND waits < $3 AND NOT "
        "EXISTS (SELECT FROM session WHERE name = $1 AND (tools IS NOT NULL OR waiting + waits >= "
        "$3)) RETURNING n, counted, counted_at, (SELECT waiting FROM session WHERE name = $1)",
    [PG_NOTIFY] =
        "SELECT pg_notify('tidings_' || encode(substr(process, 17), 'hex'), $2) FROM waiter "
        "WHERE owner = $1 AND " IF_WRITTEN,
    [PG_SEEN] = "SELECT FROM seen WHERE name = $1 AND source = $2 AND id = $3 AND at_ms >= $4",
    [PG_NOTE_ID] = "INSERT INTO seen SELECT $1, $2, $3, $4, clock_timestamp() + $5 * interval "
                   "'1 ms' WHERE " IF_WRITTEN
                   " ON CONFLICT (name, source, id) DO UPDATE SET at_ms = excluded.at_ms, "
                   "until = excluded.until",
    [PG_RINGS] = "SELECT session, rung + (SELECT count(*) FROM inbox WHERE inbox.name = "
                 "session.name AND rings) FROM session WHERE owner = $1",
    /* Reads the clock and the store's own limits, which tables of schema 2 do not have. */
    [PG_CLOCK] =
        "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, " PG_STORE_LIMITS
        " FROM store",
    [PG_PUSH_CHECKED] = "SELECT push_as_producer($1, $2, $3, $4, $5, $6)",
    [PG_INBOX_NAMES] = "SELECT DISTINCT name FROM inbox LIMIT 1024",
    [PG_INBOX_NAMELESS] = "SELECT DISTINCT name FROM inbox WHERE NOT EXISTS (SELECT FROM session "
                          "WHERE session.name = inbox.name) LIMIT 128",
    [PG_FORGET] = "SELECT notifications, deliveries, messages, others, done FROM forget_some($1, "
                  "$2::integer, $3)",
    [PG_FORGET_COUNT] = "SELECT notifications, deliveries, messages, others FROM forget_count($1)",
    /* Reads at most $2 sessions after number $1, then their names, the counts of their inboxes, and
     * their rows, by the index. */
    [PG_SCAN] = "WITH these AS MATERIALIZED (SELECT session, name, version, floors FROM session "
                "WHERE session > $1 ORDER BY session LIMIT $2) SELECT 0::smallint, session, "
                "version, floors FROM these UNION ALL SELECT -2::smallint, session, 0, "
                "convert_to(name, 'UTF8') FROM these WHERE name IS NOT NULL UNION ALL SELECT "
                "(-8 - " LEVEL_OF_BODY ")::smallint, session, count(*), NULL FROM these, LATERAL "
                "(SELECT body FROM inbox WHERE inbox.name = these.name OFFSET 0) AS its GROUP BY "
                "1, 2 UNION ALL SELECT kind, session, n, value FROM these, LATERAL (SELECT kind, "
                "n, value FROM live WHERE live.session = these.session OFFSET 0) AS its",
    /* Each row has the name of a figure, its label, and its value. Only connections of roles that
     * may read the store are counted. */
    [PG_FIGURES] =
        "SELECT 'inbox', (" LEVEL_OF_BODY ")::text, count(*) FROM inbox GROUP BY 2 "
        "UNION ALL SELECT 'inbox_oldest_ms', '', floor(extract(epoch FROM min(pushed)) * 1000)::"
        "bigint FROM inbox HAVING count(*) > 0 UNION ALL SELECT 'connections', usename::text, "
        "count(*) FROM pg_stat_activity WHERE datname = current_database() AND usesysid IS "
        "NOT NULL AND has_schema_privilege(usesysid, current_schema(), 'USAGE') GROUP BY 2 "
        "UNION ALL SELECT 'standby_waits', '', count(*) FROM pg_stat_activity WHERE datname = "
        "current_database() AND wait_event = 'SyncRep' AND has_schema_privilege(usesysid, "
        "current_schema(), 'USAGE') UNION ALL SELECT 'bytes', '', "
        "sum(pg_total_relation_size(oid))::"
        "bigint FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE "
        "nspname = current_schema()) AND relkind = 'r'",
    [PG_DEAD_OF_SESSION] =
        "SELECT CASE WHEN reason = 'its ttl was over' THEN 'expired' ELSE 'dropped' END, reason, "
        "floor(extract(epoch FROM ended) * 1000)::bigint, body FROM (SELECT n, reason, ended, body "
        "FROM dead_letter WHERE name = $1 ORDER BY ended DESC, n DESC LIMIT $2) AS newest ORDER BY "
        "ended, n",
    [PG_DEAD_LETTERS] = "SELECT 'dead_letters', reason, count(*) FROM dead_letter GROUP BY reason",
    /* Reads the locks of all live owners, in the same way as PG_HAS_LOCK. */
    [PG_ALIVE] = "SELECT ('x' || right(application_name, 16))::bit(64)::bigint FROM "
                 "pg_stat_activity WHERE application_name ~ '^tidings alive [0-9a-f]{16}$' AND "
                 "datname = current_database() AND has_table_privilege(usesysid, 'session', "
                 "'UPDATE') UNION SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks AS "
                 "l JOIN pg_stat_activity AS a USING (pid) WHERE locktype = 'advisory' AND granted "
                 "AND database = datid AND has_table_privilege(usesysid, 'session', 'UPDATE')",
    /* Is an owner alive? A connection of a role that may write here has its lock, or the name for
     * its lock. */
    [PG_HAS_LOCK] = "SELECT FROM pg_stat_activity AS a WHERE has_table_privilege(usesysid, "
                    "'session', 'UPDATE') AND datname = current_database() AND (application_name = "
                    "$2 OR EXISTS (SELECT FROM pg_locks AS l WHERE l.pid = a.pid AND locktype = "
                    "'advisory' AND granted AND database = datid AND classid = ($1::bigint >> 32 & "
                    "4294967295)::oid AND objid = ($1::bigint & 4294967295)::oid)) LIMIT 1",
};

/* The server infers all other types. */
const Oid *pg_statement_types(enum pg_statement statement, int *ret_count) {
  enum {
    BOOL = 16,
    BYTEA = 17,
    INT8 = 20,
    INT2 = 21,
    TEXT = 25,
    INT8S = 1016,
    INT2S = 1005,
    BYTEAS = 1001
  };
  static const Oid text[] = {TEXT}, limits[] = {TEXT, BOOL}, load[] = {INT8, TEXT, INT8, INT8S},
                   plain[] = {TEXT, BYTEA, INT8, INT8}, put[] = {INT8, INT2S, INT8S, BYTEAS},
                   row[] = {INT8, INT2, INT8, INT8},
                   session[] = {INT8,  TEXT, INT8, INT8, BYTEA, TEXT,
                                BYTEA, BOOL, INT8, INT8, INT8,  BOOL},
                   inbox[] = {TEXT, INT8S}, seen[] = {TEXT, TEXT, TEXT, INT8, INT8},
                   notify[] = {BYTEA, TEXT}, owner[] = {BYTEA}, number[] = {INT8},
                   version[] = {INT8, INT8, TEXT},
                   push[] = {TEXT, TEXT, TEXT, BYTEA, INT8, INT8, INT8,
                             BOOL, TEXT, INT8, BOOL,  TEXT, TEXT},
                   alive[] = {INT8, TEXT}, scan[] = {INT8, INT8}, dead[] = {TEXT, INT8},
                   forget[] = {TEXT, INT8, BYTEA},
                   checked[] = {TEXT, TEXT, TEXT, BYTEA, INT8, BOOL};
#define TYPES(list, number) (*ret_count = (number), (list))
  switch (statement) {
  case PG_LIMITS: return TYPES(limits, 2);
  case PG_FORGET: return TYPES(forget, 3);
  case PG_FORGET_COUNT:
  case PG_LOCK_NAMED:
  case PG_LOCK_NAME:
  case PG_LOCK_NAME_OLDER: return TYPES(text, 1);
  case PG_LOOK:
  case PG_LOCK_VERSION: return TYPES(version, 3);
  case PG_LOAD: return TYPES(load, 4);
  case PG_OWN_ROWS: return TYPES(put + 1, 2);
  case PG_PUT:
  case PG_PUT_FRESH: return TYPES(put, 4);
  case PG_DELETE: return TYPES(put, 3);
  case PG_ARCHIVE:
  case PG_ARCHIVE_AGAIN:
  case PG_DROP_HISTORY:
  case PG_FETCH_ONE: return TYPES(row, 3);
  case PG_FETCH_RANGE: return TYPES(row, 4);
  case PG_SESSION:
  case PG_SESSION_NEW: return TYPES(session, 12);
  case PG_CLEAR_INBOX: return TYPES(inbox, 2);
  case PG_PUSH: return TYPES(push, 13);
  case PG_PUSH_COUNT:
  case PG_PUSH_PLAIN: return TYPES(plain, 3);
  case PG_PUSH_NEXT: return TYPES(plain, 4);
  case PG_DEAD_OF_SESSION: return TYPES(dead, 2);
  case PG_RINGS: return TYPES(owner, 1);
  case PG_SEEN: return TYPES(seen, 4);
  case PG_NOTE_ID: return TYPES(seen, 5);
  case PG_NOTIFY: return TYPES(notify, 2);
  case PG_HAS_LOCK: return TYPES(alive, 2);
  case PG_PUSH_CHECKED: return TYPES(checked, 6);
  case PG_SCAN: return TYPES(scan, 2);
  case PG_LOCK:
  case PG_FENCE_OFF: return TYPES(number, 1);
  default: return TYPES(NULL, 0);
  }
}

const char *pg_statement_text(enum pg_statement statement) { return statements[statement]; }

/* -- parameters -------------------------------------------------------------------------------- */

static void add_number(struct pg_params *params, uint64_t big_endian, int bytes) {
  params->numbers[params->count] = big_endian;
  params->values[params->count] = (const char *)&params->numbers[params->count];
  params->lengths[params->count++] = bytes;
}

void pg_param_int8(struct pg_params *params, int64_t value) {
  add_number(params, htobe64((uint64_t)value), 8);
}

/* A bigint has a sign, so the first bit is inverted to keep the order. */
void pg_param_row(struct pg_params *params, uint32_t session, uint8_t kind, uint64_t n) {
  uint64_t number = 0;
  uint16_t kind_be = htobe16(kind);
  memcpy(&number, &kind_be, sizeof kind_be);
  pg_param_int8(params, session);
  add_number(params, number, sizeof kind_be);
  pg_param_int8(params, (int64_t)(n ^ (uint64_t)1 << 63));
}

void pg_param_bool(struct pg_params *params, bool value) {
  uint64_t number = 0;
  memcpy(&number, &value, 1);
  add_number(params, number, 1);
}

void pg_param_bytes(struct pg_params *params, struct tidings_span bytes) {
  params->values[params->count] = bytes.ptr ? bytes.ptr : "";
  params->lengths[params->count++] = (int)bytes.len;
}

void pg_param_null(struct pg_params *params) {
  params->values[params->count] = NULL;
  params->lengths[params->count++] = 0;
}

int64_t pg_int8(const PGresult *result, int row, int column) {
  uint64_t number = 0;
  if (PQgetlength(result, row, column) == 8) memcpy(&number, PQgetvalue(result, row, column), 8);
  return (int64_t)be64toh(number);
}

int64_t pg_int_text(const PGresult *result, int row, int column) {
  return strtoll(PQgetvalue(result, row, column), NULL, 10);
}

void pg_array_begin(struct buffer *out, uint32_t type, size_t count) {
  uint32_t head[5] = {htobe32(count ? 1 : 0), 0, htobe32(type), htobe32((uint32_t)count),
                      htobe32(1)};
  buffer_append(out, head, count ? sizeof head : 12);
}

void pg_array_add(struct buffer *out, const void *bytes, size_t len) {
  uint32_t len_be = htobe32((uint32_t)len);
  buffer_append(out, &len_be, 4);
  buffer_append(out, bytes, len);
}

void pg_keys_begin(struct pg_keys *keys, size_t count) {
  enum { INT8 = 20, INT2 = 21 };
  *keys = (struct pg_keys){.kinds = BUFFER_EMPTY, .ns = BUFFER_EMPTY};
  pg_array_begin(&keys->kinds, INT2, count);
  pg_array_begin(&keys->ns, INT8, count);
}

void pg_keys_add(struct pg_keys *keys, uint8_t kind, uint64_t n) {
  uint16_t kind_be = htobe16(kind);
  uint64_t n_be = htobe64(n ^ (uint64_t)1 << 63);
  pg_array_add(&keys->kinds, &kind_be, sizeof kind_be);
  pg_array_add(&keys->ns, &n_be, sizeof n_be);
}

int pg_keys_param(const struct pg_keys *keys, struct pg_params *params) {
  pg_param_bytes(params, buffer_view(&keys->kinds));
  pg_param_bytes(params, buffer_view(&keys->ns));
  return keys->kinds.failed || keys->ns.failed ? ENOMEM : 0;
}

void pg_keys_free(struct pg_keys *keys) {
  buffer_free(&keys->kinds);
  buffer_free(&keys->ns);
}
