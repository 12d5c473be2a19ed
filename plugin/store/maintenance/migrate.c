/* SPDX-License-Identifier: MIT
 *
 * maintenance/migrate.c: copies a store of an older layout row by row into a new one. This build
 * can read the rows of all released layouts.
 */
#include <errno.h>

#include "common/error.h"
#include "store/db/lmdb/files.h"
#include "store/maintenance/from.h"
#include "store/maintenance/target.h"

struct migration {
  const char *path, *to;
  struct maintenance_target target;
  struct maintenance_report report;
  struct tidings_error *error;
  struct arena arena;
  bool no_memory; /* a row may be sound, but there was no memory to decode it */
};

/* -- a row ------------------------------------------------------------------------------------- */

static bool is_readable(struct migration *migration, const struct db_key *key,
                        struct tidings_span record) {
  struct record_reader reader;
  struct head head;
  struct delivery delivery;
  struct item item;
  if (!record_open(&reader, key, record)) return false;
  switch (key->bytes[4]) {
  case ROW_HEAD: return head_decode(&reader, &migration->arena, &head, &migration->no_memory);
  case ROW_DELIVERY:
    return delivery_decode(&reader, &migration->arena, &delivery, &migration->no_memory);
  case ROW_ITEM: return item_decode(&reader, &item);
  default: return true;
  }
}

static int put(struct migration *migration, const struct db_key *key, struct tidings_span record) {
  maintenance_count(&migration->report, key);
  return maintenance_target_put(&migration->target, key, record, migration->error);
}

/* Errors: STATE, SCHEMA_NEWER, STORE. */
static int check_layout(const struct migration *migration, uint64_t layout) {
  if (layout > STORE_SCHEMA)
    return fail(migration->error, TIDINGS_E_SCHEMA_NEWER,
                "store %s has layout %llu, this build knows up to %d; use a newer tidings",
                migration->path, (unsigned long long)layout, STORE_SCHEMA);
  if (layout == STORE_SCHEMA)
    return fail(migration->error, TIDINGS_E_STATE,
                "store %s has layout %d, as this build does: there is nothing to migrate",
                migration->path, STORE_SCHEMA);
  if (layout >= DB_LAYOUT_FIRST_ROWS) return 0;
  return fail(migration->error, TIDINGS_E_STORE,
              "store %s has no layout that a release has written; recover what is in it with "
              "'tidings store "
              "salvage %s NEW'",
              migration->path, migration->path);
}

/* Begins the new store. `key` and `record`: the first row, which states the old store's layout. */
static int begin(struct migration *migration, const struct db_key *key,
                 struct tidings_span record) {
  const struct db_key first = row_key(0, ROW_META, 0);
  struct record_reader reader;
  struct store_txn *txn = NULL;
  bool says = memcmp(key, &first, sizeof first) == 0 && record_open(&reader, key, record);
  uint64_t layout = says ? record_read_u64(&reader) : 0, next = says ? record_read_u64(&reader) : 0;
  int code = check_layout(migration, layout);
  if (!code)
    code = maintenance_target_begin(&migration->target, migration->to, &migration->report,
                                    migration->error);
  if (!code) code = maintenance_target_txn(&migration->target, record.len, &txn, migration->error);
  if (code) return code;
  migration->report.layout = layout;
  migration->report.rows++;
  return meta_put_next(txn, next, migration->error);
}

static int migrate_row(void *context, const uint8_t *bytes, struct tidings_span record,
                       uint64_t page) {
  struct migration *migration = context;
  struct db_key key;
  int code = 0;
  (void)page;
  memcpy(key.bytes, bytes, sizeof key.bytes);
  if (!migration->report.layout) code = begin(migration, &key, record);
  else if (!record_format(&key, record)) migration->report.damaged++;
  else if (is_readable(migration, &key, record)) code = put(migration, &key, record);
  else if (migration->no_memory)
    code =
        fail(migration->error, TIDINGS_E_NOMEM, "no memory for a row of store %s", migration->path);
  else migration->report.left_out++;
  arena_free(&migration->arena);
  return code;
}

/* -- the store --------------------------------------------------------------------------------- */

static int migrate_rows(struct migration *migration, int fd) {
  struct walk walk;
  bool sound = walk_begin(&walk, fd, datafile_map_bytes());
  walk.visit = migrate_row;
  walk.context = migration;
  sound = sound && walk_run(&walk);
  int stopped = walk.stopped, err = walk.err;
  walk_end(&walk);
  if (sound || stopped) return stopped;
  if (err == ENOMEM)
    return fail(migration->error, TIDINGS_E_NOMEM, "no memory to read store %s", migration->path);
  return fail(
      migration->error, TIDINGS_E_STORE,
      "store %s: data.mdb is damaged: page %llu %s; recover what is left with 'tidings store "
      "salvage %s NEW'",
      migration->path, (unsigned long long)walk.page,
      walk.finding ? walk.finding : "cannot be read", migration->path);
}

int maintenance_migrate(const char *path, const char *to, struct maintenance_report *ret_report,
                        struct tidings_error *error) {
  struct migration migration = {.path = path, .to = to, .error = error};
  struct maintenance_from from;
  int code = maintenance_from_open(path, &from, error);
  if (code) return code;
  code = maintenance_from_unused(&from, error);
  if (!code) code = migrate_rows(&migration, from.data_fd);
  if (!code && !migration.report.layout) code = check_layout(&migration, 0);
  code = maintenance_target_end(&migration.target, code, error);
  maintenance_from_close(&from);
  if (!code) *ret_report = migration.report;
  return code;
}
