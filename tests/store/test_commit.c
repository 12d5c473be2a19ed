/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_commit.c: commits that fail, in each of the ways in which they can. The C
 * library's functions are defined here, so that LMDB's calls come here first; one of them fails
 * when armed.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kit.h"
#include "store/db/lmdb/digest.h"
#include "store/db/lmdb/engine.h"
#include "store/rows/rows.h"
#include "wake_kit.h"

#define EXPORTED __attribute__((visibility("default")))

enum fault {
  NO_FAULT,
  SYNC_FAILS,        /* the sync of the commit fails: the disk may have any part of it */
  META_NOT_WRITTEN,  /* EIO, and nothing was written */
  META_WRITTEN,      /* EIO, but the head is written, and the old one cannot be put back */
  META_WRITTEN_TWICE /* the same, and the head can be neither written again nor taken back */
};
static _Atomic enum fault fault;
static atomic_bool blocks_opening; /* once the fault has struck, no file can be opened */
static atomic_int metas;

static void strike(enum fault next) {
  atomic_store(&fault, next);
  if (atomic_load(&blocks_opening)) {
    struct rlimit limit = {3, 4096};
    (void)setrlimit(RLIMIT_NOFILE, &limit);
  }
}

EXPORTED int fdatasync(int fd) {
  if (atomic_load(&fault) == SYNC_FAILS) {
    strike(NO_FAULT);
    errno = EIO;
    return -1;
  }
  return (int)syscall(SYS_fdatasync, fd);
}

EXPORTED ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at) {
  bool meta = at < 8192 && at % 4096 != DIGEST_AT;
  enum fault armed = atomic_load(&fault);
  if (!meta || armed == NO_FAULT || armed == SYNC_FAILS)
    return syscall(SYS_pwrite64, fd, bytes, len, at);
  if (armed == META_NOT_WRITTEN) {
    strike(NO_FAULT);
  } else {
    int nth =
        atomic_fetch_add(&metas, 1); /* the meta page, then the attempt to put the old one back */
    if (nth % 2 == 0) (void)!syscall(SYS_pwrite64, fd, bytes, len, at);
    else if (armed == META_WRITTEN || nth == 3) strike(NO_FAULT);
  }
  errno = EIO;
  return -1;
}

static void begin(void) {
  kit_begin();
  atomic_store(&fault, NO_FAULT);
  atomic_store(&blocks_opening, false);
  atomic_store(&metas, 0);
}

static void arm(enum fault what) { atomic_store(&fault, what); }
static void expect_struck(void) {
  cr_assert_eq(atomic_load(&fault), NO_FAULT, "the fault never struck");
}

static void reopened(void) {
  struct rlimit limit = {1024, 4096};
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
  atomic_store(&blocks_opening, false);
}

TestSuite(commit, .init = begin, .fini = kit_end);

/* The disk may have the commit, and a second flush proves nothing. */
Test(commit, after_a_flush_that_fails_the_outcome_is_unknown_and_the_store_goes_on) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  say_well(store, "s", "before");
  arm(SYNC_FAILS);
  cr_assert_eq(say(store, (struct said){.message = "lost"}, NULL, &error),
               TIDINGS_E_OUTCOME_UNKNOWN);
  expect_struck();
  cr_assert(strstr(error.text, "outcome unknown"), "%s", error.text);
  cr_assert_eq(items_in(store, "s"), 1);
  say_well(store, "s", "after");
  cr_assert_eq(items_in(store, "s"), 2);
  store_close(store);
  store = store_at(kit_store);
  cr_assert_eq(items_in(store, "s"), 2);
  store_close(store);
}

Test(commit, a_meta_page_that_is_not_written_stores_nothing) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  say_well(store, "s", "before");
  arm(META_NOT_WRITTEN);
  cr_assert_eq(say(store, (struct said){.message = "lost"}, NULL, &error),
               TIDINGS_E_OUTCOME_UNKNOWN);
  expect_struck();
  cr_assert_eq(items_in(store, "s"), 1);
  say_well(store, "s", "after");
  cr_assert_eq(last_of(store, "s"), 2);
  store_close(store);
}

/* LMDB reports that the commit failed, but it is on the disk: store_commit returns 0, and does not
 * change the caller's error struct. */
