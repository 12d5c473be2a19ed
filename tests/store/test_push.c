/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_push.c: intake: quotas, duplicates, numbers, and a writer lock that somebody
 * else holds.
 */
#include <criterion/criterion.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "kit.h"
#include "session/ledger.h"
#include "store/db/lmdb/engine.h"
#include "store/rows/rows.h"

TestSuite(push, .init = kit_begin, .fini = kit_end);

/* Leases items first..last of "s" as delivery `n`, and commits it if `commit`. */
static void take(struct store *store, uint64_t n, uint64_t first, uint64_t last, bool commit) {
  struct tidings_error error = new_error();
  struct arena arena = ARENA_EMPTY;
  struct head head;
  struct store_txn *txn;
  uint32_t session;
  const struct disposition_range disposition = {
      .first = first, .last = last, .outcome = OUTCOME_DELIVERED, .reason = REASON_SHOWN};
  struct delivery delivery = {.n = n,
                              .state = commit ? DELIVERY_COMMITTED : DELIVERY_LEASED,
                              .carrier = CARRIER_TOOL_RESULT,
                              .dispositions = &disposition,
                              .disposition_count = 1,
                              .after = last};
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0, "%s",
               error.text);
  cr_assert_eq(session_find(txn, span_text("s"), &session, &error), 0);
  cr_assert_eq(head_get(txn, session, &arena, &head, &error), 0);
  cr_assert_eq(ledger_lease(&head, &delivery, &arena), 0);
  if (commit) cr_assert_eq(ledger_commit(&head, &delivery, &arena), 0);
  head.last_delivery = n;
  cr_assert_eq(delivery_put(txn, session, &delivery, &error), 0);
  cr_assert_eq(head_put(txn, session, &head, &error), 0);
  cr_assert_eq(store_commit(txn, &error), 0, "%s", error.text);
  arena_free(&arena);
}

static int critical(struct store *store, uint32_t limit, struct tidings_error *error) {
  return say(store, (struct said){.level = TIDINGS_LEVEL_CRITICAL, .limit = limit}, NULL, error);
}

Test(push, five_percent_are_kept_for_criticals) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  for (int i = 0; i < 95; i++)
    cr_assert_eq(say(store, (struct said){.limit = 100, .level = (unsigned)i % 3}, NULL, &error), 0,
                 "%d", i);
  for (unsigned level = 0; level < 3; level++)
    cr_assert_eq(say(store, (struct said){.limit = 100, .level = level}, NULL, &error),
                 TIDINGS_E_FULL);
  cr_assert(strstr(error.text, "limits.pending_per_session"), "%s", error.text);
  for (int i = 0; i < 5; i++) cr_assert_eq(critical(store, 100, &error), 0, "%d", i);
  cr_assert_eq(critical(store, 100, &error), TIDINGS_E_FULL);
  cr_assert_eq(last_of(store, "s"), 100);
  cr_assert_eq(say(store, (struct said){.session = "other", .limit = 100}, NULL, &error), 0,
               "the quota is a session's");
  take(store, 1, 50, 59, false);
  cr_assert_eq(critical(store, 100, &error), TIDINGS_E_FULL, "what is leased may come back");
  take(store, 2, 60, 69, true);
  for (int i = 0; i < 5; i++)
    cr_assert_eq(say(store, (struct said){.limit = 100}, NULL, &error), 0);
  cr_assert_eq(say(store, (struct said){.limit = 100}, NULL, &error), TIDINGS_E_FULL);
  store_close(store);
}

Test(push, small_quotas_have_room_for_one) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  cr_assert_eq(say(store, (struct said){.limit = 1}, NULL, &error), 0);
  cr_assert_eq(say(store, (struct said){.limit = 1}, NULL, &error), TIDINGS_E_FULL);
  cr_assert_eq(critical(store, 1, &error), TIDINGS_E_FULL);
  store_close(store);
}

/* A session whose first push is refused must not exist afterwards. */
Test(push, what_is_refused_leaves_nothing) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct store_txn *txn;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(say(store, (struct said){.session = "never", .budget_ms = 20}, NULL, &error),
               TIDINGS_E_BUSY, "this thread holds the lock itself");
  cr_assert_null(store->db->group.first, "the slot was not withdrawn");
  cr_assert(!store->db->group.led);
  store_end(txn);
  cr_assert_eq(number_of(store, "never"), 0);
  store_close(store);
}

/* -- duplicates -------------------------------------------------------------------------------- */

static bool is_duplicate(struct store *store, const char *session, const char *source,
                         const char *id, int64_t now_ms) {
  struct tidings_error error = new_error();
  bool duplicate = false;
  int code =
      say(store, (struct said){.session = session, .source = source, .id = id, .now_ms = now_ms},
          &duplicate, &error);
  cr_assert_eq(code, 0, "%s", error.text);
  return duplicate;
}

