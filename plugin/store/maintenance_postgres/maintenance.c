/* SPDX-License-Identifier: MIT
 *
 * store/maintenance_postgres/maintenance.c: implements maintenance/maintenance.h for a store in a
 * database: makes, upgrades and drops its tables. Everything else is the database's own task.
 */
#include <stdlib.h>

#include "common/error.h"
#include "store/db/postgres/tables.h"
#include "store/forget/forget.h"
#include "store/maintenance/maintenance.h"

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

int maintenance_tables(enum maintenance_tables task, const char *place, bool dry_run,
                       struct maintenance_report *ret_report, struct tidings_error *error) {
  static const enum tables_task tasks[] = {[MAINTENANCE_TABLES_INIT] = TABLES_INIT,
                                           [MAINTENANCE_TABLES_UPGRADE] = TABLES_UPGRADE,
                                           [MAINTENANCE_TABLES_DROP] = TABLES_DROP,
                                           [MAINTENANCE_TABLES_EMPTY] = TABLES_EMPTY};
  struct maintenance_report report = {.layout = DB_LAYOUT};
  int code = tables_do(tasks[task], place, dry_run ? &report.sql : NULL, error);
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
