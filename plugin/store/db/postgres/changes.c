/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/changes.c: the statements with which a commit writes what has changed in a
 * session: its row, its live rows, the rows that become history, and the pushes that it has taken
 * from its inbox.
 */
#include <errno.h>
#include <string.h>

#include "common/buffer.h"
#include "store/db/postgres/life.h"

enum { BYTEA = 17, INT8 = 20 };

static bool is_sent(const struct pg_row *row, bool fresh) {
  return row->dirty && row->fresh == fresh;
}

/* Sends the changed rows. `fresh`: inserts those that the server does not have. Otherwise inserts
 * or updates those that it may have. */
static int send_rows(struct pg_conn *conn, const struct pg_session *session, bool fresh) {
  struct buffer values = BUFFER_EMPTY;
  struct pg_keys keys;
  struct pg_params params = {.count = 0};
  size_t count = 0;
  int rc = 0;
  for (size_t i = 0; i < session->map.count; i++) count += is_sent(&session->map.rows[i], fresh);
  if (!count) return 0;
  pg_keys_begin(&keys, count);
  pg_array_begin(&values, BYTEA, count);
  for (size_t i = 0; i < session->map.count; i++) {
    const struct pg_row *row = &session->map.rows[i];
    if (!is_sent(row, fresh)) continue;
    pg_keys_add(&keys, row->kind, row->n);
    pg_array_add(&values, row->value, row->len);
  }
  pg_param_int8(&params, session->number);
  rc = pg_keys_param(&keys, &params);
  pg_param_bytes(&params, buffer_view(&values));
  if (values.failed) rc = ENOMEM;
  if (!rc) rc = pg_send(conn, fresh ? PG_PUT_FRESH : PG_PUT, &params);
  pg_keys_free(&keys);
  buffer_free(&values);
  return rc;
}

static int send_row(struct pg_conn *conn, enum pg_statement statement,
                    const struct pg_session *session, uint8_t kind, uint64_t n) {
  struct pg_params params = {.count = 0};
  pg_param_row(&params, session->number, kind, n);
  return pg_send(conn, statement, &params);
}

static int send_gone(const struct db *db, struct pg_conn *conn, const struct pg_session *session) {
  struct pg_keys keys;
  struct pg_params params = {.count = 0};
  if (!session->gone_count) return 0;
  pg_keys_begin(&keys, session->gone_count);
  for (size_t i = 0; i < session->gone_count; i++)
    pg_keys_add(&keys, session->gone[i].kind, session->gone[i].n);
  pg_param_int8(&params, session->number);
  int rc = pg_keys_param(&keys, &params);
  if (!rc) rc = pg_send(conn, PG_DELETE, &params);
  pg_keys_free(&keys);
  for (size_t i = 0; i < session->gone_count && !rc; i++) {
    const struct pg_gone *gone = &session->gone[i];
    if (db->kinds[gone->kind] == DB_KIND_ONCE ||
        (db->kinds[gone->kind] == DB_KIND_ENDS && gone->n < session->floors[gone->kind]))
      rc = send_row(conn, PG_DROP_HISTORY, session, gone->kind, gone->n);
  }
  return rc;
}

/* Returns the number below which the kind's rows become history. The newest row always stays live,
 * because the next number follows from it. If fewer than PG_FEW_ENDED rows have ended, they stay
 * live, because the statement costs more than they do. All rows stay live while there is no
 * partition for today. */
static uint64_t floor_after(const struct db *db, const struct pg_session *session, uint8_t kind) {
  const struct pg_map *map = &session->map;
  size_t first = pg_map_find(map, kind, 0), after = pg_map_find(map, kind + 1, 0);
  uint64_t floor = session->floors[kind];
  if (db->kinds[kind] != DB_KIND_ENDS || first == after || !pg_days_reach(db)) return floor;
  uint64_t newest = map->rows[after - 1].n;
  uint64_t ended = session->ended[kind] < newest ? session->ended[kind] : newest;
  bool moves = ended > floor && pg_map_find(map, kind, ended) - first >= PG_FEW_ENDED;
  return moves ? ended : floor;
}

