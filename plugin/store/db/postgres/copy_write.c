/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/copy_write.c: writes a copy of a store: its rows, by the server's binary COPY,
 * and the tables that the engine keeps beside them.
 */
#include <stdlib.h>
#include <string.h>

#include "store/db/postgres/admin.h"
#include "store/db/postgres/copying.h"

enum { SENT_AT_ONCE = 1 << 16, FIELDS = 4 };

static void put_int4(struct buffer *out, int32_t value) {
  uint32_t be = htobe32((uint32_t)value);
  buffer_append(out, &be, sizeof be);
}

static void put_int2(struct buffer *out, int16_t value) {
  uint16_t be = htobe16((uint16_t)value);
  buffer_append(out, &be, sizeof be);
}

static void put_int8(struct buffer *out, uint64_t value) {
  uint64_t be = htobe64(value);
  put_int4(out, sizeof be);
  buffer_append(out, &be, sizeof be);
}

int pg_copying_begin(struct pg_copy *copy, struct tidings_error *error) {
  static const char header[] = "PGCOPY\n\377\r\n"; /* its NUL is part of it */
  PGresult *result = PQexec(copy->pg, "COPY live (session, kind, n, value) FROM STDIN BINARY");
  int code = PQresultStatus(result) == PGRES_COPY_IN
                 ? 0
                 : pg_admin_refuse(&copy->place, copy->pg, result, error);
  PQclear(result);
  buffer_append(&copy->rows, header, sizeof header);
  put_int4(&copy->rows, 0);
  put_int4(&copy->rows, 0);
  return code;
}

static int send_put(struct pg_copy *copy, struct tidings_error *error) {
  if (copy->rows.failed) return fail(error, TIDINGS_E_NOMEM, "no memory for a copy");
  bool sent = PQputCopyData(copy->pg, copy->rows.bytes, (int)copy->rows.len) == 1;
  copy->rows.len = 0;
  return sent ? 0 : pg_admin_refuse(&copy->place, copy->pg, NULL, error);
}

int pg_copy_put(struct pg_copy *copy, const struct db_key *key, struct tidings_span value,
                struct tidings_error *error) {
  struct buffer *out = &copy->rows;
  uint32_t session;
  uint64_t n;
  memcpy(&session, key->bytes, sizeof session);
  memcpy(&n, key->bytes + 5, sizeof n);
  put_int2(out, FIELDS);
  put_int8(out, be32toh(session));
  put_int4(out, 2);
  put_int2(out, key->bytes[4]);
  put_int8(out, be64toh(n) ^ (uint64_t)1 << 63);
  put_int4(out, (int32_t)value.len);
  buffer_span(out, value);
  return out->len < SENT_AT_ONCE && !out->failed ? 0 : send_put(copy, error);
}

int pg_copy_put_done(struct pg_copy *copy, struct tidings_error *error) {
  put_int2(&copy->rows, -1);
  int code = send_put(copy, error);
  if (code) return code;
  if (PQputCopyEnd(copy->pg, NULL) != 1)
    return pg_admin_refuse(&copy->place, copy->pg, NULL, error);
  for (PGresult *result; (result = PQgetResult(copy->pg));) {
    if (!code && PQresultStatus(result) != PGRES_COMMAND_OK)
      code = pg_admin_refuse(&copy->place, copy->pg, result, error);
    PQclear(result);
  }
  return code;
}

/* -- beside the rows --------------------------------------------------------------------------- */

/* All parameters and results are binary. `ret_found` may be NULL. */
static int run_with(struct pg_copy *copy, const char *sql, const Oid *types,
                    const struct pg_params *params, bool *ret_found, struct tidings_error *error) {
  int formats[PG_MOST_PARAMS];
  for (int i = 0; i < params->count; i++) formats[i] = 1;
  PGresult *result = PQexecParams(copy->pg, sql, params->count, types, params->values,
                                  params->lengths, formats, 1);
  ExecStatusType status = PQresultStatus(result);
  int code = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
                 ? 0
                 : pg_admin_refuse(&copy->place, copy->pg, result, error);
  if (!code && ret_found) *ret_found = PQntuples(result) > 0;
  PQclear(result);
  return code;
}

