/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_known.c: a push uses what the previous push has found out. The tests do
 * everything that may happen between the two.
 */
#include <criterion/criterion.h>

#include "kit.h"
#include "store/push/known.h"

TestSuite(known, .init = kit_begin, .fini = kit_end);

/* A write that changes nothing but the head. */
static void write_head(struct store *store, const char *session, uint32_t owner_pid) {
  struct tidings_error error = new_error();
  struct arena arena = ARENA_EMPTY;
  struct store_txn *txn;
  struct head head;
  uint32_t number;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0, "%s",
               error.text);
  cr_assert_eq(session_find(txn, span_text(session), &number, &error), 0);
  cr_assert_eq(head_get(txn, number, &arena, &head, &error), 0);
  head.owner.pid = owner_pid;
  cr_assert_eq(head_put(txn, number, &head, &error), 0);
  cr_assert_eq(store_commit(txn, &error), 0, "%s", error.text);
  arena_free(&arena);
}

static void declare_other_kinds(struct store *store, const char *session) {
  struct tidings_error error = new_error();
  const struct tidings_span kinds[] = {span_text("none-that-is-pushed")};
  const struct declaration tool = {span_text("test"), kinds, 1};
  const struct declarations tools = {&tool, 1};
  struct store_txn *txn;
  uint32_t number;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0, "%s",
               error.text);
  cr_assert_eq(session_find(txn, span_text(session), &number, &error), 0);
  cr_assert_eq(tools_put(txn, number, &tools, &error), 0, "%s", error.text);
  cr_assert_eq(store_commit(txn, &error), 0, "%s", error.text);
}

/* Pushes into "s" at each signal. */
static int push_at_each_signal(struct child *self, void *context) {
  struct store *store = store_at(kit_store);
  const int *times = context;
  for (int i = 0; i < *times; i++) {
    child_await_test(self);
    say_well(store, "s", "theirs");
    child_signal_test(self);
  }
  store_close(store);
  return 0;
}

/* The push takes its number from memory, where the test puts another one. */
Test(known, a_push_after_a_push_looks_nothing_up) {
  struct store *store = store_at(kit_store);
  say_well(store, "s", "one");
  cr_assert_eq(store->known.place.last, 1);
  store->known.place.last = 41;
  say_well(store, "s", "two");
  cr_assert_eq(last_of(store, "s"), 42);
  store_close(store);
}

Test(known, a_write_in_between_makes_it_look_again) {
  struct store *store = store_at(kit_store);
  say_well(store, "s", "one");
  write_head(store, "s", 0);
  store->known.place.last = 41;
  say_well(store, "s", "two");
  cr_assert_eq(last_of(store, "s"), 2);
  store->known.place.last = 41;
  say_well(store, "other", "one");
  say_well(store, "s", "three");
  cr_assert_eq(last_of(store, "s"), 3, "one session is known at a time");
  cr_assert_eq(last_of(store, "other"), 1);
  store_close(store);
}

Test(known, what_another_process_has_pushed_is_seen) {
  struct store *store = store_at(kit_store);
  int times = 5;
  struct child child = child_start(push_at_each_signal, &times);
  for (int i = 0; i < times; i++) {
    say_well(store, "s", "ours");
    say_well(store, "s", "ours too");
    child_signal(&child);
    child_await(&child);
    cr_assert_eq(last_of(store, "s"), (uint64_t)i * 3 + 3);
  }
  say_well(store, "s", "ours");
  cr_assert_eq(items_in(store, "s"), (size_t)times * 3 + 1, "none took the place of another");
  cr_assert_eq(child_wait(&child), 0);
  store_close(store);
}

static bool are_ours(struct store *store) {
  struct tidings_error error = new_error();
  struct store_txn *txn;
  cr_assert_eq(store_read(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0, "%s",
               error.text);
  bool ours = db_state(txn->db).before;
  store_end(txn);
  return ours;
}

/* Such a commit uses no number, so the next one, of another process, gets it. */
Test(known, a_commit_that_wrote_nothing_is_none) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct store_txn *txn;
  int times = 1;
  struct child child = child_start(push_at_each_signal, &times);
  cr_assert(!are_ours(store), "it has committed nothing");
  say_well(store, "s", "ours");
  cr_assert(are_ours(store));
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0, "%s",
               error.text);
  cr_assert_eq(store_commit(txn, &error), 0, "%s", error.text);
  cr_assert(are_ours(store), "they are as they were");
  child_signal(&child);
  child_await(&child);
  cr_assert(!are_ours(store));
  cr_assert_eq(child_wait(&child), 0);
  store_close(store);
}

Test(known, the_quota_counts_what_is_known) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  const struct said said = {.limit = 4};
  for (int i = 0; i < 4; i++) cr_assert_eq(say(store, said, NULL, &error), 0, "%d", i);
  for (int i = 0; i < 2; i++) cr_assert_eq(say(store, said, NULL, &error), TIDINGS_E_FULL);
  cr_assert_eq(items_in(store, "s"), 4);
  store_close(store);
}

/* A session whose first push was refused is not stored, and another session gets its number. */
Test(known, a_batch_that_is_given_up_leaves_nothing_known) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  say_well(store, "s", "one");
  cr_assert_eq(say(store, (struct said){.session = "new"}, NULL, &error), 0);
  cr_assert_eq(say(store, (struct said){.session = "new", .limit = 1}, NULL, &error),
               TIDINGS_E_FULL);
  cr_assert_eq(store->known.name_len, 0);
  say_well(store, "third", "one");
  cr_assert_eq(number_of(store, "third"), 3);
  say_well(store, "new", "two");
  cr_assert_eq(last_of(store, "new"), 2);
  store_close(store);
}

Test(known, kinds_that_were_declared_in_between_count) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  say_well(store, "s", "one");
  say_well(store, "s", "two");
  declare_other_kinds(store, "s");
  for (int i = 0; i < 2; i++)
    cr_assert_eq(say(store, (struct said){.message = "no"}, NULL, &error), TIDINGS_E_SCHEMA, "%s",
                 error.text);
  cr_assert_eq(items_in(store, "s"), 2);
  store_close(store);
}

Test(known, the_owner_is_the_one_who_attached_last) {
  struct store *store = store_at(kit_store);
  say_well(store, "s", "one");
  write_head(store, "s", 77);
  say_well(store, "s", "two");
  cr_assert_eq(store->known.place.owner.pid, 77);
  write_head(store, "s", 78);
  say_well(store, "s", "three");
  cr_assert_eq(store->known.place.owner.pid, 78);
  store_close(store);
}

Test(known, a_session_with_a_name_too_long_to_keep_is_looked_up) {
  struct store *store = store_at(kit_store);
  char name[PUSH_NAME_BYTES + 2];
  memset(name, 'n', sizeof name);
  name[sizeof name - 1] = '\0';
  for (int i = 0; i < 2; i++) {
    say_well(store, name, "one");
    cr_assert_eq(store->known.name_len, 0);
  }
  name[PUSH_NAME_BYTES] = '\0';
  for (int i = 0; i < 2; i++) say_well(store, name, "one");
  cr_assert_eq(store->known.name_len, PUSH_NAME_BYTES);
  cr_assert_eq(last_of(store, name), 2);
  store_close(store);
}
