/* SPDX-License-Identifier: MIT
 *
 * store/maintenance/copy.c: writes a store in a folder as a file of rows, and makes a folder from
 * such a file. The new folder has another name until every row has been read back from it.
 */
#include "common/error.h"
#include "store/dump/dump.h"
#include "store/maintenance/from.h"
#include "store/maintenance/target.h"

/* -- a file of a store ------------------------------------------------------------------------- */

/* Turns a row of a file that an older build has written into a row of this build's layout. */
static struct tidings_span with_layout(const struct db_key *key, struct tidings_span value,
                                       struct buffer *buffer) {
  return meta_as(key, value, NULL, buffer) ? buffer_view(buffer) : value;
}

static int dump_rows(struct store_txn *txn, struct dump_writer *writer,
                     struct maintenance_report *report, struct tidings_error *error) {
  struct db_key first = {{0}};
  struct db_cursor cursor;
  int rc = db_cursor_open(txn->db, &cursor);
  if (rc) return db_failed(error, rc, "be read for a copy");
  rc = db_cursor_seek(&cursor, &first);
  while (!rc && cursor.key) {
    struct db_key key;
    memcpy(key.bytes, cursor.key, sizeof key.bytes);
    if (key.bytes[4] == ROW_OUTLINES) { /* only the engine that wrote outlines can use them */
      rc = db_cursor_next(&cursor);
      continue;
    }
    if (record_format(&key, cursor.value)) maintenance_count(report, &key);
    else report->damaged++;
    dump_row(writer, &key, cursor.value);
    rc = db_cursor_next(&cursor);
  }
  db_cursor_close(&cursor);
  return rc ? db_failed(error, rc, "be read for a copy") : 0;
}

/* The write transaction writes nothing: it only keeps others from writing until the last row is
 * read. */
static int dump_store(const char *from, struct dump_writer *writer,
                      struct maintenance_report *report, struct tidings_error *error) {
  const struct store_options options = {
      .directory = from, .create_budget_ms = MAINTENANCE_BUDGET_MS, .only_reads = true};
  struct store *store = NULL;
  struct store_txn *txn = NULL;
  int code = store_open(&options, &store, error);
  if (code) return code;
  code = store_write(store, NULL, store_deadline_in(MAINTENANCE_BUDGET_MS), &txn, error);
  if (!code) code = dump_rows(txn, writer, report, error);
  if (!code && report->damaged)
    code = fail(error, TIDINGS_E_STORE,
                "store %s: %llu rows have a wrong checksum; make it anew with 'tidings store "
                "salvage' first",
                from, (unsigned long long)report->damaged);
  store_end(txn);
  store_close(store);
  return code;
}

static int check_unused(const char *path, struct tidings_error *error) {
  struct maintenance_from from;
  int code = maintenance_from_open(path, &from, error);
  if (code) return code;
  code = maintenance_from_unused(&from, error);
  maintenance_from_close(&from);
  return code;
}

int maintenance_dump(const char *from, const char *to, struct maintenance_report *ret_report,
                     struct tidings_error *error) {
  struct maintenance_report report = {.layout = STORE_SCHEMA};
  struct dump_writer writer = {.file = NULL};
  int code = check_unused(from, error);
  if (!code) code = dump_begin(&writer, to, error);
  if (!code) code = dump_store(from, &writer, &report, error);
  code = dump_finish(&writer, code, error);
  if (!code) *ret_report = report;
  return code;
}

/* -- a store of a file ------------------------------------------------------------------------- */

/* Writes the row of an event, unless it was among the rows that were loaded. */
static int load_event(struct maintenance_target *target, const struct dump_event *event,
                      struct tidings_error *error) {
  struct store_txn *txn = NULL;
  bool seen = false;
  int code = maintenance_target_txn(target, event->source.len + event->id.len, &txn, error);
  if (!code)
    code = dedup_seen(txn, event->session, event->source, event->id, event->time_ms, INT64_MAX,
                      &seen, error);
  return code || seen ? code
                      : dedup_put(txn, event->session, event->source, event->id, event->time_ms,
                                  event->keep_ms, error);
}

static int load_entries(struct dump_reader *reader, struct maintenance_target *target,
                        struct maintenance_report *report, struct tidings_error *error) {
  struct dump_entry entry = {.kind = DUMP_ROW};
  struct buffer meta = BUFFER_EMPTY;
  int code = 0;
  while (!code && entry.kind != DUMP_END) {
    code = dump_next(reader, &entry, error);
    if (code || entry.kind == DUMP_END) continue;
    if (entry.kind == DUMP_EVENT) {
      code = load_event(target, &entry.event, error);
    } else {
      maintenance_count(report, &entry.key);
      code = maintenance_target_put(target, &entry.key, with_layout(&entry.key, entry.value, &meta),
                                    error);
    }
  }
  buffer_free(&meta);
  return code;
}