enum { BYTEA = 17, INT8 = 20, INT2 = 21, TEXT = 25 };

int pg_copy_name(struct pg_copy *copy, uint32_t session, struct tidings_span name,
                 struct tidings_error *error) {
  static const Oid types[] = {INT8, TEXT};
  struct pg_params params = {.count = 0};
  pg_param_int8(&params, session);
  pg_param_bytes(&params, name);
  return run_with(copy, "INSERT INTO session (session, name, version) VALUES ($1, $2, 1)", types,
                  &params, NULL, error);
}

/* Archives rows in the same way as the engine's commits. */
static int archive(struct pg_copy *copy, uint32_t session, const uint64_t *floors,
                   struct tidings_error *error) {
  int unused, code = 0;
  const Oid *types = pg_statement_types(PG_ARCHIVE, &unused);
  for (int kind = 0; kind < KINDS && !code; kind++) {
    struct pg_params params = {.count = 0};
    if (!floors[kind]) continue;
    pg_param_row(&params, session, (uint8_t)kind, floors[kind]);
    code = run_with(copy, pg_statement_text(PG_ARCHIVE), types, &params, NULL, error);
  }
  return code;
}

int pg_copy_session(struct pg_copy *copy, uint32_t session, const struct db_noted *noted,
                    struct tidings_span tools, const uint64_t *floors,
                    struct tidings_error *error) {
  static const Oid types[] = {INT8, INT8, BYTEA, TEXT, BYTEA, INT8};
  struct pg_params params = {.count = 0};
  uint8_t bytes[PG_OWNER_BYTES];
  uint64_t floors_be[KINDS];
  for (int i = 0; i < KINDS; i++) floors_be[i] = htobe64(floors[i]);
  pg_param_int8(&params, session);
  pg_param_int8(&params, (int64_t)noted->waiting);
  pg_owner_bytes(&noted->owner, bytes);
  if (noted->owner.pid) pg_param_bytes(&params, span_of((const char *)bytes, sizeof bytes));
  else pg_param_null(&params);
  if (tools.len) pg_param_bytes(&params, tools);
  else pg_param_null(&params);
  pg_param_bytes(&params, span_of((const char *)floors_be, sizeof floors_be));
  pg_param_int8(&params, noted->closed_ms);
  int code =
      run_with(copy,
               "UPDATE session SET waiting = $2, owner = $3, tools = $4::jsonb, floors = $5, "
               "closed_ms = $6, closed_version = version WHERE session = $1",
               types, &params, NULL, error);
  return code ? code : archive(copy, session, floors, error);
}

static void describe_event(const struct pg_copy_event *event, struct pg_params *params) {
  pg_param_int8(params, event->session);
  pg_param_bytes(params, event->source);
  pg_param_bytes(params, event->id);
  pg_param_int8(params, event->time_ms);
}

int pg_copy_see(struct pg_copy *copy, const struct pg_copy_event *event,
                struct tidings_error *error) {
  static const Oid types[] = {INT8, TEXT, TEXT, INT8, INT8};
  struct pg_params params = {.count = 0};
  describe_event(event, &params);
  pg_param_int8(&params, event->keep_ms);
  return run_with(
      copy,
      "INSERT INTO seen AS s SELECT name, $2, $3, $4, to_timestamp(least(($4::numeric + "
      "$5) / 1000, 1e11)) FROM session WHERE session = $1 ON CONFLICT (name, "
      "source, id) DO UPDATE SET at_ms = excluded.at_ms, until = excluded.until WHERE "
      "s.at_ms < excluded.at_ms",
      types, &params, NULL, error);
}

int pg_copy_saw(struct pg_copy *copy, const struct pg_copy_event *event, bool *ret_seen,
                struct tidings_error *error) {
  static const Oid types[] = {INT8, TEXT, TEXT, INT8};
  struct pg_params params = {.count = 0};
  describe_event(event, &params);
  return run_with(copy,
                  "SELECT FROM seen JOIN session USING (name) WHERE session = $1 AND source = $2 "
                  "AND id = $3 AND at_ms >= $4",
                  types, &params, ret_seen, error);
}
