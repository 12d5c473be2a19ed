/* SPDX-License-Identifier: MIT
 *
 * store/maintenance_postgres/maintenance.c: implements maintenance/maintenance.h for a store in a
 * database: makes, upgrades and drops its tables. Everything else is the database's own task.
 */
#include <stdlib.h>

#include "common/error.h"
#include "store/db/postgres/tables.h"
#include "store/forget/forget.h"
#include "store/handle.h"
#include "store/maintenance/maintenance.h"

enum { MINUTE_MS = 60000, RECENT_MS = 60 * MINUTE_MS };

static int refuse(const char *instead, struct tidings_error *error) {
  return fail(error, TIDINGS_E_UNSUPPORTED, "this store is in a database: use %s", instead);
}

int maintenance_check(const char *from, struct maintenance_report *ret_report,
                      struct tidings_error *error) {
  struct maintenance_report report = {0};
  struct tables_counts counts;
  int code = tables_count(from, &counts, error);
  if (code) return code;
  report.layout = DB_LAYOUT;
  report.rows = counts.rows;
  report.sessions = counts.sessions;
  report.notifications = counts.notifications;
  report.messages = counts.messages;
  *ret_report = report;
  return 0;
}

int maintenance_backup(const char *from, const char *to, struct maintenance_report *ret_report,
                       struct tidings_error *error) {
  (void)from;
  (void)to;
  (void)ret_report;
  return refuse("pg_dump or the backup of its server", error);
}

int maintenance_salvage(const char *from, const char *to, bool also_stale,
                        struct maintenance_report *ret_report, struct tidings_error *error) {
  (void)from;
  (void)to;
  (void)also_stale;
  (void)ret_report;
  return refuse("the backup of its server", error);
}

int maintenance_migrate(const char *from, const char *to, struct maintenance_report *ret_report,
                        struct tidings_error *error) {
  (void)from;
  (void)to;
  (void)ret_report;
  return refuse("'tidings store upgrade URL'", error);
}

/* -- is it in use? ----------------------------------------------------------------------------- */

struct seeking {
  struct store *store;
  struct store_txn *txn;
  int64_t now_ms;
  struct tidings_error *error;
};

static int take_time(void *context, const struct transition *transition) {
  int64_t *acted_ms = context;
  if (transition->time_ms > *acted_ms) *acted_ms = transition->time_ms;
  return 0;
}

/* Returns when the session's host opened it, did something in a turn or showed something, whichever
 * was last. */
static int64_t find_act(struct store_txn *txn, uint32_t number, const struct head *head,
                        struct arena *arena) {
  int64_t acted_ms = head->attached_ms;
  struct delivery delivery;
  (void)transition_scan(txn, number, head->last_transition, arena, take_time, &acted_ms, NULL);
  if (!delivery_get(txn, number, head->last_delivery, arena, &delivery, NULL) &&
      delivery.leased_ms > acted_ms)
    acted_ms = delivery.leased_ms;
  return acted_ms;
}

/* An agent on another machine that calls hooks has no connection between two calls; then an act
 * within the hour shows that it lives. */
static int check_host(void *context, struct tidings_span name, uint32_t number) {
  const struct seeking *seeking = context;
  struct arena arena = ARENA_EMPTY;
  char machine[OWNER_MACHINE_BYTES];
  struct head head;
  int code = head_get(seeking->txn, number, &arena, &head, NULL);
  if (code || !head.owner.pid || owner_equal(&head.owner, store_self(seeking->store))) {
    arena_free(&arena);
    return 0; /* nobody else has it, or it is damaged */
  }
  int64_t ago_ms = seeking->now_ms - find_act(seeking->txn, number, &head, &arena);
  store_owner_machine(seeking->store, &head.owner, machine);
  if ((machine[0] && ago_ms < RECENT_MS) || store_owner_alive(seeking->store, &head.owner))
    code =
        fail(seeking->error, TIDINGS_E_STATE,
             "store %s is in use: the host with pid %u on %s%s has session %s, and acted "
             "%lld minutes ago; end it first, or execute the SQL of --dry-run",
             db_place(seeking->store->db), head.owner.pid, machine[0] ? "machine " : "this machine",
             machine, quote(name).text, (long long)(ago_ms / MINUTE_MS));
  arena_free(&arena);
  return code;
}

/* A damaged store has no sign of a host. */
static int check_hosts(const char *place, struct tidings_error *error) {
  const struct store_options options = {
      .directory = place, .create_budget_ms = MAINTENANCE_BUDGET_MS, .only_reads = true};
  struct seeking seeking = {.error = error};
  int code = store_open(&options, &seeking.store, error);
  if (!code)
    code = store_read(seeking.store, NULL, store_deadline_in(MAINTENANCE_BUDGET_MS), &seeking.txn,
                      error);
  if (code) {
    store_close(seeking.store);
    return code == TIDINGS_E_SCHEMA_NEWER || code == TIDINGS_E_BUSY ? code : 0;
  }
  seeking.now_ms = store_now(seeking.store, 0);
  code = session_scan(seeking.txn, check_host, &seeking, error);
  store_end(seeking.txn);
  store_close(seeking.store);
  return code;
}

int maintenance_tables(enum maintenance_tables task, const char *place, bool dry_run,
                       struct maintenance_report *ret_report, struct tidings_error *error) {
  static const enum tables_task tasks[] = {[MAINTENANCE_TABLES_INIT] = TABLES_INIT,
                                           [MAINTENANCE_TABLES_UPGRADE] = TABLES_UPGRADE,
                                           [MAINTENANCE_TABLES_DROP] = TABLES_DROP,
                                           [MAINTENANCE_TABLES_EMPTY] = TABLES_EMPTY};
  struct maintenance_report report = {.layout = DB_LAYOUT};
  int code = task == MAINTENANCE_TABLES_DROP && !dry_run ? check_hosts(place, error) : 0;
  if (!code) code = tables_do(tasks[task], place, dry_run ? &report.sql : NULL, error);
  if (!code) *ret_report = report;
  return code;
}

int maintenance_forget(const char *from, struct tidings_span session, bool dry_run,
                       struct maintenance_report *ret_report, struct tidings_error *error) {
  const struct store_options options = {
      .directory = from, .create_budget_ms = MAINTENANCE_BUDGET_MS, .only_reads = true};
  struct db_forgotten gone;
  struct store *store = NULL;
  int code = store_open(&options, &store, error);
  if (code) return tables_why(from, code, error);
  code = store_forget_session(store, session, dry_run, &gone, error);
  store_close(store);
  if (code) return code;
  *ret_report = (struct maintenance_report){.layout = DB_LAYOUT,
                                            .rows = gone.rows,
                                            .sessions = 1,
                                            .notifications = gone.notifications,
                                            .deliveries = gone.deliveries,
                                            .messages = gone.messages};
  return 0;
}