static int refuse_row(const char *to, const struct db_key *key, struct tidings_error *error) {
  return fail(error, TIDINGS_E_STORE,
              "the copy %s is not the same: row %llu of kind %u of session number %u; it was "
              "removed",
              to, (unsigned long long)row_key_n(key->bytes), key->bytes[4],
              row_key_session(key->bytes));
}

/* Is this the row of an event that was seen again later, so that one row stands for both times? */
static bool is_seen_later(const struct db_cursor *cursor, const struct dump_entry *entry) {
  struct dump_event there, here;
  return entry->key.bytes[4] == ROW_DEDUP && dump_event_of(&entry->key, cursor->value, &there) &&
         dump_event_of(&entry->key, entry->value, &here) && span_equal(there.id, here.id) &&
         span_equal(there.source, here.source) && there.time_ms > here.time_ms;
}

/* Only the rows of events may be in the copy without being in the file. */
static int verify_row(struct db_cursor *cursor, const char *to, const struct dump_entry *entry,
                      struct tidings_error *error) {
  struct buffer meta = BUFFER_EMPTY;
  int rc = 0, order = -1;
  while (!rc && cursor->key && (order = memcmp(cursor->key, entry->key.bytes, DB_KEY_BYTES)) < 0 &&
         cursor->key[4] == ROW_DEDUP)
    rc = db_cursor_next(cursor);
  if (rc) return db_failed(error, rc, "be read back");
  struct tidings_span wanted = with_layout(&entry->key, entry->value, &meta);
  bool same =
      cursor->key && !order && (span_equal(cursor->value, wanted) || is_seen_later(cursor, entry));
  buffer_free(&meta);
  if (!same) return refuse_row(to, &entry->key, error);
  rc = db_cursor_next(cursor);
  return rc ? db_failed(error, rc, "be read back") : 0;
}

static int verify_event(struct store_txn *txn, const char *to, const struct dump_entry *entry,
                        struct tidings_error *error) {
  const struct dump_event *event = &entry->event;
  bool seen = false;
  int code = dedup_seen(txn, event->session, event->source, event->id, event->time_ms, INT64_MAX,
                        &seen, error);
  return code || seen ? code : refuse_row(to, &entry->key, error);
}

static int verify_rows(struct dump_reader *reader, struct store_txn *txn, const char *to,
                       struct tidings_error *error) {
  struct db_key first = {{0}};
  struct dump_entry entry = {.kind = DUMP_ROW};
  struct db_cursor cursor;
  int rc = db_cursor_open(txn->db, &cursor);
  if (rc) return db_failed(error, rc, "be read back");
  rc = db_cursor_seek(&cursor, &first);
  int code = rc ? db_failed(error, rc, "be read back") : dump_rewind(reader, error);
  while (!code && entry.kind != DUMP_END) {
    code = dump_next(reader, &entry, error);
    if (!code && entry.kind == DUMP_ROW) code = verify_row(&cursor, to, &entry, error);
    if (!code && entry.kind == DUMP_EVENT) code = verify_event(txn, to, &entry, error);
  }
  db_cursor_close(&cursor);
  return code;
}

static int verify(struct dump_reader *reader, struct maintenance_target *target, const char *to,
                  struct tidings_error *error) {
  struct store_txn *txn = NULL;
  int code = maintenance_target_commit(target, error);
  if (!code)
    code = store_read(target->store, NULL, store_deadline_in(MAINTENANCE_BUDGET_MS), &txn, error);
  if (!code) code = verify_rows(reader, txn, to, error);
  store_end(txn);
  return code;
}

int maintenance_load(const char *from, const char *to, struct maintenance_report *ret_report,
                     struct tidings_error *error) {
  struct maintenance_report report = {.layout = STORE_SCHEMA};
  struct dump_reader reader = {.file = NULL};
  struct maintenance_target target = {0};
  int code = dump_open(&reader, from, error);
  if (!code) {
    code = maintenance_target_begin(&target, to, &report, error);
    if (!code) code = load_entries(&reader, &target, &report, error);
    if (!code) code = verify(&reader, &target, to, error);
    code = maintenance_target_end(&target, code, error);
  }
  dump_close(&reader);
  if (!code) *ret_report = report;
  return code;
}
