/* SPDX-License-Identifier: MIT
 *
 * store/maintenance/check.c: walks through a store's file and checks the checksum of every row. A
 * store that is in use is read in a snapshot: no process reuses its pages before the snapshot ends.
 */
#include <errno.h>
#include <unistd.h>

#include "common/error.h"
#include "store/db/lmdb/files.h"
#include "store/db/lmdb/flush.h"
#include "store/db/lmdb/heads.h"
#include "store/maintenance/from.h"
#include "store/rows/rows.h"

static const char *const kinds[] = {
    [ROW_META] = "the store's own row",   [ROW_NAME] = "a session's name",
    [ROW_HEAD] = "a session's head",      [ROW_ITEM] = "a notification",
    [ROW_DELIVERY] = "a delivery",        [ROW_DEDUP] = "an event that was seen",
    [ROW_MEMORY] = "producers' memory",   [ROW_MESSAGE] = "a message",
    [ROW_CONTENT] = "a message's text",   [ROW_MESSAGE_ID] = "a message's id",
    [ROW_TRANSITION] = "a step of a run", [ROW_RATE] = "a count of pushes",
    [ROW_TOOLS] = "the kinds of a tool",  [ROW_DELIVERY_ID] = "a delivery's id",
    [ROW_OUTLINES] = "outlines of items"};

static const char *kind_name(const struct db_key *key) {
  uint8_t kind = key->bytes[4];
  return kind < sizeof kinds / sizeof *kinds && kinds[kind] ? kinds[kind] : "a row";
}

static void look_at_layout(struct maintenance_report *report, const struct db_key *key,
                           struct tidings_span value) {
  static const struct db_key first = {{0, 0, 0, 0, ROW_META}};
  struct record_reader reader;
  if (memcmp(key, &first, sizeof first) != 0 || !record_open(&reader, key, value)) return;
  report->layout = record_read_u64(&reader);
}

static int check_row(void *context, const uint8_t *bytes, struct tidings_span value,
                     uint64_t page) {
  struct maintenance_report *report = context;
  struct db_key key;
  memcpy(key.bytes, bytes, sizeof key.bytes);
  if (record_format(&key, value)) {
    maintenance_count(report, &key);
    look_at_layout(report, &key, value);
    return 0;
  }
  report->damaged++;
  maintenance_find(report, &page, "%s (session number %u, number %llu) has a wrong checksum",
                   kind_name(&key), row_key_session(bytes), (unsigned long long)row_key_n(bytes));
  return 0;
}

static void judge_layout(struct maintenance_report *report) {
  if (report->layout && report->layout < STORE_SCHEMA)
    maintenance_find(report, NULL,
                     "it has layout %llu, this build has %d: 'tidings store migrate' copies it",
                     (unsigned long long)report->layout, STORE_SCHEMA);
  else if (report->layout > STORE_SCHEMA)
    maintenance_find(report, NULL, "it has layout %llu, this build has %d: use a newer tidings",
                     (unsigned long long)report->layout, STORE_SCHEMA);
  else if (!report->layout && !report->finding_count)
    maintenance_find(report, NULL, "it does not say which layout it has");
}

static int run_walk(struct walk *walk, bool begun, const char *path,
                    struct maintenance_report *report, struct tidings_error *error) {
  walk->visit = check_row;
  walk->context = report;
  if (begun && walk_run(walk)) {
    judge_layout(report);
    return 0;
  }
  if (walk->err == ENOMEM)
    return fail(error, TIDINGS_E_NOMEM, "store %s: no memory to check it", path);
  if (walk->err)
    return fail(error, TIDINGS_E_STORE, "store %s: data.mdb cannot be read: %s", path,
                strerror(walk->err));
  /* This finding says why the walk ended, so it replaces the last one if the list is full. */
  if (report->finding_count == MAINTENANCE_FINDINGS) report->finding_count--;
  maintenance_find(report, &walk->page, "%s", walk->finding);
  return 0;
}

/* Reports what is wrong with the heads. False: a walk would begin at a head that does not count, or
 * end at one that is none. */
