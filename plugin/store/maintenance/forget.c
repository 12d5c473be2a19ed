/* SPDX-License-Identifier: MIT
 *
 * store/maintenance/forget.c: forgets a session of a store in a folder, which must exist.
 */
#include "store/forget/forget.h"
#include "store/maintenance/from.h"

static int forget_in(const char *path, struct tidings_span session, bool dry_run,
                     struct db_forgotten *ret_gone, struct tidings_error *error) {
  const struct store_options options = {
      .directory = path, .create_budget_ms = MAINTENANCE_BUDGET_MS, .only_reads = true};
  struct store *store = NULL;
  int code = store_open(&options, &store, error);
  if (code) return code;
  code = store_forget_session(store, session, dry_run, ret_gone, error);
  store_close(store);
  return code;
}

int maintenance_forget(const char *path, struct tidings_span session, bool dry_run,
                       struct maintenance_report *ret_report, struct tidings_error *error) {
  struct maintenance_from from;
  struct db_forgotten gone;
  int code = maintenance_from_open(path, &from, error);
  if (code) return code;
  maintenance_from_close(&from);
  code = forget_in(path, session, dry_run, &gone, error);
  if (code) return code;
  *ret_report = (struct maintenance_report){.rows = gone.rows,
                                            .sessions = 1,
                                            .notifications = gone.notifications,
                                            .deliveries = gone.deliveries,
                                            .messages = gone.messages};
  return 0;
}
