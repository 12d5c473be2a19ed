/* SPDX-License-Identifier: MIT
 *
 * store/care/backup.c: copies a store row by row as it is at one moment: from a snapshot, so that
 * other processes continue. Damaged rows are copied as they are, and counted.
 */
#include "common/error.h"
#include "store/care/from.h"
#include "store/care/target.h"

static int copy_row(struct care_target *target, const struct db_cursor *cursor,
                    struct care_report *report, struct tidings_error *error) {
  struct db_key key;
  memcpy(key.bytes, cursor->key, sizeof key.bytes);
  if (record_format(&key, cursor->value)) care_count(report, &key);
  else report->damaged++;
  return care_target_put(target, &key, cursor->value, error);
}

static int copy_rows(struct store *store, struct care_target *target, struct care_report *report,
                     struct tidings_error *error) {
  struct db_key first = {{0}};
  struct store_txn *txn = NULL;
  struct db_cursor cursor;
  int code = store_read(store, NULL, store_deadline_in(CARE_BUDGET_MS), &txn, error);
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

/* A folder that is no store is not made into one. */
static int check_there(const char *path, struct tidings_error *error) {
  struct care_from from;
  int code = care_from_open(path, &from, error);
  if (!code) care_from_close(&from);
  return code;
}

int care_backup(const char *from, const char *to, struct care_report *ret_report,
                struct tidings_error *error) {
  const struct store_options options = {
      .directory = from, .create_budget_ms = CARE_BUDGET_MS, .only_reads = true};
  struct care_report report = {.layout = STORE_SCHEMA};
  struct care_target target = {0};
  struct store *store = NULL;
  int code = check_there(from, error);
  if (code) return code;
  code = store_open(&options, &store, error);
  if (code) return code;
  code = care_target_begin(&target, to, &report, error);
  if (!code) code = copy_rows(store, &target, &report, error);
  code = care_target_end(&target, code, error);
  store_close(store);
  if (!code) *ret_report = report;
  return code;
}
