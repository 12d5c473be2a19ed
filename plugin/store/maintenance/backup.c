/* SPDX-License-Identifier: MIT
 *
 * store/maintenance/backup.c: copies a store row by row. It reads from a snapshot, so the copy
 * shows the store at one moment, and other processes can write meanwhile. Damaged rows are copied
 * as they are, and counted.
 */
#include "common/error.h"
#include "store/maintenance/from.h"
#include "store/maintenance/target.h"

static int copy_row(struct maintenance_target *target, const struct db_cursor *cursor,
                    struct maintenance_report *report, struct tidings_error *error) {
  struct db_key key;
  memcpy(key.bytes, cursor->key, sizeof key.bytes);
  if (record_format(&key, cursor->value)) maintenance_count(report, &key);
  else report->damaged++;
  const uint64_t incarnation = target->store->life.incarnation;
  struct buffer meta = BUFFER_EMPTY;
  bool first = meta_as(&key, cursor->value, &incarnation, &meta);
  int code =
      maintenance_target_put(target, &key, first ? buffer_view(&meta) : cursor->value, error);
  buffer_free(&meta);
  return code;
}

static int copy_rows(struct store *store, struct maintenance_target *target,
                     struct maintenance_report *report, struct tidings_error *error) {
  struct db_key first = {{0}};
  struct store_txn *txn = NULL;
  struct db_cursor cursor;
  int code = store_read(store, NULL, store_deadline_in(MAINTENANCE_BUDGET_MS), &txn, error);
  if (code) return code;
  int rc = db_cursor_open(txn->db, &cursor);
  if (!rc) {
    rc = db_cursor_seek(&cursor, &first);
    while (!rc && !code && cursor.key) {
      code = copy_row(target, &cursor, report, error);
      if (!code) rc = db_cursor_next(&cursor);
    }
    db_cursor_close(&cursor);
  }
  store_end(txn);
  return rc ? db_failed(error, rc, "be read for a copy") : code;
}

/* Refuses a folder without a store, because opening it would make one. */
static int check_there(const char *path, struct tidings_error *error) {
  struct maintenance_from from;
  int code = maintenance_from_open(path, &from, error);
  if (!code) maintenance_from_close(&from);
  return code;
}

int maintenance_backup(const char *from, const char *to, struct maintenance_report *ret_report,
                       struct tidings_error *error) {
  const struct store_options options = {
      .directory = from, .create_budget_ms = MAINTENANCE_BUDGET_MS, .only_reads = true};
  struct maintenance_report report = {.layout = STORE_SCHEMA};
  struct maintenance_target target = {0};
  struct store *store = NULL;
  int code = check_there(from, error);
  if (code) return code;
  code = store_open(&options, &store, error);
  if (code) return code;
  code = maintenance_target_begin(&target, to, &report, error);
  if (!code) code = copy_rows(store, &target, &report, error);
  code = maintenance_target_end(&target, code, error);
  store_close(store);
  if (!code) *ret_report = report;
  return code;
}
