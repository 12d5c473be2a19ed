/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_walk.c: the walk accepts every file that LMDB has written, whatever was put and
 * deleted; and tests when, and by which process, a file is walked.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <lmdb.h>
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

/* Damages the file in walk_kit_data so that LMDB reads it but the walk would refuse it, and keeps
 * the time of its last change. */
static void miscount_unseen(const struct walk *sound) {
  struct stat entry;
  cr_assert_eq(stat(walk_kit_path(), &entry), 0);
  walk_kit_miscount(walk_kit_data, sound);
  walk_kit_write(walk_kit_data);
  const struct timespec times[2] = {entry.st_atim, entry.st_mtim};
  cr_assert_eq(utimensat(AT_FDCWD, walk_kit_path(), times, 0), 0);
  free(walk_kit_data);
}

/* Such a file, noted as sound by a clean close. */
static void make_noted(void) {
  struct walk sound;
  walk_kit_make(&sound);
  miscount_unseen(&sound);
}

/* The inode, the transaction and the time of change are those of the last clean close, so reading
 * every page would find nothing. Pages that have changed since then are looked at. */
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

static int write_and_end(struct child *self, void *context) {
  struct store *store = store_at(kit_store);
  (void)self;
  say_well(store, "s", "news");
  if (context) store_note_clean(store);
  return 0; /* the process ends now */
}

static void make_without_close(void *noted) {
  struct walk sound;
  walk_kit_make(&sound);
  free(walk_kit_data);
  struct child child = child_start(write_and_end, noted);
  cr_assert_eq(child_wait(&child), 0);
  cr_assert(walk_kit_walk(&sound));
  walk_kit_read();
  miscount_unseen(&sound);
}

Test(walk, what_a_process_noted_that_ended_without_a_close_counts) {
  make_without_close(kit_store);
  expect_opened("as noted");
}

Test(walk, what_a_process_wrote_that_ended_before_it_noted_is_walked) {
  make_without_close(NULL);
  expect_walked("not noted");
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

static int read_and_end(struct child *self, void *context) {
  struct store *store = store_at(kit_store);
  (void)self, (void)context;
  store_note_clean(store);
  return 0;
}

/* Each leaves its slot as a reader, which the next process that opens the store clears. */
Test(walk, processes_that_end_without_a_close_leave_nothing_that_grows) {
  struct child other = child_start(use_store, NULL);
  child_await(&other);
  for (int i = 0; i < 12; i++) {
    struct child reader = child_start(read_and_end, NULL);
    cr_assert_eq(child_wait(&reader), 0);
  }
  struct store *store = store_at(kit_store);
  MDB_envinfo info;
  cr_assert_eq(mdb_env_info(store->db->env, &info), 0);
  cr_assert_leq(info.me_numreaders, 3);
  store_close(store);
  child_signal(&other);
  cr_assert_eq(child_wait(&other), 0);
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

enum { LARGE_ROWS = 4000, LARGE_ROW_BYTES = 1900 };

/* Makes a store whose leaves are several portions. */
static void make_large(void) {
  static char value[LARGE_ROW_BYTES];
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct db_txn txn = {.touched_count = 0};
  cr_assert_eq(db_write(store->db, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(db_reserve(&txn, (uint64_t)2 * LARGE_ROWS * sizeof value, &error), 0, "%s",
               error.text);
  for (size_t i = 0; i < LARGE_ROWS; i++) {
    struct db_key key = walk_kit_key(i);
    cr_assert_eq(db_put(&txn, &key, span_of(value, sizeof value)), 0);
  }
  cr_assert_eq(db_commit(&txn, &error), 0);
  store_close(store);
}

static void touch_file(void) { cr_assert_eq(utimensat(AT_FDCWD, walk_kit_path(), NULL, 0), 0); }

/* Opens the store without any time: this walks one portion. */
static int open_for_a_portion(struct tidings_error *error) {
  struct store_options options = {.directory = kit_store};
  struct store *store;
  int code = store_open(&options, &store, error);
  if (!code) store_close(store);
  return code;
}

/* Returns how many calls got BUSY before one got `expected`. */
static unsigned portions_until(int expected, const char *words) {
  for (unsigned busy = 0;; busy++) {
    struct tidings_error error = new_error();
    int code = open_for_a_portion(&error);
    if (code == TIDINGS_E_BUSY) {
      cr_assert(strstr(error.text, "so far"), "%s", error.text);
      continue;
    }
    cr_assert_eq(code, expected, "%d %s", code, error.text);
    if (words) cr_assert(strstr(error.text, words), "%s", error.text);
    return busy;
  }
}

static bool is_kept(void) { return access(kit_path("store/checked"), F_OK) == 0; }

Test(walk, a_large_file_is_walked_in_portions_and_no_process_is_started) {
  unsigned before = forks; /* a case of this test may be a fork */
  make_large();
  touch_file();
  unsigned busy = portions_until(0, NULL);
  cr_assert_gt(busy, 2, "%u", busy);
  cr_assert_lt(busy, 20, "each call goes on where the last one ended: %u", busy);
  cr_assert_not(is_kept());
  touch_file();
  expect_opened("in one call, if there is time");
  cr_assert_eq(forks, before);
}

Test(walk, what_a_later_portion_finds_is_noted) {
  struct walk sound;
  make_large();
  cr_assert(walk_kit_walk(&sound));
  walk_kit_read();
  walk_kit_miscount(walk_kit_data, &sound);
  walk_kit_write(walk_kit_data);
  cr_assert_gt(portions_until(TIDINGS_E_STORE, "counts other pages"), 2);
  cr_assert_eq(portions_until(TIDINGS_E_STORE, "counts other pages"), 0, "from the note");
  free(walk_kit_data);
}

/* Pages that were found good in a file that somebody has written since have to be looked at again.
 */
Test(walk, the_place_in_a_file_that_was_written_since_does_not_count) {
  struct walk sound;
  struct tidings_error error = new_error();
  make_large();
  cr_assert(walk_kit_walk(&sound));
  touch_file();
  for (int i = 0; i < 2; i++) cr_assert_eq(open_for_a_portion(&error), TIDINGS_E_BUSY);
  cr_assert(is_kept());
  walk_kit_read();
  put_u16(walk_kit_leaf(walk_kit_data, &sound) + PAGE_UPPER_AT, 3); /* it has been walked */
  walk_kit_write(walk_kit_data);
  (void)portions_until(TIDINGS_E_STORE, "is not the page that it should be");
  free(walk_kit_data);
}

Test(walk, a_place_that_is_not_whole_does_not_count) {
  struct tidings_error error = new_error();
  struct stat entry;
  uint8_t byte = 0;
  make_large();
  touch_file();
  for (int i = 0; i < 2; i++) cr_assert_eq(open_for_a_portion(&error), TIDINGS_E_BUSY);
  int fd = open(kit_path("store/checked"), O_RDWR);
  cr_assert_eq(fstat(fd, &entry), 0);
  cr_assert_eq(pread(fd, &byte, 1, entry.st_size - 1), 1);
  byte ^= 1;
  cr_assert_eq(pwrite(fd, &byte, 1, entry.st_size - 1), 1);
  close(fd);
  unsigned whole = portions_until(0, NULL);
  touch_file();
  cr_assert_eq(portions_until(0, NULL), whole, "it had begun anew");
}

/* A store on a full disk can still be opened, by a call that takes longer. */
Test(walk, a_place_that_cannot_be_kept_ends_no_walk) {
  make_large();
  touch_file();
  cr_assert_eq(mkdir(kit_path("store/checked"), 0700), 0);
  cr_assert_eq(portions_until(0, NULL), 0);
}