Test(push, the_same_source_and_id_within_the_window_is_a_duplicate) {
  static const int64_t DAY = 86400000;
  struct store *store = store_at(kit_store);
  cr_assert(!is_duplicate(store, "s", "p", "1", 1000));
  cr_assert(is_duplicate(store, "s", "p", "1", 1000));
  cr_assert(is_duplicate(store, "s", "p", "1", 1000 + DAY), "the window's last moment");
  cr_assert(!is_duplicate(store, "s", "p", "1", 1001 + DAY), "outside the window it is new");
  cr_assert(is_duplicate(store, "s", "p", "1", 1001 + 2 * DAY), "and remembered anew");
  cr_assert(is_duplicate(store, "s", "p", "1", 1001), "a clock that went back");
  cr_assert(!is_duplicate(store, "s", "p", "1", 1000), "by more than the window");
  cr_assert(is_duplicate(store, "s", "p", "1", 1001 + DAY / 2), "and remembered anew");
  cr_assert(!is_duplicate(store, "s", "q", "1", 1000), "another source");
  cr_assert(!is_duplicate(store, "s", "p", "2", 1000), "another id");
  cr_assert(!is_duplicate(store, "other", "p", "1", 1000), "another session");
  cr_assert(!is_duplicate(store, "s", "", "1", 1000), "no source is a source too");
  cr_assert(is_duplicate(store, "s", "", "1", 1000));
  cr_assert(!is_duplicate(store, "s", "p", "", 1000), "without an id nothing is");
  cr_assert(!is_duplicate(store, "s", "p", "", 1000));
  cr_assert(!is_duplicate(store, "s", "ab", "c", 1000));
  cr_assert(!is_duplicate(store, "s", "a", "bc", 1000), "source and id are not one text");
  store_close(store);
  store = store_at(kit_store);
  cr_assert(is_duplicate(store, "s", "p", "2", 1000), "it is durable");
  store_close(store);
}

Test(push, what_was_refused_is_no_duplicate_afterwards) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  bool duplicate = true;
  cr_assert_eq(say(store, (struct said){.limit = 1}, NULL, &error), 0);
  cr_assert_eq(say(store, (struct said){.limit = 1, .source = "p", .id = "1"}, NULL, &error),
               TIDINGS_E_FULL);
  cr_assert_eq(say(store, (struct said){.limit = 2, .source = "p", .id = "1"}, &duplicate, &error),
               0);
  cr_assert(!duplicate);
  store_close(store);
}

/* -- numbers ----------------------------------------------------------------------------------- */

Test(push, sessions_do_not_mix) {
  struct store *store = store_at(kit_store);
  for (int i = 0; i < 20; i++) say_well(store, i % 2 ? "a" : "b", "x");
  say_well(store, "c", "x");
  cr_assert_eq(last_of(store, "a"), 10);
  cr_assert_eq(last_of(store, "b"), 10);
  cr_assert_eq(last_of(store, "c"), 1);
  cr_assert_eq(last_of(store, "d"), 0);
  cr_assert_neq(number_of(store, "a"), number_of(store, "b"));
  store_close(store);
}

/* Public ids have 32 bits for an item's number. */
Test(push, numbers_end_before_they_run_into_the_next_session) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct arena arena = ARENA_EMPTY;
  struct store_txn *txn;
  struct head head;
  say_well(store, "s", "x");
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(head_get(txn, 1, &arena, &head, &error), 0);
  head.floor = UINT32_MAX - 1;
  head.watermark = UINT32_MAX;
  cr_assert_eq(head_put(txn, 1, &head, &error), 0);
  cr_assert_eq(store_commit(txn, &error), 0);
  say_well(store, "s", "the last one");
  cr_assert_eq(last_of(store, "s"), UINT32_MAX);
  cr_assert_eq(say(store, (struct said){0}, NULL, &error), TIDINGS_E_FULL);
  arena_free(&arena);
  store_close(store);
}

/* -- a writer that does not let go ------------------------------------------------------------- */

static int hold_writer(struct child *self, void *context) {
  struct store_options options = {.directory = context, .create_budget_ms = KIT_BUDGET_MS};
  struct store *store;
  struct store_txn *txn;
  struct tidings_error error = new_error();
  uint32_t number;
  if (store_open(&options, &store, NULL)) return 1;
  if (store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, NULL)) return 2;
  if (session_add(txn, span_text("half"), &number, &error)) return 3;
  child_signal_test(self);
  child_await_test(self);
  store_end(txn);
  store_close(store);
  return 0;
}

