/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_maintenance.c: a store is checked and copied, also while
 * another process uses it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "maintenance_kit.h"
#include "store/dump/dump.h"
#include "store/maintenance/target.h"

TestSuite(maintenance, .init = kit_begin, .fini = kit_end, .timeout = 300);

/* -- check ------------------------------------------------------------------------------------- */

Test(maintenance, a_sound_store_has_no_finding) {
  make_store();
  expect_sound(kit_store);
  cr_assert_eq(report.notifications, 405);
  cr_assert_eq(report.sessions, 2);
  cr_assert_eq(report.layout, STORE_SCHEMA);
}

Test(maintenance, rows_with_a_wrong_checksum_are_found) {
  make_store();
  struct store *store = store_at(kit_store);
  const struct db_key item = row_key(1, ROW_ITEM, 77);
  put_raw(store, &item, span_text("spoiled"));
  store_close(store);
  expect_done(maintenance_check(kit_store, &report, &why));
  cr_assert_eq(report.damaged, 1);
  cr_assert_eq(report.finding_count, 1);
  cr_assert(strstr(report.findings[0].text, "a notification (session number 1, number 77)"), "%s",
            report.findings[0].text);
}

Test(maintenance, a_damaged_page_is_found_and_names_the_command_at_open) {
  make_store();
  struct bytes bytes = read_bytes_of(kit_store);
  const struct store_options options = {.directory = kit_store};
  struct store *store = NULL;
  long page = (root_page(&bytes) - bytes.at) / PAGE;
  free(bytes.at);
  zero_root(kit_store);
  expect_done(maintenance_check(kit_store, &report, &why));
  cr_assert_eq(report.finding_count, 1);
  cr_assert(report.findings[0].has_page);
  cr_assert_eq(report.findings[0].page, (uint64_t)page);
  expect_refused(store_open(&options, &store, &why), TIDINGS_E_STORE, "tidings store salvage");
}

static int push_and_vanish(struct child *self, void *context) {
  (void)self;
  (void)context;
  struct store *store = store_at(kit_store);
  say_well(store, "s", "the newest but one");
  say_well(store, "s", "the newest");
  return 0; /* without a close, so the digests of both commits stay */
}

static void make_store_of_a_crash(void) {
  make_store();
  struct child child = child_start(push_and_vanish, NULL);
  cr_assert_eq(child_wait(&child), 0);
  expect_sound(kit_store);
}

static unsigned newest_of(const struct bytes *bytes) {
  return page_u64(bytes->at + PAGE, HEAD_TRANSACTION_AT) > page_u64(bytes->at, HEAD_TRANSACTION_AT);
}

/* Zeroes the root of a head's tree of rows, which its commit has written. */
static void zero_root_of(struct bytes *bytes, unsigned head) {
  const uint8_t *at = bytes->at + (size_t)head * PAGE;
  memset(bytes->at + page_u64(at, HEAD_TREES_AT + TREE_BYTES + TREE_ROOT_AT) * PAGE, 0, PAGE);
}

static void expect_finding(uint64_t page, const char *says) {
  expect_done(maintenance_check(kit_store, &report, &why));
  cr_assert_eq(report.finding_count, 1);
  cr_assert(strstr(report.findings[0].text, says), "%s", report.findings[0].text);
  cr_assert_eq(report.findings[0].page, page);
}

Test(maintenance, a_spoiled_head_is_found_and_an_open_writes_it_again) {
  make_store();
  struct bytes bytes = read_bytes_of(kit_store);
  unsigned older = 1 - newest_of(&bytes);
  memset(bytes.at + (size_t)older * PAGE, 0, PAGE);
  write_bytes_of(&bytes);
  expect_finding(older, "is no head, so the rest was not checked");
  expect_pending(kit_store, "s", 370);
  expect_sound(kit_store);
}

