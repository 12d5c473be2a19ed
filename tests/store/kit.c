/* SPDX-License-Identifier: MIT
 *
 * tests/store/kit.c: folders, processes, and the store.
 */
#include "kit.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char kit_folder[256], kit_store[300];

void kit_begin(void) {
  const char *place = getenv("TMPDIR");
  (void)snprintf(kit_folder, sizeof kit_folder, "%s/tidings-store-XXXXXX",
                 place && *place ? place : "/tmp");
  cr_assert_not_null(mkdtemp(kit_folder), "%s: %s", kit_folder, strerror(errno));
  (void)snprintf(kit_store, sizeof kit_store, "%s/store", kit_folder);
}

static int remove_entry(const char *path, const struct stat *entry, int kind, struct FTW *walk) {
  (void)entry;
  (void)kind;
  (void)walk;
  return remove(path);
}

void kit_end(void) { (void)nftw(kit_folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS); }

const char *kit_path(const char *name) {
  static char paths[8][400];
  static unsigned next;
  char *path = paths[next++ % 8];
  (void)snprintf(path, sizeof paths[0], "%s/%s", kit_folder, name);
  return path;
}

struct tidings_error new_error(void) {
  struct tidings_error error = {.size = sizeof error, .code = 0, .text = ""};
  return error;
}

uint64_t random_next(struct random *random) { /* splitmix64 */
  uint64_t value = random->state += UINT64_C(0x9E3779B97F4A7C15);
  value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
  return value ^ value >> 31;
}

/* -- other processes --------------------------------------------------------------------------- */

struct child child_start(int (*work)(struct child *self, void *context), void *context) {
  int to[2], from[2];
  cr_assert_eq(pipe(to), 0);
  cr_assert_eq(pipe(from), 0);
  struct child child = {.pid = fork(), .to = to[1], .from = from[0]};
  cr_assert_geq(child.pid, 0);
  if (child.pid == 0) {
    struct child self = {.pid = getpid(), .to = from[1], .from = to[0]};
    close(to[1]);
    close(from[0]);
    _exit(work(&self, context));
  }
  close(to[0]);
  close(from[1]);
  return child;
}

void child_signal_test(const struct child *self) {
  if (write(self->to, "", 1) != 1) _exit(125);
}

void child_await_test(const struct child *self) {
  char byte;
  if (read(self->from, &byte, 1) != 1) _exit(126);
}

void child_await(const struct child *child) {
  char byte;
  struct pollfd ready = {.fd = child->from, .events = POLLIN};
  cr_assert_eq(poll(&ready, 1, 60000), 1, "a child process does not signal");
  cr_assert_eq(read(child->from, &byte, 1), 1, "a child process has died");
}

void child_signal(const struct child *child) { cr_assert_eq(write(child->to, "", 1), 1); }

static void child_forget(struct child *child) {
  close(child->to);
  close(child->from);
}

void child_kill(struct child *child) {
  int status;
  cr_assert_eq(kill(child->pid, SIGKILL), 0);
  cr_assert_eq(waitpid(child->pid, &status, 0), child->pid);
  child_forget(child);
}

int child_wait(struct child *child) {
  int status;
  cr_assert_eq(waitpid(child->pid, &status, 0), child->pid);
  child_forget(child);
  cr_assert(WIFEXITED(status), "a child process was killed by signal %d", WTERMSIG(status));
  return WEXITSTATUS(status);
}

static int only_live(struct child *self, void *context) {
  (void)context;
  child_await_test(self);
  return 0;
}

struct child child_living(void) {
  return child_start(only_live, NULL);
}

/* -- the store --------------------------------------------------------------------------------- */

struct store *store_at(const char *path) {
  struct store_options options = {.directory = path, .create_budget_ms = KIT_BUDGET_MS};
  struct tidings_error error = new_error();
  struct store *store;
  int code = store_open(&options, &store, &error);
  cr_assert_eq(code, 0, "open %s: %d %s", path, code, error.text);
  return store;
}

static int hold_writer(struct child *self, void *context) {
  struct store_options options = {.directory = context, .create_budget_ms = KIT_BUDGET_MS};
  struct store *store;
  struct store_txn *txn;
  if (store_open(&options, &store, NULL)) return 1;
  if (store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, NULL)) return 2;
  child_signal_test(self);
  child_await_test(self);
  store_end(txn);
  child_signal_test(self);
  child_await_test(self);
  store_close(store);
  return 0;
}

struct child writer_holding(char *store) {
  struct child writer = child_start(hold_writer, store);
  child_await(&writer);
  return writer;
}

