/* SPDX-License-Identifier: MIT
 *
 * store/maintenance/salvage.c: makes a new store from the intact rows of a damaged one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "store/maintenance/gather.h"
#include "store/maintenance/session.h"
#include "store/maintenance/target.h"

/* The name of a session's number. If several rows name the number, the row of the highest worth
 * counts. */
struct name {
  uint32_t number;
  const struct maintenance_row *row;
};

struct salvage {
  struct maintenance_rows rows;
  struct maintenance_target target;
  struct maintenance_report *report;
  bool also_stale;
  const struct maintenance_row **chosen; /* the best row of each key of a session, sorted by key */
  size_t chosen_count;
  struct name *names; /* sorted by number */
  size_t name_count;
  uint64_t next; /* how many sessions it has had, + 1 */
  struct buffer record;
};

/* -- choosing ---------------------------------------------------------------------------------- */

static bool read_row(struct salvage *salvage, const struct maintenance_row *row,
                     struct record_reader *ret_reader) {
  return maintenance_row_read(&salvage->rows, row, &salvage->record) &&
         record_open(ret_reader, &row->key, buffer_view(&salvage->record));
}

/* Takes the head that was written last, among the heads of one session that have the same worth. */
static const struct maintenance_row *newest_head(struct salvage *salvage,
                                                 const struct maintenance_row *rows, size_t count) {
  const struct maintenance_row *newest = rows;
  uint64_t generation = 0;
  for (size_t i = 0; i < count && rows[i].worth == rows[0].worth; i++) {
    struct record_reader reader;
    uint64_t this = read_row(salvage, &rows[i], &reader) ? record_read_u64(&reader) : 0;
    if (this <= generation) continue;
    generation = this;
    newest = &rows[i];
  }
  return newest;
}

static void take_name(struct salvage *salvage, const struct maintenance_row *row) {
  struct tidings_span name;
  uint32_t number;
  if (!maintenance_row_read(&salvage->rows, row, &salvage->record) ||
      !session_decode(&row->key, buffer_view(&salvage->record), &name, &number))
    return;
  salvage->names[salvage->name_count++] = (struct name){number, row};
}

/* Errors: SCHEMA_NEWER. */
static int take_own_row(struct salvage *salvage, const struct maintenance_row *row,
                        struct tidings_error *error) {
  struct record_reader reader;
  if (row_key_n(row->key.bytes) || !read_row(salvage, row, &reader)) return 0;
  uint64_t layout = record_read_u64(&reader), next = record_read_u64(&reader);
  if (layout > STORE_SCHEMA)
    return fail(error, TIDINGS_E_SCHEMA_NEWER,
                "the store has layout %llu, this build knows up to %d; use a newer tidings",
                (unsigned long long)layout, STORE_SCHEMA);
  salvage->report->layout = layout;
  if (next > salvage->next) salvage->next = next;
  return 0;
}

/* Chooses the best of all rows of one key. */
static int choose(struct salvage *salvage, const struct maintenance_row *rows, size_t count,
                  struct tidings_error *error) {
  uint8_t kind = rows->key.bytes[4];
  if (kind == ROW_META && rows->worth != MAINTENANCE_STALE)
    return take_own_row(salvage, rows, error);
  if (kind == ROW_NAME) take_name(salvage, rows);
  if (!row_key_session(rows->key.bytes)) return 0;
  if (rows->worth == MAINTENANCE_STALE) {
    /* A stale head is not used, because the deliveries know more. */
    if (kind == ROW_HEAD) return 0;
    salvage->report->stale += kind == ROW_ITEM || kind == ROW_MESSAGE;
    if (!salvage->also_stale) return 0;
  }
  salvage->chosen[salvage->chosen_count++] =
      kind == ROW_HEAD ? newest_head(salvage, rows, count) : rows;
  return 0;
}

static int compare_names(const void *a, const void *b) {
  const struct name *left = a, *right = b;
  if (left->number != right->number) return left->number < right->number ? -1 : 1;
  return (int)left->row->worth - (int)right->row->worth;
}

static int choose_all(struct salvage *salvage, struct tidings_error *error) {
  const struct maintenance_row *list = salvage->rows.list;
  size_t count = salvage->rows.count, end = 0;
  int code = 0;
  salvage->chosen = malloc((count + 1) * sizeof *salvage->chosen);
  salvage->names = malloc((count + 1) * sizeof *salvage->names);
  if (!salvage->chosen || !salvage->names)
    return fail(error, TIDINGS_E_NOMEM, "no memory for the rows of a store");
  for (size_t first = 0; !code && first < count; first = end) {
    for (end = first + 1; end < count; end++)
      if (memcmp(&list[end].key, &list[first].key, sizeof list->key) != 0) break;
    code = choose(salvage, &list[first], end - first, error);
  }
  if (!code && salvage->record.failed)
    code = fail(error, TIDINGS_E_NOMEM, "no memory for the rows of a store");
  qsort(salvage->names, salvage->name_count, sizeof *salvage->names, compare_names);
  return code;
}

/* -- writing ----------------------------------------------------------------------------------- */