Test(commit, a_commit_that_is_there_after_all_is_told_as_stored) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = {.size = sizeof error, .code = 5, .text = "untouched"};
  say_well(store, "s", "before");
  arm(META_WRITTEN);
  struct store_txn *txn;
  struct arena arena = ARENA_EMPTY;
  struct head head;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(head_get(txn, 1, &arena, &head, &error), 0);
  head.epoch = 99;
  cr_assert_eq(head_put(txn, 1, &head, &error), 0);
  cr_assert_eq(store_commit(txn, &error), 0);
  expect_struck();
  cr_assert_eq(error.code, 5, "success must not write the error: %s", error.text);
  cr_assert_str_eq(error.text, "untouched");
  arena_free(&arena);
  store_close(store);
  store = store_at(kit_store);
  cr_assert_eq(head_of(store, "s", &arena).epoch, 99);
  arena_free(&arena);
  store_close(store);
}

Test(commit, when_it_cannot_be_told_the_outcome_is_unknown) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  say_well(store, "s", "before");
  arm(META_WRITTEN_TWICE);
  cr_assert_eq(
      say(store, (struct said){.message = "who knows", .source = "p", .id = "1"}, NULL, &error),
      TIDINGS_E_OUTCOME_UNKNOWN);
  expect_struck();
  cr_assert(strstr(error.text, "outcome unknown"), "%s", error.text);
  bool duplicate = false;
  cr_assert_eq(say(store, (struct said){.message = "who knows", .source = "p", .id = "1"},
                   &duplicate, &error),
               0, "%s", error.text);
  cr_assert_eq(items_in(store, "s"), 2, "stored once, whichever of the two it was");
  store_close(store);
}

/* The store may or may not know that the host was asked, but the host did not get the reply. */
Test(commit, what_an_unknown_commit_asked_of_the_host_is_asked_again) {
  static const enum fault faults[] = {META_WRITTEN_TWICE, SYNC_FAILS};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
    struct tidings_error error = new_error();
    const struct tidings_reply *reply = NULL;
    int fd = waiting(plugin);
    push_by_another("s", CRITICAL);
    next_is(plugin, "s");
    next_is(plugin, "");
    cr_assert(!is_rung(fd, 0));
    arm(faults[i]);
    const struct tidings_span wake = span_text("{\"type\":\"wake\",\"session\":\"s\"}");
    cr_assert_eq(plugin->on_event(plugin, &wake, &reply, &error), TIDINGS_E_OUTCOME_UNKNOWN);
    expect_struck();
    cr_assert(is_rung(fd, 0));
    next_is(plugin, "s");
    cr_assert_eq(plugin->on_event(plugin, &wake, &reply, &error), 0, "%s", error.text);
    cr_assert_eq(reply->action_count, 1);
    cr_assert_eq(reply->actions[0]->type, TIDINGS_ACTION_START_TURN);
    plugin->release(plugin, reply);
    plugin_end(plugin);
    kit_end();
    begin();
  }
}

/* The environment cannot be opened again at once: the next call does it. */
Test(commit, the_environment_is_opened_again_by_a_later_call) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct store_txn *txn;
  say_well(store, "s", "before");
  atomic_store(&blocks_opening, true);
  arm(SYNC_FAILS);
  cr_assert_eq(say(store, (struct said){.message = "lost"}, NULL, &error),
               TIDINGS_E_OUTCOME_UNKNOWN);
  cr_assert(strstr(error.text, "outcome unknown"), "%s", error.text);
  cr_assert_null(store->db->env);
  cr_assert_eq(store_read(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error),
               TIDINGS_E_STORE);
  cr_assert_eq(say(store, (struct said){.message = "lost"}, NULL, &error), TIDINGS_E_STORE);
  reopened();
  cr_assert_eq(items_in(store, "s"), 1);
  say_well(store, "s", "after");
  cr_assert_eq(items_in(store, "s"), 2);
  store_close(store);
}

/* No callback of the host is called while another process waits for this one. */
static atomic_int calls_back, under_lock;
static void look_whether_locked(void *context, uint32_t severity, const char *text) {
  struct store *const *store = context;
  pthread_mutex_t *writer = &(*store)->db->shared.page->writer;
  (void)severity;
  (void)text;
  atomic_fetch_add(&calls_back, 1);
  int err = pthread_mutex_trylock(writer);
  if (err) atomic_fetch_add(&under_lock, 1);
  else pthread_mutex_unlock(writer);
}