static bool judge_heads(struct heads *heads, const struct heads_verdict *verdict, bool older_right,
                        struct maintenance_report *report) {
  uint64_t newest = verdict->newest, other = 1 - newest;
  switch (verdict->judgement) {
  case HEADS_CUT:
    maintenance_find(
        report, &newest,
        "is the head of a commit that a power cut has cut off; opening the store gives "
        "it up, and nothing that was acknowledged is lost");
    return false;
  case HEADS_DAMAGED:
    maintenance_find(report, &newest, "is a head whose commit is not as it was written");
    return false;
  case HEADS_SPOILED:
    maintenance_find(report, &other,
                     "is no head, so the rest was not checked; opening the store writes it again");
    return false;
  default:
    if (!older_right && heads->head[other].state == HEAD_RIGHT)
      maintenance_find(report, &other,
                       "is the head before the newest, whose commit is not as it was written");
    return true;
  }
}

/* Checks the heads of a file that nobody writes. *ret_walk: a walk through its pages makes
 * sense. */
static int check_heads(int fd, uint64_t flushed, const char *path,
                       struct maintenance_report *report, bool *ret_walk,
                       struct tidings_error *error) {
  struct heads_verdict verdict = {.newest = 0};
  struct heads heads;
  bool older_right = true;
  int err = heads_read(&heads, fd, (uint64_t)sysconf(_SC_PAGESIZE), datafile_map_bytes());
  if (!err) err = heads_judge(&heads, flushed, false, &verdict);
  if (!err && verdict.judgement == HEADS_SOUND &&
      heads.head[1 - verdict.newest].state == HEAD_RIGHT)
    err = heads_check_pages(&heads, 1 - verdict.newest, &older_right);
  if (err)
    return fail(error, TIDINGS_E_STORE, "store %s: data.mdb cannot be read: %s", path,
                strerror(err));
  *ret_walk = judge_heads(&heads, &verdict, older_right, report);
  return 0;
}

static int check_alone(const struct maintenance_from *from, struct maintenance_report *report,
                       struct tidings_error *error) {
  struct walk walk;
  bool wanted = false;
  int code = check_heads(from->data_fd, recover_noted(from->directory_fd, from->data_fd),
                         from->path, report, &wanted, error);
  if (code || !wanted) return code;
  bool begun = walk_begin(&walk, from->data_fd, datafile_map_bytes());
  code = run_walk(&walk, begun, from->path, report, error);
  walk_end(&walk);
  return code;
}

/* Holds the writer lock, so that the head and the snapshot show the same moment. */
static int check_used(const char *path, struct maintenance_report *report,
                      struct tidings_error *error) {
  const struct store_options options = {
      .directory = path, .create_budget_ms = MAINTENANCE_BUDGET_MS, .only_reads = true};
  struct store *store = NULL;
  struct db_txn snapshot = {.touched_count = 0};
  struct walk walk;
  bool wanted = false;
  int code = store_open(&options, &store, error);
  if (code) return code;
  store_deadline deadline = store_deadline_in(MAINTENANCE_BUDGET_MS);
  code = shared_writer_lock(store->db, deadline, error);
  if (!code) {
    code = check_heads(store->db->data_fd, 0, path, report, &wanted, error);
    if (!code) code = db_read(store->db, NULL, deadline, &snapshot, error);
    bool begun = !code && walk_begin(&walk, store->db->data_fd, datafile_map_bytes());
    shared_writer_unlock(store->db);
    if (!code) {
      if (wanted) code = run_walk(&walk, begun, path, report, error);
      walk_end(&walk);
      db_end(&snapshot);
    }
  }
  store_close(store);
  return code;
}

int maintenance_check(const char *path, struct maintenance_report *ret_report,
                      struct tidings_error *error) {
  struct maintenance_report report = {.flushes = flush_is_single() ? 1 : 2};
  struct maintenance_from from;
  int code = maintenance_from_open(path, &from, error);
  if (code) return code;
  bool used = from.user;
  if (!used) code = check_alone(&from, &report, error);
  maintenance_from_close(&from);
  if (used) code = check_used(path, &report, error);
  if (!code) *ret_report = report;
  return code;
}