/* All rows of the kinds that are written only once are archived too. */
static int send_archive(const struct db *db, struct pg_conn *conn, const struct pg_session *session,
                        const uint64_t floors[KINDS]) {
  enum pg_statement statement = session->rewritten ? PG_ARCHIVE_AGAIN : PG_ARCHIVE;
  bool any = false;
  int rc = 0;
  for (int kind = 0; kind < KINDS && !rc; kind++) {
    if (floors[kind] <= session->floors[kind]) continue;
    any = true;
    rc = send_row(conn, statement, session, (uint8_t)kind, floors[kind]);
  }
  for (int kind = 0; kind < KINDS && !rc && any; kind++) {
    if (db->kinds[kind] == DB_KIND_ONCE)
      rc = send_row(conn, PG_ARCHIVE, session, (uint8_t)kind, UINT64_MAX);
  }
  return rc;
}

/* Writes the session's row if it still has the version that was read. This locks the row, if it is
 * not locked yet. */
static int send_session(struct pg_conn *conn, const struct pg_session *session,
                        const uint64_t floors[KINDS], const struct pg_write *write) {
  struct pg_params params = {.count = 0};
  uint64_t sent[KINDS];
  uint8_t owner[PG_OWNER_BYTES];
  for (int i = 0; i < KINDS; i++) sent[i] = htobe64(floors[i]);
  pg_param_int8(&params, session->number);
  if (session->name) pg_param_bytes(&params, span_text(session->name));
  else pg_param_null(&params);
  pg_param_int8(&params, write->token);
  if (session->is_noted) pg_param_int8(&params, (int64_t)session->noted.waiting);
  else pg_param_null(&params);
  pg_owner_bytes(&session->noted.owner, owner);
  if (session->is_noted && session->noted.owner.pid)
    pg_param_bytes(&params, span_of((const char *)owner, sizeof owner));
  else pg_param_null(&params);
  if (session->tools) pg_param_bytes(&params, span_text(session->tools));
  else pg_param_null(&params);
  pg_param_bytes(&params, span_of((const char *)sent, sizeof sent));
  pg_param_bool(&params, session->tools_noted);
  pg_param_int8(&params, session->folded_rings + write->rings);
  pg_param_int8(&params, session->noted.closed_ms);
  if (session->exists) pg_param_int8(&params, session->version);
  else pg_param_null(&params);
  pg_param_bool(&params, write->first);
  return pg_send(conn, session->exists ? PG_SESSION : PG_SESSION_NEW, &params);
}

static int send_folded(struct pg_conn *conn, const struct pg_session *session) {
  struct buffer ns = BUFFER_EMPTY;
  struct pg_params params = {.count = 0};
  if (!session->folded_count) return 0;
  pg_array_begin(&ns, INT8, session->folded_count);
  for (size_t i = 0; i < session->folded_count; i++) {
    uint64_t n = htobe64((uint64_t)session->folded[i]);
    pg_array_add(&ns, &n, 8);
  }
  pg_param_bytes(&params, span_text(session->name));
  pg_param_bytes(&params, buffer_view(&ns));
  int rc = ns.failed ? ENOMEM : pg_send(conn, PG_CLEAR_INBOX, &params);
  buffer_free(&ns);
  return rc;
}

/* The session's row is the first: this locks it, if it is not locked yet. A session that is not
 * there and gets no name now was forgotten since this process looked up its number. */
int pg_session_send_changes(struct db *db, struct pg_conn *conn, struct pg_session *session,
                            const struct pg_write *write) {
  uint64_t floors[KINDS];
  if (session->number && !session->exists && !session->name) {
    pg_void(db);
    return PG_E_MOVED;
  }
  for (int i = 0; i < KINDS; i++) floors[i] = floor_after(db, session, (uint8_t)i);
  int rc = send_session(conn, session, floors, write);
  if (!rc) rc = send_rows(conn, session, true);
  if (!rc) rc = send_rows(conn, session, false);
  if (!rc) rc = send_gone(db, conn, session);
  if (!rc) rc = send_archive(db, conn, session, floors);
  memcpy(session->floors, floors, sizeof floors);
  return rc ? rc : send_folded(conn, session);
}