Test(maintenance, a_commit_that_was_cut_off_is_found_and_an_open_gives_it_up) {
  make_store_of_a_crash();
  struct bytes bytes = read_bytes_of(kit_store);
  unsigned newest = newest_of(&bytes);
  zero_root_of(&bytes, newest);
  write_bytes_of(&bytes);
  expect_finding(newest, "is a head whose commit is not as it was written");
  cr_assert_eq(unlink(kit_path("store/shared")), 0); /* now nothing says that it was flushed */
  expect_finding(newest, "cut off");
  expect_pending(kit_store, "s", 371);
  expect_sound(kit_store);
}

Test(maintenance, damage_of_the_commit_before_the_newest_is_found) {
  make_store_of_a_crash();
  struct bytes bytes = read_bytes_of(kit_store);
  unsigned older = 1 - newest_of(&bytes);
  zero_root_of(&bytes, older);
  write_bytes_of(&bytes);
  expect_finding(older, "is the head before the newest");
  cr_assert_eq(report.notifications, 407);
}

Test(maintenance, what_is_no_store_is_not_made_one) {
  expect_refused(maintenance_check(kit_store, &report, &why), TIDINGS_E_NOT_FOUND,
                 "no such folder");
  expect_refused(maintenance_backup(kit_folder, to_path(), &report, &why), TIDINGS_E_NOT_FOUND,
                 "no file data.mdb");
  cr_assert_eq(symlink("/dev/null", kit_path("data.mdb")), 0);
  expect_refused(maintenance_backup(kit_folder, to_path(), &report, &why), TIDINGS_E_STORE,
                 "it is a symbolic link");
  cr_assert(!unlink(kit_path("data.mdb")) && !mkdir(kit_path("data.mdb"), 0700));
  expect_refused(maintenance_backup(kit_folder, to_path(), &report, &why), TIDINGS_E_STORE,
                 "data.mdb is not a file");
  cr_assert_neq(access(to_path(), F_OK), 0);
}

/* -- another process that uses the store ------------------------------------------------------- */

enum { STORM_MOST = 5000 };
struct storm {
  uint64_t *pushed; /* shared */
};

static int push_on(struct child *self, void *context) {
  struct storm *storm = context;
  struct store *store = store_at(kit_store);
  child_signal_test(self);
  while (getppid() != 1 && *storm->pushed < STORM_MOST) {
    say_well(store, "s", "m");
    __atomic_add_fetch(storm->pushed, 1, __ATOMIC_SEQ_CST);
  }
  child_await_test(self); /* a slow machine has not checked it 20 times by now */
  return 0;
}

static uint64_t *shared_number(void) {
  void *memory =
      mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  cr_assert_neq(memory, MAP_FAILED);
  return memory;
}

Test(maintenance, a_store_in_use_is_checked_and_copied) {
  struct storm storm = {shared_number()};
  struct child child = child_start(push_on, &storm);
  child_await(&child);
  for (int i = 0; i < 20; i++) {
    char to[320];
    (void)snprintf(to, sizeof to, "%s-%d", to_path(), i);
    expect_sound(kit_store);
    uint64_t before = __atomic_load_n(storm.pushed, __ATOMIC_SEQ_CST);
    expect_done(maintenance_backup(kit_store, to, &report, &why));
    uint64_t after = __atomic_load_n(storm.pushed, __ATOMIC_SEQ_CST) + 1;
    cr_assert_eq(report.damaged, 0);
    expect_sound(to);
    cr_assert(report.notifications >= before && report.notifications <= after,
              "%llu, of %llu to %llu", (unsigned long long)report.notifications,
              (unsigned long long)before, (unsigned long long)after);
    expect_pending(to, "s", (size_t)report.notifications);
  }
  expect_refused(maintenance_salvage(kit_store, to_path(), false, &report, &why), TIDINGS_E_STATE,
                 "is in use by process");
  char pid[32];
  (void)snprintf(pid, sizeof pid, "process %d;", (int)child.pid);
  cr_assert(strstr(why.text, pid), "%s", why.text);
  expect_refused(maintenance_migrate(kit_store, to_path(), &report, &why), TIDINGS_E_STATE, pid);
  child_kill(&child);
}

/* -- a file of rows ---------------------------------------------------------------------------- */