Test(push, while_another_process_writes_it_is_busy_and_nothing_is_stored) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct store_txn *txn;
  struct child writer = child_start(hold_writer, kit_store);
  child_await(&writer);
  cr_assert_eq(kill(writer.pid, SIGSTOP), 0);
  for (int i = 0; i < 3; i++) {
    cr_assert_eq(say(store, (struct said){.budget_ms = 10}, NULL, &error), TIDINGS_E_BUSY);
    cr_assert(strstr(error.text, "another writer"), "%s", error.text);
  }
  cr_assert_eq(store_write(store, NULL, store_deadline_in(10), &txn, &error), TIDINGS_E_BUSY);
  cr_assert_null(store->db->group.first);
  cr_assert(!store->db->group.led);
  cr_assert_eq(pending_in(store, "s"), 0, "reading goes on");
  cr_assert_eq(kill(writer.pid, SIGCONT), 0);
  child_signal(&writer);
  cr_assert_eq(child_wait(&writer), 0);
  cr_assert_eq(number_of(store, "s"), 0);
  say_well(store, "s", "now");
  cr_assert_eq(last_of(store, "s"), 1);
  store_close(store);
}

Test(push, a_writer_that_dies_leaves_nothing_and_holds_nobody_up) {
  struct store *store = store_at(kit_store);
  for (int i = 0; i < 5; i++) {
    struct child writer = child_start(hold_writer, kit_store);
    child_await(&writer);
    child_kill(&writer);
    say_well(store, "s", "next");
    cr_assert_eq(number_of(store, "half"), 0);
  }
  cr_assert_eq(items_in(store, "s"), 5);
  store_close(store);
}

struct waiter {
  struct store *store;
  uint32_t budget_ms;
  int code;
};
static void *wait_and_push(void *context) {
  struct waiter *waiter = context;
  struct tidings_error error = new_error();
  waiter->code = say(waiter->store, (struct said){.budget_ms = waiter->budget_ms}, NULL, &error);
  return NULL;
}

/* Leader and followers run out of time one after the other, but the push with a longer time is
 * stored. */
Test(push, the_impatient_are_withdrawn_and_the_patient_one_leads) {
  struct store *store = store_at(kit_store);
  struct child writer = child_start(hold_writer, kit_store);
  struct waiter waiters[6];
  pthread_t threads[6];
  child_await(&writer);
  for (int i = 0; i < 6; i++) {
    waiters[i] =
        (struct waiter){.store = store, .budget_ms = i == 3 ? KIT_BUDGET_MS : 10 + 5 * (uint32_t)i};
    cr_assert_eq(pthread_create(&threads[i], NULL, wait_and_push, &waiters[i]), 0);
  }
  for (int i = 0; i < 6; i++) {
    if (i != 3) cr_assert_eq(pthread_join(threads[i], NULL), 0);
    if (i != 3) cr_assert_eq(waiters[i].code, TIDINGS_E_BUSY, "%d: %d", i, waiters[i].code);
  }
  child_signal(&writer);
  cr_assert_eq(pthread_join(threads[3], NULL), 0);
  cr_assert_eq(waiters[3].code, 0);
  cr_assert_eq(items_in(store, "s"), 1);
  cr_assert_eq(child_wait(&writer), 0);
  store_close(store);
}

/* -- a wake that is lost ----------------------------------------------------------------------- */

static int say_one(struct child *self, void *context) {
  struct store_options options = {.directory = context, .create_budget_ms = KIT_BUDGET_MS};
  struct store *store;
  struct tidings_error error = new_error();
  if (store_open(&options, &store, NULL)) return 1;
  child_signal_test(self);
  child_await_test(self);
  if (say(store, (struct said){.budget_ms = 10 * 60 * 1000}, NULL, &error)) return 2;
  child_signal_test(self);
  store_close(store);
  return 0;
}

/* Waits until the process, which was told to go on, sleeps again. */
static void await_sleep(pid_t pid) {
  char path[64], text[512], state = 'R';
  (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  while (state != 'S') {
    FILE *file = fopen(path, "r");
    cr_assert(file);
    cr_assert(fgets(text, sizeof text, file));
    state = strrchr(text, ')')[2];
    (void)fclose(file);
    sched_yield();
  }
}

/* Makes the lock look as if nobody waited for it. */
static void take_mark_away(pthread_mutex_t *lock) {
#ifdef __GLIBC__
  __atomic_fetch_and(&lock->__data.__lock, INT_MAX, __ATOMIC_SEQ_CST);
#else
  (void)lock;
  cr_skip_test("the mark is in glibc's locks only; others count who waits");
#endif
}

/* A waiter is killed after it was woken and before it has the lock. If another process takes the
 * lock in between and sees no waiters, the C library removes the mark that others wait, and they
 * sleep on. Here the test removes the mark. */
Test(push, a_wake_that_is_lost_holds_nobody_up) {
  struct store *store = store_at(kit_store);
  struct child waiter = child_start(say_one, kit_store);
  struct tidings_error error = new_error();
  child_await(&waiter);
  cr_assert_eq(shared_writer_lock(store->db, store_deadline_in(KIT_BUDGET_MS), &error), 0);
  child_signal(&waiter);
  await_sleep(waiter.pid);
  take_mark_away(&store->db->shared.page->writer);
  shared_writer_unlock(store->db);
  child_await(&waiter);
  cr_assert_eq(items_in(store, "s"), 1);
  cr_assert_eq(child_wait(&waiter), 0);
  store_close(store);
}
