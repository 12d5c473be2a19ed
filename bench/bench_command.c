/* SPDX-License-Identifier: MIT
 *
 * bench_command.c: `tidings hook` with nothing pending, from the process's start to its exit,
 * beside a program that does nothing: what an agent waits for at each tool result.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "common/clock.h"
#include "common/spawn.h"
#include "samples.h"
#include "target.h"

enum { ROUNDS = 201, ROUNDS_QUICK = 41 };

#define BEYOND_NS 5e6

static void write_call(const char *path) {
  static const char call[] = "{\"session_id\": \"quiet\", \"hook_event_name\": \"PostToolUse\", "
                             "\"tool_name\": \"ls\", \"tool_use_id\": \"c\", "
                             "\"tool_input\": {}, \"tool_response\": \"ok\"}";
  FILE *file = fopen(path, "w");
  if (!file || fputs(call, file) < 0 || fclose(file)) bench_die("%s: %s", path, strerror(errno));
}

/* Nanoseconds from its start to its exit. */
static double run(const char *const argv[], const char *input) {
  pid_t child = -1;
  int status = 0, in = open(input, O_RDONLY | O_CLOEXEC);
  if (in < 0) bench_die("%s: %s", input, strerror(errno));
  const struct spawn spawn = {.program = argv[0], .argv = argv, .in = in, .out = SPAWN_NULL};
  uint64_t began = clock_mono_ns();
  int reason = spawn_start(&spawn, &child);
  if (reason) bench_die("%s: %s", argv[0], strerror(reason));
  spawn_wait(child, -1, &status);
  double taken = (double)(clock_mono_ns() - began);
  close(in);
  if (!WIFEXITED(status) || WEXITSTATUS(status))
    bench_die("%s: ended with status %d", argv[0], status);
  return taken;
}

void bench_command(struct bench *bench) {
  char store[PATH_BYTES], input[PATH_BYTES + 8], pid[16], plugin[PATH_BYTES];
  const char *const quiet[] = {BENCH_COMMAND, "hook", "--owner", pid,
                               "--store",     store,  "codex",   NULL};
  const char *const floor_argv[] = {"/bin/true", NULL};
  struct samples floor = {0}, hook = {0};
  if (!bench_is_selected(bench, "hook command")) return;
  bench_store_path(bench, store);
  snprintf(input, sizeof input, "%s.json", store);
  snprintf(pid, sizeof pid, "%ld", (long)getpid());
  snprintf(plugin, sizeof plugin, "%s", bench->plugin);
  setenv("TIDINGS_PLUGIN", plugin, 1);
  write_call(input);
  (void)run(quiet, input); /* makes the store, and attaches */
  for (int round = 0; round < (bench->quick ? ROUNDS_QUICK : ROUNDS); round++) {
    samples_add(&floor, run(floor_argv, input));
    samples_add(&hook, run(quiet, input));
  }
  struct row *row = bench_row(bench, "hook command, nothing pending");
  snprintf(row->state, sizeof row->state, "empty");
  snprintf(row->floor_is, sizeof row->floor_is, "/bin/true, from start to exit");
  row->unit = UNIT_US;
  row->floor = samples_median(&floor) / 1000;
  row->measured = samples_median(&hook) / 1000;
  row->budget = row->floor + BEYOND_NS / 1000;
  row->budget_is_absolute = true;
  samples_free(&floor);
  samples_free(&hook);
}