/* Writes the file again, with an event more. */
static void add_event(const char *from, const char *to, const struct dump_event *event) {
  struct dump_reader reader = {.file = NULL};
  struct dump_entry entry = {.kind = DUMP_ROW};
  struct dump_writer writer;
  expect_done(dump_open(&reader, from, &why));
  expect_done(dump_begin(&writer, to, &why));
  for (;;) {
    expect_done(dump_next(&reader, &entry, &why));
    if (entry.kind != DUMP_ROW) break;
    dump_row(&writer, &entry.key, entry.value);
  }
  expect_done(dump_event(&writer, event, &why));
  expect_done(dump_finish(&writer, 0, &why));
  dump_close(&reader);
}

/* A host has seen it, and it was pushed to the database again after its window. */
Test(maintenance, an_event_that_a_file_has_twice_counts_by_its_later_time) {
  struct dump_event event = {.session = 1,
                             .time_ms = 1000,
                             .keep_ms = 500,
                             .source = span_text("ci"),
                             .id = span_text("7")};
  struct store_txn *txn;
  bool seen = false;
  make_store();
  struct store *store = store_at(kit_store);
  expect_done(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &why));
  expect_done(dedup_put(txn, 1, event.source, event.id, event.time_ms, event.keep_ms, &why));
  expect_done(store_commit(txn, &why));
  store_close(store);
  expect_done(maintenance_dump(kit_store, kit_path("rows"), &report, &why));
  event.time_ms = 5000;
  add_event(kit_path("rows"), kit_path("more"), &event);
  expect_done(maintenance_load(kit_path("more"), to_path(), &report, &why));
  expect_pending(to_path(), "s", 370);
  store = store_at(to_path());
  expect_done(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &why));
  expect_done(dedup_seen(txn, 1, event.source, event.id, 5000, INT64_MAX, &seen, &why));
  store_end(txn);
  store_close(store);
  cr_assert(seen);
}

/* -- backup ------------------------------------------------------------------------------------ */

Test(maintenance, a_backup_overwrites_nothing) {
  struct stat entry;
  make_store();
  cr_assert_eq(symlink("/dev/null", kit_path("to.unfinished")), 0);
  expect_refused(maintenance_backup(kit_store, to_path(), &report, &why), TIDINGS_E_STATE,
                 "to.unfinished is there, and is not a folder; move it away");
  cr_assert_eq(unlink(kit_path("to.unfinished")), 0);
  expect_refused(maintenance_backup(kit_store, kit_store, &report, &why), TIDINGS_E_STATE,
                 "not empty");
  cr_assert_eq(mkdir(to_path(), 0700), 0);
  expect_done(
      maintenance_backup(kit_store, to_path(), &report, &why)); /* an empty folder is fine */
  cr_assert_eq(report.notifications, 405);
  cr_assert_eq(stat(to_path(), &entry), 0);
  cr_assert_eq(entry.st_mode & 07777, 0700);
  expect_refused(maintenance_backup(kit_store, to_path(), &report, &why), TIDINGS_E_STATE,
                 "not empty");
  expect_sound(to_path());
  expect_pending(to_path(), "s", 370);
  expect_pending(to_path(), "t", 5);
}

/* -- a run that was killed --------------------------------------------------------------------- */

static const char *unfinished_path(void) {
  static char path[320];
  (void)snprintf(path, sizeof path, "%s.unfinished", to_path());
  return path;
}

static const char *mark_path(const char *store) {
  static char path[400];
  (void)snprintf(path, sizeof path, "%s/unfinished", store);
  return path;
}

/* A run that has just begun. */
static int begin_and_wait(struct child *self, void *context) {
  struct maintenance_target target = {0};
  struct maintenance_report begun = {0};
  struct tidings_error error = new_error();
  (void)context;
  if (maintenance_target_begin(&target, to_path(), &begun, &error)) return 1;
  child_signal_test(self);
  child_await_test(self);
  return 0;
}