void writer_let_go(struct child *writer) {
  child_signal(writer);
  child_await(writer);
  child_signal(writer);
  cr_assert_eq(child_wait(writer), 0);
}

int say(struct store *store, struct said said, bool *ret_duplicate, struct tidings_error *error) {
  const struct notification note = {.source = span_text("test"),
                                    .name = span_text("said"),
                                    .message = span_text(said.message ? said.message : "news"),
                                    .level = (uint8_t)said.level};
  const struct push push = {
      .session = span_text(said.session ? said.session : "s"),
      .note = &note,
      .source = span_text(said.source ? said.source : ""),
      .id = span_text(said.id ? said.id : ""),
      .now_ms = said.now_ms ? said.now_ms : 1000000,
      .dedup_window_ms = 86400000,
      .pending_limit = said.limit ? said.limit : 10000,
  };
  bool duplicate = false;
  int code =
      store_push(store, &push, store_deadline_in(said.budget_ms ? said.budget_ms : KIT_BUDGET_MS),
                 &duplicate, NULL, error);
  if (ret_duplicate && !code) *ret_duplicate = duplicate;
  return code;
}

void say_well(struct store *store, const char *session, const char *message) {
  struct tidings_error error = new_error();
  int code = say(store, (struct said){.session = session, .message = message}, NULL, &error);
  cr_assert_eq(code, 0, "push: %d %s", code, error.text);
}

static struct store_txn *begin_reading(struct store *store, const char *session,
                                       uint32_t *ret_number) {
  struct tidings_error error = new_error();
  struct store_txn *txn;
  int code = store_read(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error);
  cr_assert_eq(code, 0, "read: %d %s", code, error.text);
  cr_assert_eq(session_find(txn, span_text(session), ret_number, &error), 0, "%s", error.text);
  return txn;
}

struct head head_of(struct store *store, const char *session, struct arena *arena) {
  struct tidings_error error = new_error();
  struct head head;
  uint32_t number;
  struct store_txn *txn = begin_reading(store, session, &number);
  cr_assert_eq(head_get(txn, number, arena, &head, &error), 0, "%s", error.text);
  store_end(txn);
  return head;
}

uint32_t number_of(struct store *store, const char *session) {
  uint32_t number;
  store_end(begin_reading(store, session, &number));
  return number;
}

uint64_t last_of(struct store *store, const char *session) {
  struct tidings_error error = new_error();
  struct arena arena = ARENA_EMPTY;
  struct head head = head_of(store, session, &arena);
  uint32_t number;
  uint64_t last;
  struct store_txn *txn = begin_reading(store, session, &number);
  cr_assert_eq(item_last(txn, number, &head, &last, &error), 0, "%s", error.text);
  store_end(txn);
  arena_free(&arena);
  return last;
}

size_t pending_in(struct store *store, const char *session) {
  struct tidings_error error = new_error();
  struct arena arena = ARENA_EMPTY;
  struct head head;
  struct item *items;
  uint32_t number;
  size_t count;
  struct store_txn *txn = begin_reading(store, session, &number);
  cr_assert_eq(head_get(txn, number, &arena, &head, &error), 0, "%s", error.text);
  cr_assert_eq(item_pending(txn, number, &head, &arena, &items, &count, &error), 0, "%s",
               error.text);
  store_end(txn);
  arena_free(&arena);
  return count;
}

static int count_item(void *context, const struct item *item) {
  (void)item;
  ++*(size_t *)context;
  return 0;
}

size_t items_in(struct store *store, const char *session) {
  struct tidings_error error = new_error();
  struct arena arena = ARENA_EMPTY;
  uint32_t number;
  size_t count = 0;
  struct store_txn *txn = begin_reading(store, session, &number);
  cr_assert_eq(item_scan(txn, number, 0, UINT64_MAX, &arena, count_item, &count, &error), 0, "%s",
               error.text);
  store_end(txn);
  arena_free(&arena);
  return count;
}

static int count_delivery(void *context, const struct delivery *delivery) {
  (void)delivery;
  ++*(size_t *)context;
  return 0;
}

size_t deliveries_in(struct store *store, const char *session) {
  struct tidings_error error = new_error();
  struct arena arena = ARENA_EMPTY;
  uint32_t number;
  size_t count = 0;
  struct store_txn *txn = begin_reading(store, session, &number);
  cr_assert_eq(delivery_scan(txn, number, &arena, count_delivery, &count, &error), 0, "%s",
               error.text);
  store_end(txn);
  arena_free(&arena);
  return count;
}
