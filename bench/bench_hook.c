/* SPDX-License-Identifier: MIT
 *
 * bench_hook.c: measures the hook when nothing is pending; every tool result waits for it.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "calls.h"
#include "common/clock.h"
#include "raw.h"
#include "samples.h"
#include "target.h"

enum { CALLS = 20000, ROUNDS = 31, ROUNDS_QUICK = 9, COUNTED = 1000 };

#define BUDGET_NS 60.0

static void call_hook(struct target *target, uint64_t times) {
  static const char session[] = "quiet";
  struct tidings_tool_result result = {.size = sizeof result,
                                       .session = {session, sizeof session - 1}};
  for (uint64_t i = 0; i < times; i++) {
    const struct tidings_reply *reply = NULL;
    if (target->plugin->on_tool_result(target->plugin, &result, &reply, NULL) != 0 || reply)
      bench_die("a hook with nothing pending delivered something");
  }
}

/* Makes a session that is attached and has had a notification before. */
static void prepare(struct target *target) {
  target_push(target, "quiet", 1);
  target_drain(target, "quiet");
  call_hook(target, CALLS);
}

struct counted {
  const char *plugin;
  const char *store;
  uint64_t times;
};

static void count_body(void *context) {
  const struct counted *counted = context;
  struct target target;
  target_load(&target, counted->plugin);
  target_open(&target, counted->store, TIDINGS_ROLE_HOST);
  prepare(&target);
  calls_mark();
  call_hook(&target, counted->times);
  calls_mark();
}

/* Counts the system calls of COUNTED hooks, less those of no hook. */
static int64_t count_system_calls(const struct bench *bench, const char *store) {
  struct counted none = {bench->plugin, store, 0}, some = {bench->plugin, store, COUNTED};
  int64_t without = calls_system(count_body, &none);
  int64_t with = calls_system(count_body, &some);
  return without < 0 || with < 0 ? -1 : (with - without) / 2;
}

/* Starts a process that commits to the same store until it is killed. */
static pid_t start_foreign_commits(const struct bench *bench, const char *store) {
  pid_t child = fork();
  if (child < 0) bench_die("fork failed");
  if (child > 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct target target;
  target_load(&target, bench->plugin);
  target_open(&target, store, TIDINGS_ROLE_PRODUCER);
  char session[SESSION_BYTES];
  for (uint64_t n = 0, number = 0;; n++) {
    snprintf(session, sizeof session, "foreign-%" PRIu64, number);
    if (target_push(&target, session, n) == TIDINGS_E_FULL) number++;
  }
}

static void measure_hook(struct bench *bench, struct row *row, struct target *target,
                         struct raw *raw) {
  struct samples floor = {0}, hook = {0};
  for (int round = 0; round < (bench->quick ? ROUNDS_QUICK : ROUNDS); round++) {
    uint64_t began = clock_mono_ns();
    raw_renew(raw, CALLS);
    uint64_t between = clock_mono_ns();
    call_hook(target, CALLS);
    samples_add(&floor, (double)(between - began) / (double)CALLS);
    samples_add(&hook, (double)(clock_mono_ns() - between) / (double)CALLS);
  }
  uint64_t before = calls_allocations();
  call_hook(target, COUNTED);
  uint64_t allocations = calls_allocations() - before;
  row->unit = UNIT_NS;
  row->floor = samples_median(&floor);
  row->measured = samples_median(&hook);
  row->budget = BUDGET_NS;
  row->budget_is_absolute = true;
  row->failed = allocations != 0;
  snprintf(row->note, sizeof row->note, "%" PRIu64 " allocations", allocations);
  samples_free(&floor);
  samples_free(&hook);
}

static void note_system_calls(struct row *row, int64_t calls) {
  size_t length = strlen(row->note);
  if (calls < 0) {
    snprintf(row->note + length, sizeof row->note - length,
             ", system calls not counted (no ptrace)");
  } else {
    snprintf(row->note + length, sizeof row->note - length, ", %" PRId64 " system calls in %d",
             calls, COUNTED);
    row->failed = row->failed || calls != 0;
  }
}

static void hook_row(struct bench *bench, const char *state, const char *store, bool foreign) {
  struct row *row = bench_row(bench, "hook, nothing pending");
  char raw_path[PATH_BYTES];
  struct target target;
  snprintf(row->state, sizeof row->state, "%s", state);
  snprintf(row->floor_is, sizeof row->floor_is, "renew + reset of a read transaction");
  int64_t calls = count_system_calls(bench, store);
  pid_t child = foreign ? start_foreign_commits(bench, store) : 0;
  bench_store_path(bench, raw_path);
  struct raw *raw = raw_open(raw_path);
  target_load(&target, bench->plugin);
  target_open(&target, store, TIDINGS_ROLE_HOST);
  prepare(&target);
  measure_hook(bench, row, &target, raw);
  note_system_calls(row, calls);
  if (child) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
  }
  target_unload(&target);
  raw_close(raw);
}

void bench_hook(struct bench *bench) {
  char store[PATH_BYTES], state[96];
  if (!bench_is_selected(bench, "hook, nothing pending")) return;
  bench_store_path(bench, store);
  hook_row(bench, "empty", store, false);
  bench_store_path(bench, store); /* a session belongs to the process that delivered last, and each
                                     row counts in children first */
  hook_row(bench, "another process commits all the while", store, true);
  const char *big = bench_big_store(bench);
  snprintf(state, sizeof state, "%" PRIu64 " other items pending", bench->big_items);
  hook_row(bench, state, big, false);
}