Test(commit, the_log_is_written_without_the_writer_lock) {
  static struct store *store;
  struct store_options options = {.directory = kit_store,
                                  .log = look_whether_locked,
                                  .log_context = &store,
                                  .create_budget_ms = 1000};
  struct tidings_error error = new_error();
  cr_assert_eq(store_open(&options, &store, &error), 0, "%s", error.text);
  arm(SYNC_FAILS);
  cr_assert_eq(say(store, (struct said){.message = "lost"}, NULL, &error),
               TIDINGS_E_OUTCOME_UNKNOWN);
  cr_assert_eq(calls_back, 1);
  cr_assert_eq(under_lock, 0);
  store_close(store);
}

/* -- group commit ------------------------------------------------------------------------------ */

struct pusher {
  struct store *store;
  struct said said;
  bool duplicate;
  int code;
};

static void *push_one(void *context) {
  struct pusher *pusher = context;
  struct tidings_error error = new_error();
  pusher->code = say(pusher->store, pusher->said, &pusher->duplicate, &error);
  return NULL;
}

static size_t waiters_of(struct store *store) {
  size_t count = 0;
  pthread_mutex_lock(&store->db->group.lock);
  count = store->db->group.first && store->db->group.first != store->db->group.last ? 2 : 0;
  pthread_mutex_unlock(&store->db->group.lock);
  return count;
}

/* Makes two pushes share a commit: both wait while this process holds the writer lock. */
static void push_together(struct store *store, struct pusher pushers[2]) {
  struct store_txn *txn;
  pthread_t threads[2];
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, NULL), 0);
  for (int i = 0; i < 2; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, push_one, &pushers[i]), 0);
  while (!waiters_of(store)) usleep(1000);
  store_end(txn);
  for (int i = 0; i < 2; i++) cr_assert_eq(pthread_join(threads[i], NULL), 0);
}

Test(commit, a_duplicate_inside_one_batch_is_stored_once) {
  struct store *store = store_at(kit_store);
  struct pusher pushers[2] = {{.store = store, .said = {.source = "p", .id = "1"}},
                              {.store = store, .said = {.source = "p", .id = "1"}}};
  push_together(store, pushers);
  cr_assert_eq(pushers[0].code, 0);
  cr_assert_eq(pushers[1].code, 0);
  cr_assert_eq(pushers[0].duplicate + pushers[1].duplicate, 1);
  cr_assert_eq(items_in(store, "s"), 1);
  store_close(store);
}

/* The push that this duplicate repeats was in the same failed batch, so neither caller may be told
 * that it is stored. */
Test(commit, a_duplicate_of_what_was_not_stored_fails_with_it) {
  struct store *store = store_at(kit_store);
  struct pusher pushers[2] = {{.store = store, .said = {.source = "p", .id = "1"}},
                              {.store = store, .said = {.source = "p", .id = "1"}}};
  say_well(store, "s", "before");
  arm(SYNC_FAILS);
  push_together(store, pushers);
  expect_struck();
  cr_assert_eq(items_in(store, "s"), 1);
  cr_assert_eq(pushers[0].code, TIDINGS_E_OUTCOME_UNKNOWN);
  cr_assert_eq(pushers[1].code, TIDINGS_E_OUTCOME_UNKNOWN);
  store_close(store);
}

static int push_theirs(struct child *self, void *context) {
  struct store *store = store_at(kit_store);
  (void)self;
  say_well(store, context, "theirs");
  store_close(store);
  return 0;
}

/* Another process's commit gets the failed commit's number, and its session gets the number of the
 * session that was not stored. So all that a push remembered about that session is void. */
Test(commit, what_a_push_knew_before_it_failed_is_not_believed) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  char theirs[] = "theirs";
  say_well(store, "s", "before");
  arm(SYNC_FAILS);
  cr_assert_eq(say(store, (struct said){.session = "ours"}, NULL, &error),
               TIDINGS_E_OUTCOME_UNKNOWN);
  expect_struck();
  cr_assert(store->known.state, "it was known until the commit failed");
  struct child child = child_start(push_theirs, theirs);
  cr_assert_eq(child_wait(&child), 0);
  cr_assert_eq(number_of(store, "theirs"), 2);
  say_well(store, "ours", "again");
  cr_assert_eq(number_of(store, "ours"), 3);
  cr_assert_eq(items_in(store, "theirs"), 1);
  cr_assert_eq(items_in(store, "ours"), 1);
  store_close(store);
}

