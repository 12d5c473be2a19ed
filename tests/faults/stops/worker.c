/* SPDX-License-Identifier: MIT
 */
#include "stops/worker.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "kit/arguments.h"

static const char *const sessions[ROLES] = {"victim", "resident", "newcomer"};
static const char *const names[CALL_KINDS] = {"open", "push", "hook", "settle", "close"};

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Returns how long this thread has waited for a processor so far; 0 if the kernel does not count
 * it. */
static int64_t waited_ns(void) {
  char text[100] = "";
  char *end = text;
  int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  bool got = read(fd, text, sizeof text - 1) > 0;
  close(fd);
  if (!got) return 0;
  (void)strtoull(text, &end, 10); /* skips the time for which the thread ran */
  return (int64_t)strtoull(end, NULL, 10);
}

static void begin(const struct worker *worker, enum call_kind kind) {
  struct call_note *note = &worker->board->calls[worker->role].at[kind];
  if (worker->role == ROLE_VICTIM) atomic_store(&worker->board->victim_call, kind);
  else note->waited_ns = -waited_ns();
  note->ns = -now_ns();
}

static bool end(const struct worker *worker, enum call_kind kind, int32_t code,
                const struct tidings_error *error) {
  struct call_note *note = &worker->board->calls[worker->role].at[kind];
  note->ns += now_ns();
  if (worker->role != ROLE_VICTIM) note->waited_ns += waited_ns();
  note->code = code;
  note->made = true;
  if (code && code != TIDINGS_E_BUSY)
    fail("%s of the %s: %s", names[kind], sessions[worker->role], rig_why(code, error));
  return code == 0;
}

void worker_open(struct worker *worker) {
  struct tidings_error error = RIG_ERROR;
  const struct rig_open options = {.store = worker->store,
                                   .hook_budget_ms = BUDGET_MS,
                                   .total_budget_ms = worker->has_total ? BUDGET_MS : 0};
  worker->board->calls[worker->role] = (struct calls){0};
  begin(worker, CALL_OPEN);
  (void)end(worker, CALL_OPEN, rig_open(worker->rig, &options, &error), &error);
}

/* -- the work ---------------------------------------------------------------------------------- */

static void push(const struct worker *worker) {
  struct tidings_error error = RIG_ERROR;
  struct board *board = worker->board;
  uint64_t token = atomic_fetch_add(&board->next_token, 1);
  if (token >= BOARD_TOKENS) die("no tokens are left");
  board->sessions[token] = (uint8_t)worker->role;
  atomic_store(&board->tokens[token], TOKEN_BEGUN);
  begin(worker, CALL_PUSH);
  int32_t code = rig_push(worker->rig, sessions[worker->role], token, true, NULL, &error);
  if (end(worker, CALL_PUSH, code, &error)) atomic_store(&board->tokens[token], TOKEN_ACKNOWLEDGED);
}

/* Notes the state of a carrier's tokens. */
static void note_tokens(struct board *board, const struct carried *carried,
                        enum token_state state) {
  for (size_t i = 0; i < carried->tokens.count; i++) {
    uint64_t token = carried->tokens.at[i];
    if (token >= BOARD_TOKENS) fail("token %" PRIu64 " was never pushed", token);
    else if (atomic_exchange(&board->tokens[token], (uint8_t)state) == TOKEN_SETTLED)
      fail("token %" PRIu64 " was delivered after it was settled", token);
  }
}

static void settle(const struct worker *worker, const struct carried *carried) {
  struct tidings_error error = RIG_ERROR;
  note_tokens(worker->board, carried, TOKEN_SETTLING);
  begin(worker, CALL_SETTLE);
  int32_t code = rig_settle(worker->rig, carried->delivery, TIDINGS_COMMITTED, &error);
  if (end(worker, CALL_SETTLE, code, &error)) note_tokens(worker->board, carried, TOKEN_SETTLED);
}

static void deliver(const struct worker *worker) {
  struct tidings_error error = RIG_ERROR;
  struct carried carried = {0};
  begin(worker, CALL_HOOK);
  int32_t code =
      rig_deliver(worker->rig, sessions[worker->role], RIG_TOOL_RESULT, &carried, &error);
  if (end(worker, CALL_HOOK, code, &error) && carried.delivery) settle(worker, &carried);
  if (carried.damaged) fail("a damaged notification: %s", carried.sample);
  carried_clear(&carried);
}

void worker_work(struct worker *worker) {
  if (!worker->rig->plugin) return;
  push(worker);
  deliver(worker);
}

void worker_close(struct worker *worker) {
  struct tidings_error error = RIG_ERROR;
  if (!worker->rig->plugin) return;
  begin(worker, CALL_CLOSE);
  (void)end(worker, CALL_CLOSE, rig_close(worker->rig, &error), &error);
  if (worker->role == ROLE_VICTIM) atomic_store(&worker->board->victim_call, CALL_KINDS);
}

/* -- the end ----------------------------------------------------------------------------------- */

static void expect_ok(int32_t code, const struct tidings_error *error, const char *what) {
  if (code) die("afterwards, %s: %s", what, rig_why(code, error));
}

static void expect_none_lost(struct board *board, enum role role) {
  uint64_t tokens = atomic_load(&board->next_token);
  for (uint64_t token = 1; token < tokens; token++) {
    if (board->sessions[token] == role &&
        atomic_load(&board->tokens[token]) == TOKEN_ACKNOWLEDGED) {
      fail("token %" PRIu64 " of the %s is lost", token, sessions[role]);
      atomic_store(&board->tokens[token], TOKEN_SETTLED);
    }
  }
}

void worker_drain(struct worker *worker, enum role role) {
  struct tidings_error error = RIG_ERROR;
  struct carried carried = {0};
  expect_ok(rig_attach(worker->rig, sessions[role], NULL, 0, &error), &error, "attach");
  for (;;) {
    expect_ok(rig_deliver(worker->rig, sessions[role], RIG_TOOL_RESULT, &carried, &error), &error,
              "a hook");
    if (!carried.delivery) break;
    expect_ok(rig_settle(worker->rig, carried.delivery, TIDINGS_COMMITTED, &error), &error,
              "a settle");
    note_tokens(worker->board, &carried, TOKEN_SETTLED);
  }
  carried_clear(&carried);
  expect_none_lost(worker->board, role);
}