static const struct maintenance_row *name_of(const struct salvage *salvage, uint32_t number) {
  size_t low = 0, high = salvage->name_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (salvage->names[middle].number < number) low = middle + 1;
    else high = middle;
  }
  bool found = low < salvage->name_count && salvage->names[low].number == number;
  return found ? salvage->names[low].row : NULL;
}

static int put_as_is(struct salvage *salvage, const struct maintenance_row *row,
                     struct tidings_error *error) {
  if (!maintenance_row_read(&salvage->rows, row, &salvage->record))
    return fail(error, TIDINGS_E_STORE, "the store cannot be read a second time");
  maintenance_count(salvage->report, &row->key);
  return maintenance_target_put(&salvage->target, &row->key, buffer_view(&salvage->record), error);
}

static int make_name(struct salvage *salvage, uint32_t number, struct tidings_error *error) {
  struct store_txn *txn = NULL;
  char name[32];
  (void)snprintf(name, sizeof name, "salvaged-%u", number);
  int code = maintenance_target_txn(&salvage->target, sizeof name, &txn, error);
  if (code) return code;
  salvage->report->made_names++;
  salvage->report->sessions++;
  salvage->report->rows++;
  return session_name(txn, span_text(name), number, error);
}

/* Writes the names from the file before the names that salvage makes up, so that the former keep
 * their places. */
static int put_names(struct salvage *salvage, struct tidings_error *error) {
  int code = 0;
  for (size_t i = 0; !code && i < salvage->name_count; i++) {
    const struct name *name = &salvage->names[i];
    if (i && name[-1].number == name->number) continue;
    if (name->row->worth != MAINTENANCE_STALE) code = put_as_is(salvage, name->row, error);
  }
  return code;
}

static int put_session(struct salvage *salvage, const struct maintenance_saved *saved,
                       struct tidings_error *error) {
  uint32_t number = row_key_session(saved->list[0]->key.bytes);
  const struct maintenance_row *name = name_of(salvage, number);
  int code = 0;
  if (!name) code = make_name(salvage, number, error);
  else if (name->worth == MAINTENANCE_STALE) code = put_as_is(salvage, name, error);
  return code ? code : maintenance_session_put(&salvage->target, saved, salvage->report, error);
}

static int put_sessions(struct salvage *salvage, struct tidings_error *error) {
  size_t end = 0;
  int code = 0;
  for (size_t first = 0; !code && first < salvage->chosen_count; first = end) {
    const struct maintenance_row *const *list = salvage->chosen + first;
    for (end = first + 1; end < salvage->chosen_count; end++)
      if (memcmp(&salvage->chosen[end]->key, &list[0]->key, sizeof(uint32_t)) != 0) break;
    const struct maintenance_saved saved = {&salvage->rows, list, end - first};
    code = put_session(salvage, &saved, error);
  }
  return code;
}

/* Writes the store's secret, and the row that says how far the sweep got. */
static int put_own_rows(struct salvage *salvage, struct tidings_error *error) {
  struct store_txn *txn = NULL;
  int code = 0;
  for (size_t i = 0; !code && i < salvage->rows.count; i++) {
    const struct maintenance_row *row = &salvage->rows.list[i];
    if (row_key_session(row->key.bytes) || row->key.bytes[4] != ROW_META) break;
    bool first = !i || memcmp(&row[-1].key, &row->key, sizeof row->key) != 0;
    if (first && row_key_n(row->key.bytes)) code = put_as_is(salvage, row, error);
  }
  if (!code) code = maintenance_target_txn(&salvage->target, sizeof(uint64_t), &txn, error);
  if (code) return code;
  salvage->report->rows++;
  if (salvage->next <= salvage->report->sessions) salvage->next = salvage->report->sessions + 1;
  return meta_put_next(txn, salvage->next, error);
}

static int write_store(struct salvage *salvage, const char *to, struct tidings_error *error) {
  int code = maintenance_target_begin(&salvage->target, to, salvage->report, error);
  if (!code) code = put_names(salvage, error);
  if (!code) code = put_sessions(salvage, error);
  if (!code) code = put_own_rows(salvage, error);
  return maintenance_target_end(&salvage->target, code, error);
}

int maintenance_salvage(const char *path, const char *to, bool also_stale,
                        struct maintenance_report *ret_report, struct tidings_error *error) {
  struct maintenance_report report = {0};
  struct salvage salvage = {.report = &report, .also_stale = also_stale, .next = 1};
  struct maintenance_from from;
  int code = maintenance_from_open(path, &from, error);
  if (code) return code;
  code = maintenance_from_unused(&from, error);
  if (!code) code = maintenance_gather(&from, &salvage.rows, error);
  report.damaged = salvage.rows.damaged;
  if (!code) code = choose_all(&salvage, error);
  if (!code) code = write_store(&salvage, to, error);
  free(salvage.names);
  free(salvage.chosen);
  buffer_free(&salvage.record);
  maintenance_rows_free(&salvage.rows);
  maintenance_from_close(&from);
  if (!code) *ret_report = report;
  return code;
}