Test(maintenance, what_a_killed_run_left_is_taken_away) {
  make_store();
  struct child child = child_start(begin_and_wait, NULL);
  child_await(&child);
  expect_refused(maintenance_backup(kit_store, to_path(), &report, &why), TIDINGS_E_STATE,
                 "is just being made by process");
  cr_assert_eq(access(unfinished_path(), F_OK), 0);
  child_kill(&child);
  expect_done(maintenance_backup(kit_store, to_path(), &report, &why));
  cr_assert(report.took_away);
  cr_assert_neq(access(unfinished_path(), F_OK), 0);
  expect_sound(to_path());
  expect_pending(to_path(), "s", 370);
}

/* The linker sends calls here (see CMakeLists.txt), so that a process waits before its next call;
 * NULL: it does not wait. */
static const struct child *waits_to_open, *waits_to_move;

static void wait_once(const struct child **self) {
  const struct child *child = *self;
  *self = NULL;
  if (!child) return;
  child_signal_test(child);
  child_await_test(child);
}

int __real_store_open(const struct store_options *options, struct store **ret_store,
                      struct tidings_error *error);
int __wrap_store_open(const struct store_options *options, struct store **ret_store,
                      struct tidings_error *error);
int __wrap_store_open(const struct store_options *options, struct store **ret_store,
                      struct tidings_error *error) {
  wait_once(&waits_to_open);
  return __real_store_open(options, ret_store, error);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to) {
  if (strcmp(to, to_path()) == 0) wait_once(&waits_to_move);
  return __real_rename(from, to);
}

static int wait_before_open(struct child *self, void *context) {
  struct maintenance_target target = {0};
  struct maintenance_report begun = {0};
  struct tidings_error error = new_error();
  (void)context;
  waits_to_open = self;
  int code = maintenance_target_begin(&target, to_path(), &begun, &error);
  return maintenance_target_end(&target, code, &error) ? 1 : 0;
}

static int wait_before_move(struct child *self, void *context) {
  struct maintenance_report copied = {0};
  struct tidings_error error = new_error();
  (void)context;
  waits_to_move = self;
  return maintenance_backup(kit_store, to_path(), &copied, &error) ? 1 : 0;
}

Test(maintenance, a_run_that_has_no_store_yet_is_not_taken_for_a_killed_one) {
  make_store();
  struct child child = child_start(wait_before_open, NULL);
  child_await(&child);
  char sentence[64];
  (void)snprintf(sentence, sizeof sentence, "is just being made by process %d", (int)child.pid);
  expect_refused(maintenance_backup(kit_store, to_path(), &report, &why), TIDINGS_E_STATE,
                 sentence);
  child_signal(&child);
  cr_assert_eq(child_wait(&child), 0, "it goes on");
  expect_sound(to_path());
}

Test(maintenance, a_run_killed_before_its_last_step_is_taken_away) {
  make_store();
  struct child child = child_start(wait_before_move, NULL);
  child_await(&child);
  child_kill(&child);
  expect_done(maintenance_backup(kit_store, to_path(), &report, &why));
  cr_assert(report.took_away);
  cr_assert_neq(access(unfinished_path(), F_OK), 0);
  cr_assert_neq(access(mark_path(to_path()), F_OK), 0);
  expect_sound(to_path());
}

/* Killed after the last step but one. */
Test(maintenance, a_store_in_its_place_may_have_the_mark) {
  make_store();
  expect_done(maintenance_backup(kit_store, to_path(), &report, &why));
  FILE *file = fopen(mark_path(to_path()), "w");
  cr_assert(file);
  (void)fclose(file);
  expect_refused(maintenance_backup(kit_store, to_path(), &report, &why), TIDINGS_E_STATE,
                 "is not empty");
  expect_sound(to_path());
  expect_pending(to_path(), "s", 370);
}

Test(maintenance, what_is_none_of_a_run_stays) {
  make_store();
  cr_assert_eq(mkdir(unfinished_path(), 0700), 0);
  expect_done(
      maintenance_backup(kit_store, unfinished_path(), &report, &why)); /* a person's own store */
  cr_assert_not(report.took_away);
  expect_refused(maintenance_backup(kit_store, to_path(), &report, &why), TIDINGS_E_STATE,
                 "is not what a run that was killed leaves");
  expect_sound(unfinished_path());
  cr_assert_neq(access(mark_path(unfinished_path()), F_OK), 0);
}
