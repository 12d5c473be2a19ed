/* SPDX-License-Identifier: MIT
 *
 * maintenance/migrate.c: a store of an older layout, copied row by row into a new one. Layout 1 is
 * that of the builds before the first release. It had turns only in its last days: heads and
 * deliveries of before are read here; the rows of other kinds are what they are today.
 */
#include <errno.h>

#include "common/error.h"
#include "store/db/lmdb/files.h"
#include "store/maintenance/from.h"
#include "store/maintenance/target.h"

enum { OLDEST_LAYOUT = 1 };

struct migration {
  const char *path, *to;
  struct maintenance_target target;
  struct maintenance_report report;
  struct tidings_error *error;
  struct arena arena;
  bool no_memory; /* for a row, which then looked as if it could not be read */
};

/* -- layout 1 ---------------------------------------------------------------------------------- */

/* The head as today's reader wants it: the fields of layout 1 with zeros where later ones stand. */
static void translate_head(struct record_reader *old, struct buffer *out) {
  record_begin(out);
  for (int i = 0; i < 6; i++) record_u64(out, record_read_u64(old)); /* generation to epoch */
  uint64_t pid = record_read_u64(old);
  record_u64(out, pid);
  if (pid) {
    if (old->end - old->at < 16) old->bad = true;
    else buffer_append(out, old->at, 16);
    old->at += old->bad ? 0 : 16;
    record_u64(out, record_read_u64(old));
    record_u64(out, record_read_u64(old));
  }
  record_u64(out, 0);                    /* no former owners */
  record_i64(out, record_read_i64(old)); /* attached */
  record_i64(out, 0);                    /* not closed */
  record_bytes(out, span_of(NULL, 0));   /* cwd, host */
  record_bytes(out, span_of(NULL, 0));
  if (!old->bad) buffer_append(out, old->at, (size_t)(old->end - old->at)); /* taken to outcomes */
  const struct run idle = {0};
  run_encode(out, &idle);
  record_u64(out, 0);
  record_u64(out, 0);
}

/* `after` came later, and the messages. */
static void translate_delivery(struct record_reader *old, struct buffer *out) {
  const uint8_t *begin = old->at;
  for (int i = 0; i < 7; i++) (void)record_read_u64(old); /* epoch to source */
  const uint8_t *names = old->at;
  (void)record_read_bytes(old);
  (void)record_read_bytes(old);
  const uint8_t *dispositions = old->at;
  uint64_t after = 0, count = record_read_u64(old);
  for (uint64_t i = 0; !old->bad && i < count; i++) {
    after += record_read_u64(old) + (i > 0);
    after += record_read_u64(old);
    for (int k = 0; k < 3; k++) (void)record_read_u64(old);
  }
  if (old->bad) return;
  record_begin(out);
  buffer_append(out, begin, (size_t)(names - begin));
  record_u64(out, after);
  buffer_append(out, names, (size_t)(dispositions - names));
  buffer_append(out, dispositions, (size_t)(old->end - dispositions));
  record_u64(out, 0);
}

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

/* Makes today's record of an older one. False: it is not that either. */
static bool translate(struct migration *migration, const struct db_key *key,
                      struct tidings_span record, struct buffer *out) {
  struct record_reader old;
  if (!record_open(&old, key, record)) return false;
  if (key->bytes[4] == ROW_HEAD) translate_head(&old, out);
  if (key->bytes[4] == ROW_DELIVERY) translate_delivery(&old, out);
  if (!out->len) return false;
  record_end(out, key);
  return !old.bad && !out->failed && is_readable(migration, key, buffer_view(out));
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
  if (layout >= OLDEST_LAYOUT) return 0;
  return fail(
      migration->error, TIDINGS_E_STORE,
      "store %s does not say which layout it has; recover what is in it with 'tidings store "
      "salvage %s NEW'",
      migration->path, migration->path);
}

/* The first row of all says the layout: the new store is begun then. */
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
  struct buffer out = BUFFER_EMPTY;
  struct db_key key;
  int code = 0;
  (void)page;
  memcpy(key.bytes, bytes, sizeof key.bytes);
  if (!migration->report.layout) code = begin(migration, &key, record);
  else if (!record_format(&key, record)) migration->report.damaged++;
  else if (is_readable(migration, &key, record)) code = put(migration, &key, record);
  else if (translate(migration, &key, record, &out)) code = put(migration, &key, buffer_view(&out));
  else if (migration->no_memory || out.failed)
    code =
        fail(migration->error, TIDINGS_E_NOMEM, "no memory for a row of store %s", migration->path);
  else migration->report.left_out++;
  buffer_free(&out);
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
