/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_walk.c: what LMDB writes is sound to the walk, whatever was put and deleted; and
 * when and by whom a file is walked.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/db/lmdb/engine.h"
#include "store/handle.h"
#include "walk_kit.h"

TestSuite(walk, .init = kit_begin, .fini = kit_end, .timeout = 300);

static void expect_sound(const char *when, unsigned step) {
  struct walk walk;
  cr_assert(walk_kit_walk(&walk), "%s %u: page %llu %s", when, step, (unsigned long long)walk.page,
            walk.finding);
}

/* The store grows, shrinks to almost nothing, and grows again, while readers keep old pages. */
Test(walk, whatever_lmdb_writes_is_sound) {
  struct random random = {.state = 11};
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct db_txn reader = {.touched_count = 0};
  bool reading = false;
  for (unsigned step = 0; step < 1500; step++) {
    unsigned phase = step / 300 % 2;
    walk_kit_change(store, &random, phase ? 90 : 15);
    if (step % 50 == 49) {
      if (reading) db_end(&reader);
      else
        cr_assert_eq(db_read(store->db, NULL, store_deadline_in(KIT_BUDGET_MS), &reader, &error),
                     0);
      reading = !reading;
    }
    if (step % 5 == 0) expect_sound("step", step);
  }
  if (reading) db_end(&reader);
  store_close(store);
  expect_sound("closed", 0);
}

/* -- when -------------------------------------------------------------------------------------- */

static int try_open(struct tidings_error *error) {
  struct store_options options = {.directory = kit_store, .create_budget_ms = KIT_BUDGET_MS};
  struct store *store;
  int code = store_open(&options, &store, error);
  if (!code) store_close(store);
  return code;
}

static void expect_walked(const char *when) {
  struct tidings_error error = new_error();
  cr_assert_eq(try_open(&error), TIDINGS_E_STORE, "%s", when);
  cr_assert(strstr(error.text, "counts other pages"), "%s: %s", when, error.text);
}

static void expect_opened(const char *when) {
  struct tidings_error error = new_error();
  cr_assert_eq(try_open(&error), 0, "%s: %s", when, error.text);
}

/* A file that LMDB reads well and the walk would refuse, noted as sound by a clean close. */
static void make_noted(void) {
  struct walk sound;
  struct stat entry;
  walk_kit_make(&sound);
  cr_assert_eq(stat(walk_kit_path(), &entry), 0);
  walk_kit_miscount(walk_kit_data, &sound);
  walk_kit_write(walk_kit_data);
  const struct timespec times[2] = {entry.st_atim, entry.st_mtim};
  cr_assert_eq(utimensat(AT_FDCWD, walk_kit_path(), times, 0), 0);
  free(walk_kit_data);
}

/* The inode, the transaction and the time of change are those of the last clean close: a look at
 * every page would find nothing. What has changed since then is looked at. */
Test(walk, only_what_changed_since_a_clean_close_is_walked) {
  make_noted();
  expect_opened("as noted");
  cr_assert_eq(utimensat(AT_FDCWD, walk_kit_path(), NULL, 0), 0);
  expect_walked("written since then");
}

static void change_note(size_t at) {
  uint8_t byte = 0;
  int fd = open(kit_path("store/shared"), O_RDWR);
  off_t place = (off_t)(offsetof(struct shared_page, walked) + at);
  cr_assert_eq(pread(fd, &byte, 1, place), 1);
  byte ^= 1;
  cr_assert_eq(pwrite(fd, &byte, 1, place), 1);
  close(fd);
}

Test(walk, what_another_boot_noted_does_not_count) {
  make_noted();
  expect_opened("as noted");
  change_note(offsetof(struct walk_note, boot_id));
  expect_walked("another boot");
}

Test(walk, what_was_noted_of_another_file_does_not_count) {
  make_noted();
  expect_opened("as noted");
  change_note(offsetof(struct walk_note, inode));
  expect_walked("another inode");
}

Test(walk, what_was_noted_of_another_transaction_does_not_count) {
  make_noted();
  expect_opened("as noted");
  change_note(offsetof(struct walk_note, transaction));
  expect_walked("another transaction");
}

/* -- by whom ----------------------------------------------------------------------------------- */

static int use_store(struct child *self, void *context) {
  (void)context;
  struct store *store = store_at(kit_store);
  child_signal_test(self);
  child_await_test(self);
  store_close(store);
  return 0;
}

/* While another process uses the store, LMDB has the file already, and pages may be half new. */
Test(walk, only_the_sole_user_walks) {
  make_noted();
  struct child other = child_start(use_store, NULL);
  child_await(&other);
  cr_assert_eq(utimensat(AT_FDCWD, walk_kit_path(), NULL, 0), 0);
  expect_opened("beside another user");
  child_signal(&other);
  cr_assert_eq(child_wait(&other), 0);
  cr_assert_eq(utimensat(AT_FDCWD, walk_kit_path(), NULL, 0), 0);
  expect_walked("alone");
}

/* -- a large file ------------------------------------------------------------------------------ */

static unsigned forks;
pid_t real_fork(void) __asm__("__real_fork");
pid_t counted_fork(void) __asm__("__wrap_fork");
pid_t counted_fork(void) {
  forks++;
  return real_fork();
}

static void make_large(void) {
  static char value[1 << 20];
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  for (size_t i = 0; i < 72; i++) {
    struct db_key key = walk_kit_key(i);
    struct db_txn txn = {.touched_count = 0};
    store_deadline deadline = store_deadline_in(KIT_BUDGET_MS);
    cr_assert_eq(db_write(store->db, NULL, deadline, &txn, &error), 0);
    cr_assert_eq(db_reserve(&txn, 2 * sizeof value, &error), 0, "%s", error.text);
    cr_assert_eq(db_put(&txn, &key, span_of(value, sizeof value)), 0);
    cr_assert_eq(db_commit(&txn, &error), 0);
  }
  store_close(store);
}

Test(walk, a_large_file_is_walked_by_a_child_and_the_result_is_noted) {
  struct walk sound;
  unsigned before = forks; /* a case of this test may be a fork */
  make_large();
  cr_assert_eq(forks, before, "a small file is walked here");
  cr_assert_eq(utimensat(AT_FDCWD, walk_kit_path(), NULL, 0), 0);
  store_close(store_at(kit_store));
  cr_assert_eq(forks, before + 1, "a child walks");
  cr_assert(walk_kit_walk(&sound));
  walk_kit_read();
  walk_kit_miscount(walk_kit_data, &sound);
  walk_kit_write(walk_kit_data);
  struct store_options options = {.directory = kit_store, .create_budget_ms = KIT_BUDGET_MS};
  struct store *store;
  for (int i = 0; i < 2; i++) { /* the second time from the note */
    struct tidings_error error = new_error();
    cr_assert_eq(store_open(&options, &store, &error), TIDINGS_E_STORE);
    cr_assert(strstr(error.text, "counts other pages"), "%s", error.text);
  }
  /* Without any time the caller is told to come again, and the result is there one time. */
  cr_assert_eq(utimensat(AT_FDCWD, walk_kit_path(), NULL, 0), 0);
  options.create_budget_ms = 0;
  int code;
  do {
    struct tidings_error error = new_error();
    code = store_open(&options, &store, &error);
    cr_assert(code == TIDINGS_E_BUSY || code == TIDINGS_E_STORE, "%d %s", code, error.text);
  } while (code == TIDINGS_E_BUSY);
  free(walk_kit_data);
}
