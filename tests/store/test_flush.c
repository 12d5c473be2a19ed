/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_flush.c: the order in which a commit writes and flushes, and a process that is
 * killed at each of these calls. The C library's functions are defined here, so that LMDB's calls
 * and the plugin's own come here first.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"
#include "store/db/lmdb/engine.h"
#include "store/db/lmdb/files.h"
#include "store/db/lmdb/flush.h"
#include "store/db/lmdb/heads.h"
#include "store/handle.h"
#include "walk_kit.h"

#define EXPORTED __attribute__((visibility("default")))

/* P: pages, D: a digest, H: a head, W: a whole page of a head, F: a flush. */
static char calls[4096];
static size_t call_count, failing_flush;
static char killed_at; /* before this call */

static void note(char call) {
  if (call_count < sizeof calls - 1) calls[call_count++] = call;
  calls[call_count] = '\0';
  if (killed_at == call) raise(SIGKILL);
}

static void forget_calls(void) {
  call_count = 0;
  calls[0] = '\0';
}

EXPORTED ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at) {
  if (at >= (off_t)2 * PAGE) note('P');
  else if (at % PAGE == DIGEST_AT) note('D');
  else note(len < PAGE ? 'H' : 'W');
  return syscall(SYS_pwrite64, fd, bytes, len, at);
}

EXPORTED ssize_t writev(int fd, const struct iovec *pieces, int count) {
  note('P');
  return syscall(SYS_writev, fd, pieces, count);
}

EXPORTED int fdatasync(int fd) {
  note('F');
  if (failing_flush && !--failing_flush) {
    errno = EIO;
    return -1;
  }
  return (int)syscall(SYS_fdatasync, fd);
}

static void begin(void) {
  kit_begin();
  killed_at = '\0';
  failing_flush = 0;
  if (!flush_is_single()) cr_skip_test("this LMDB makes two flushes");
}

TestSuite(flush, .init = begin, .fini = kit_end);

static size_t count_of(char call) {
  size_t count = 0;
  for (size_t i = 0; i < call_count; i++) count += calls[i] == call;
  return count;
}

/* Pages, then the digest, then the head, then the flush of all. */
static void expect_one_flush(const char *when) {
  size_t pages = strspn(calls, "P");
  cr_assert_gt(pages, 0, "%s: %s", when, calls);
  cr_assert_str_eq(calls + pages, "DHF", "%s: %s", when, calls);
}

/* Checks in the file itself that the newest commit is complete. *ret_runs: the runs of pages in its
 * digest. */
static void expect_whole(struct store *store, uint32_t *ret_runs) {
  struct heads heads;
  struct heads_verdict verdict;
  cr_assert_eq(heads_read(&heads, store->db->data_fd, PAGE, datafile_map_bytes()), 0);
  cr_assert_eq(heads_judge(&heads, 0, false, &verdict), 0);
  cr_assert_eq(verdict.judgement, HEADS_SOUND);
  cr_assert_eq(verdict.counts, heads_newest(&heads));
  *ret_runs = heads.head[verdict.counts].digest.run_count;
}

Test(flush, each_commit_is_flushed_once_and_has_a_digest) {
  struct store *store = store_at(kit_store);
  uint32_t runs = 0;
  for (int i = 0; i < 200; i++) {
    forget_calls();
    say_well(store, "s", "news");
    expect_one_flush("a push");
    expect_whole(store, &runs);
    cr_assert_gt(runs, 0);
  }
  forget_calls();
  store_note_clean(store);
  cr_assert_str_eq(calls, "D", "before a clean end a mark is written, which needs no flush");
  store_close(store);
  cr_assert_str_eq(calls, "D", "a close writes no other");
}

Test(flush, a_write_that_changes_nothing_flushes_nothing) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct store_txn *txn;
  say_well(store, "s", "news");
  forget_calls();
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(store_commit(txn, &error), 0);
  cr_assert_str_eq(calls, "");
  store_close(store);
}