/* A write of this process that is no push may also get the commit's number. */
Test(commit, what_a_push_knew_is_not_believed_after_another_write_of_its_process) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct store_txn *txn;
  uint32_t number = 0;
  say_well(store, "s", "before");
  arm(SYNC_FAILS);
  cr_assert_eq(say(store, (struct said){.session = "ours"}, NULL, &error),
               TIDINGS_E_OUTCOME_UNKNOWN);
  expect_struck();
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(session_add(txn, span_text("theirs"), &number, &error), 0);
  cr_assert_eq(store_commit(txn, &error), 0);
  cr_assert_eq(number, 2, "it has the number of the session that was not stored");
  say_well(store, "ours", "again");
  cr_assert_eq(number_of(store, "ours"), 3);
  cr_assert_eq(items_in(store, "theirs"), 0);
  cr_assert_eq(items_in(store, "ours"), 1);
  store_close(store);
}

Test(commit, a_batch_that_fails_fails_for_all_its_sessions) {
  struct store *store = store_at(kit_store);
  struct pusher pushers[2] = {{.store = store, .said = {.session = "a"}},
                              {.store = store, .said = {.session = "b"}}};
  arm(SYNC_FAILS);
  push_together(store, pushers);
  cr_assert_eq(pushers[0].code, TIDINGS_E_OUTCOME_UNKNOWN);
  cr_assert_eq(pushers[1].code, TIDINGS_E_OUTCOME_UNKNOWN);
  cr_assert_eq(number_of(store, "a"), 0);
  cr_assert_eq(number_of(store, "b"), 0);
  store_close(store);
}

/* The damaged session breaks the transaction of both, so each push is tried by itself. */
Test(commit, a_push_to_a_damaged_session_does_not_fail_the_push_beside_it) {
  struct store *store = store_at(kit_store);
  struct pusher pushers[2] = {{.store = store, .said = {.session = "damaged"}},
                              {.store = store, .said = {.session = "sound"}}};
  struct tidings_error error = new_error();
  struct store_txn *txn;
  say_well(store, "damaged", "before");
  say_well(store, "sound", "before");
  const struct db_key head = row_key(number_of(store, "damaged"), ROW_HEAD, 0);
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(db_put(txn->db, &head, span_text("spoiled")), 0);
  cr_assert_eq(store_commit(txn, &error), 0);
  push_together(store, pushers);
  cr_assert_eq(pushers[0].code, TIDINGS_E_STORE);
  cr_assert_eq(pushers[1].code, 0);
  cr_assert_eq(items_in(store, "sound"), 2);
  store_close(store);
}

/* -- the instance on it ------------------------------------------------------------------------ */

/* If a session's number was never committed, it must be forgotten, because the next session gets
 * it. */
Test(commit, a_session_that_was_not_stored_is_not_remembered) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  arm(SYNC_FAILS);
  struct got got = tool_result(plugin, "first");
  cr_assert_eq(got.code, TIDINGS_E_OUTCOME_UNKNOWN, "%d", got.code);
  expect_struck();
  push(plugin, "second", "for the second only");
  expect_got(tool_result(plugin, "first"), "");
  expect_got(tool_result(plugin, "second"), "for the second only");
  plugin_end(plugin);
}

Test(commit, a_lease_that_was_not_stored_leaves_all_pending) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  push(plugin, "s", "one");
  expect_got(tool_result(plugin, "other"), "");
  (void)tool_result(plugin, "s");
  push(plugin, "s", "two");
  arm(SYNC_FAILS);
  struct got got = tool_result(plugin, "s");
  cr_assert_eq(got.code, TIDINGS_E_OUTCOME_UNKNOWN);
  cr_assert_eq(pending_in(store_of(plugin), "s"), 1);
  expect_got(tool_result(plugin, "s"), "two");
  plugin_end(plugin);
}

Test(commit, a_settle_that_was_not_stored_stays_leased) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  struct tidings_error error = new_error();
  push(plugin, "s", "one");
  struct got got = tool_result(plugin, "s");
  arm(SYNC_FAILS);
  cr_assert_eq(settle_as(plugin, got.delivery, TIDINGS_COMMITTED, &error),
               TIDINGS_E_OUTCOME_UNKNOWN);
  expect_got(tool_result(plugin, "s"), "");
  cr_assert_eq(settle_as(plugin, got.delivery, TIDINGS_COMMITTED, &error), 0, "%s", error.text);
  plugin_end(plugin);
}
