/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/scan.c: a read that looks at one session after the other, as lists do. From the
 * third session on, they are loaded in portions of a thousand; the first portion also loads which
 * owners are alive.
 */
#include <errno.h>
#include <stdlib.h>

#include "store/db/postgres/remote.h"

enum { MISSES_OF_A_LIST = 3, SESSIONS_AT_ONCE = 2048 };

static int by_its_number(const void *a, const void *b) {
  const struct pg_session *const *one = a, *const *other = b;
  return ((*one)->number > (*other)->number) - ((*one)->number < (*other)->number);
}

static struct pg_session *find_scanned(const struct pg_scan *scan, uint32_t number) {
  const struct pg_session wanted = {.number = number}, *key = &wanted;
  struct pg_session **found = scan->count ? bsearch(&key, scan->sessions, scan->count,
                                                    sizeof *scan->sessions, by_its_number)
                                          : NULL;
  return found ? *found : NULL;
}

static int add_scanned(struct pg_scan *scan, const PGresult *result, int row) {
  if (scan->count == scan->capacity) {
    size_t capacity = scan->capacity ? scan->capacity * 2 : SESSIONS_AT_ONCE;
    struct pg_session **larger = realloc(scan->sessions, capacity * sizeof(struct pg_session *));
    if (!larger) return ENOMEM;
    scan->sessions = larger;
    scan->capacity = capacity;
  }
  struct pg_session *session = pg_session_of_row(result, row);
  if (!session) return ENOMEM;
  scan->sessions[scan->count++] = session;
  if (session->number > scan->last) scan->last = session->number;
  return 0;
}

/* Takes the sessions of a portion, then their rows. `asked`: the number of sessions that were asked
 * for. */
static int take_portion(struct db *db, struct pg_scan *scan, const PGresult *result, size_t asked) {
  size_t before = scan->count;
  int rc = 0, row = 0, count = PQntuples(result);
  for (; !rc && row < count && pg_session_is_row(result, row); row++)
    rc = add_scanned(scan, result, row);
  scan->all = scan->count - before < asked;
  if (scan->count > before)
    qsort(scan->sessions, scan->count, sizeof *scan->sessions, by_its_number);
  for (; !rc && row < count; row++) {
    struct pg_session *session = find_scanned(scan, (uint32_t)pg_int8(result, row, 1));
    if (session) rc = pg_session_add_row(session, result, row);
  }
  for (size_t i = before; !rc && i < scan->count; i++) pg_session_sort_rows(db, scan->sessions[i]);
  return rc;
}

static int take_alive(struct pg_scan *scan, const PGresult *result) {
  scan->alive = calloc((size_t)PQntuples(result) + 1, sizeof *scan->alive);
  if (!scan->alive) return ENOMEM;
  for (int i = 0; i < PQntuples(result); i++)
    scan->alive[scan->alive_count++] = pg_int8(result, i, 0);
  return 0;
}

static int bring_portion(struct db_txn *txn, struct pg_scan *scan, size_t most) {
  struct pg_txn *engine = pg_engine(txn);
  struct pg_params params = {.count = 0};
  PGresult *results[2] = {NULL, NULL};
  bool first = !scan->alive;
  pg_param_int8(&params, scan->last);
  pg_param_int8(&params, (int64_t)most);
  int rc = pg_send(engine->conn, PG_SCAN, &params);
  if (!rc && first) rc = pg_send(engine->conn, PG_ALIVE, NULL);
  if (!rc) rc = pg_run(txn->db, engine->conn, engine->deadline, results, first ? 2 : 1);
  if (!rc) rc = take_portion(txn->db, scan, results[0], most);
  if (!rc && first) rc = take_alive(scan, results[1]);
  PQclear(results[0]);
  PQclear(results[1]);
  if (rc) engine->failing = true;
  return rc;
}

/* The scan of this thread, for the question whether an owner is alive. */
static _Thread_local const struct pg_scan *of_thread;

int pg_scan_find(struct db_txn *txn, uint32_t number, struct pg_session **ret_session) {
  struct pg_scan *scan = &pg_engine(txn)->scan;
  int rc = 0;
  *ret_session = NULL;
  if (txn->access != DB_READS || !number || ++scan->misses < MISSES_OF_A_LIST) return 0;
  of_thread = scan;
  while (!rc && !(*ret_session = find_scanned(scan, number)) && !scan->all)
    rc = bring_portion(txn, scan, SESSIONS_AT_ONCE);
  return rc;
}

static void drop_sessions(struct pg_scan *scan) {
  for (size_t i = 0; i < scan->count; i++) pg_session_free(scan->sessions[i]);
  scan->count = 0;
}

/* A forgotten session may have its own row and no others; it is not listed. A copied session that
 * got only pushes has items but no head. */
static bool has_rows(const struct pg_session *session) {
  return session->map.count && session->map.rows[0].n <= INT64_MAX;
}

int pg_scan_bring(struct db_txn *txn, uint32_t after, size_t most,
                  int (*each)(void *context, struct tidings_span name, uint32_t number),
                  void *context, uint32_t *ret_next, struct tidings_error *error) {
  struct pg_scan *scan = &pg_engine(txn)->scan;
  int rc = 0, code = 0;
  drop_sessions(scan);
  scan->last = after;
  scan->all = false;
  scan->misses = MISSES_OF_A_LIST;
  of_thread = scan;
  while (!rc && scan->count < most && !scan->all) {
    size_t rest = most - scan->count;
    rc = bring_portion(txn, scan, rest < SESSIONS_AT_ONCE ? rest : SESSIONS_AT_ONCE);
  }
  if (rc) return pg_fail_in(txn->db, rc, "list the sessions", error);
  for (size_t i = 0; !code && i < scan->count; i++) {
    const struct pg_session *session = scan->sessions[i];
    if (session->name && has_rows(session))
      code = each(context, span_text(session->name), session->number);
  }
  if (!code) *ret_next = scan->all ? 0 : scan->last;
  return code;
}

struct db_waiting pg_scan_waiting_of(struct db_txn *txn, uint32_t number) {
  const struct pg_session *session = find_scanned(&pg_engine(txn)->scan, number);
  return session ? session->waiting : (struct db_waiting){{0}};
}

bool pg_scan_knows_alive(int64_t lock, bool *ret_alive) {
  const struct pg_scan *scan = of_thread;
  if (!scan || !scan->alive) return false;
  *ret_alive = false;
  for (size_t i = 0; i < scan->alive_count && !*ret_alive; i++) *ret_alive = scan->alive[i] == lock;
  return true;
}

void pg_scan_free(struct pg_scan *scan) {
  if (of_thread == scan) of_thread = NULL;
  drop_sessions(scan);
  free(scan->sessions);
  free(scan->alive);
  *scan = (struct pg_scan){.count = 0};
}