static void put_large(struct store *store, size_t rows) {
  static char value[3000];
  struct tidings_error error = new_error();
  struct db_txn txn = {.touched_count = 0};
  cr_assert_eq(db_write(store->db, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(db_reserve(&txn, (uint64_t)rows * 3 * PAGE, &error), 0);
  for (size_t i = 0; i < rows; i++) {
    struct db_key key = walk_kit_key(i);
    cr_assert_eq(db_put(&txn, &key, span_of(value, sizeof value)), 0);
  }
  cr_assert_eq(db_commit(&txn, &error), 0);
}

/* More pages than a digest has room for are flushed before the head. */
Test(flush, a_large_commit_has_two_flushes) {
  struct store *store = store_at(kit_store);
  uint32_t runs = 0;
  say_well(store, "s", "news");
  forget_calls();
  put_large(store, DIGEST_PAGES + 100);
  size_t pages = strspn(calls, "P");
  cr_assert_str_eq(calls + pages, "FDHF");
  expect_whole(store, &runs);
  cr_assert_eq(runs, 0);
  forget_calls();
  say_well(store, "s", "more");
  expect_one_flush("after a large one");
  store_close(store);
}

/* -- more commits at once than are watched ------------------------------------------------------
 */

enum { WATCHED = 64 };
static sem_t begun, may_end;

static void *commit_for_long(void *context) {
  struct flush flush = {.fd = -1};
  (void)context;
  cr_assert_eq(flush_commit_begin(&flush, -1, PAGE, 1, 0), 0);
  cr_assert(flush.watched);
  sem_post(&begun);
  sem_wait(&may_end);
  flush_commit_end(&flush);
  return NULL;
}

/* A commit that is not watched has a digest before its pages, which are flushed before the head.
 * LMDB writes the head by a descriptor that flushes it. */
Test(flush, a_commit_beyond_those_that_are_watched_has_an_early_digest) {
  struct store *store = store_at(kit_store);
  pthread_t threads[WATCHED];
  uint32_t runs = 1;
  say_well(store, "s", "before");
  cr_assert(!sem_init(&begun, 0, 0) && !sem_init(&may_end, 0, 0));
  for (int i = 0; i < WATCHED; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, commit_for_long, NULL), 0);
  for (int i = 0; i < WATCHED; i++) sem_wait(&begun);
  forget_calls();
  say_well(store, "s", "meanwhile");
  cr_assert_str_eq(calls + 1 + strspn(calls + 1, "P"), "FH", "%s", calls);
  cr_assert_eq(calls[0], 'D', "%s", calls);
  expect_whole(store, &runs);
  cr_assert_eq(runs, 0);
  for (int i = 0; i < WATCHED; i++) sem_post(&may_end);
  for (int i = 0; i < WATCHED; i++) cr_assert_eq(pthread_join(threads[i], NULL), 0);
  forget_calls();
  say_well(store, "s", "after");
  expect_one_flush("a place is free again");
  cr_assert_eq(items_in(store, "s"), 3);
  store_close(store);
}

/* -- killed ------------------------------------------------------------------------------------ */

static int push_and_die(struct child *self, void *context) {
  const char *call = context;
  struct store *store = store_at(kit_store);
  child_signal_test(self);
  child_await_test(self);
  forget_calls();
  killed_at = *call;
  say_well(store, "s", "of the dead");
  return 0;
}

static bool in_doubt(struct store *store, uint64_t *ret_newest) {
  struct heads heads;
  cr_assert_eq(heads_read(&heads, store->db->data_fd, PAGE, datafile_map_bytes()), 0);
  *ret_newest = heads.head[heads_newest(&heads)].transaction;
  return *ret_newest > atomic_load(&store->db->shared.page->flushed.transaction);
}

/* Checks that the dead process's commit is written to the disk before the next commit: each page is
 * written again, because a flush may have failed before, and then flushed. */
static void expect_settled_first(bool doubt) {
  size_t first = strspn(calls, "P");
  if (!doubt) {
    expect_one_flush("nothing was in doubt");
    return;
  }
  cr_assert_gt(first, 0, "%s", calls);
  cr_assert_eq(strncmp(calls + first, "WF", 2), 0, "%s", calls);
  cr_assert_eq(count_of('F'), 2, "%s", calls);
}

static void die(struct child *child) {
  int status;
  child_signal(child);
  cr_assert_eq(waitpid(child->pid, &status, 0), child->pid);
  close(child->to);
  close(child->from);
  cr_assert(WIFSIGNALED(status));
}

static const char kinds[] = "PDHFPDHF";

Test(flush, after_a_kill_at_each_call_the_next_writer_flushes_first) {
  store_close(store_at(kit_store));
  for (const char *kind = kinds; *kind; kind++) {
    char call = *kind;
    uint64_t newest;
    struct child child = child_start(push_and_die, &call);
    child_await(&child);
    struct store *store = store_at(kit_store);
    say_well(store, "s", "before");
    size_t items = items_in(store, "s");
    die(&child);
    bool doubt = in_doubt(store, &newest);
    cr_assert_eq(doubt, call == 'F');
    cr_assert_eq(items_in(store, "s"), items, "nobody sees what is not flushed");
    forget_calls();
    say_well(store, "s", "after");
    expect_settled_first(doubt);
    cr_assert_eq(items_in(store, "s"), items + 1 + doubt, "call %c", call);
    store_close(store);
  }
}

Test(flush, after_a_kill_at_each_call_the_next_open_flushes_first) {
  struct store *store = store_at(kit_store);
  say_well(store, "s", "before");
  store_close(store);
  for (const char *kind = kinds; *kind; kind++) {
    char call = *kind;
    struct child child = child_start(push_and_die, &call);
    child_await(&child);
    die(&child);
    forget_calls();
    store = store_at(kit_store);
    if (call == 'F') cr_assert_eq(strncmp(calls + strspn(calls, "P"), "WF", 2), 0, "%s", calls);
    else cr_assert_str_eq(calls, "", "call %c: %s", call, calls);
    forget_calls();
    say_well(store, "s", "after");
    expect_one_flush("after an open");
    store_close(store);
  }
}

/* The kernel may have dropped pages that the first flush could not write, so all are written
 * again. */
Test(flush, a_flush_that_fails_after_a_kill_is_made_again_with_all_pages) {
  char call = 'F';
  uint64_t newest;
  store_close(store_at(kit_store));
  struct child child = child_start(push_and_die, &call);
  child_await(&child);
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  die(&child);
  cr_assert(in_doubt(store, &newest));
  failing_flush = 1;
  cr_assert_eq(say(store, (struct said){.message = "refused"}, NULL, &error), TIDINGS_E_STORE);
  cr_assert(in_doubt(store, &newest));
  forget_calls();
  say_well(store, "s", "after");
  expect_settled_first(true);
  store_close(store);
}
