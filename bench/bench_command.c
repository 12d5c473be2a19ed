/* SPDX-License-Identifier: MIT
 *
 * bench_command.c: measures `tidings hook` from the start of the process to its exit; an agent
 * waits for it at each tool result. A hook with nothing pending is compared with a program that
 * does nothing, and a hook that shows ten of many pending notifications with one that shows ten of
 * ten.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/spawn.h"
#include "duel.h"

enum { ROUNDS = 201, ROUNDS_QUICK = 41, ROUNDS_OF_TEN = 41, ROUNDS_OF_TEN_QUICK = 9 };

#define BEYOND_NS 5e6

struct hook {
  char store[PATH_BYTES], pid[16], input[PATH_BYTES + 16], output[PATH_BYTES + 16];
};

static void begin_hook(struct hook *hook, const struct bench *bench, const char *store,
                       const char *session) {
  char folder[PATH_BYTES + 32];
  snprintf(hook->store, sizeof hook->store, "%s", store);
  snprintf(hook->pid, sizeof hook->pid, "%ld", (long)getpid());
  snprintf(hook->input, sizeof hook->input, "%s.%s.json", store, session);
  snprintf(hook->output, sizeof hook->output, "%s.%s.out", store, session);
  setenv("TIDINGS_PLUGIN", bench->plugin, 1);
  static const char *const below[] = {".agent", ".agent/projects", ".agent/projects/x"};
  for (int i = 0; i < 3; i++) {
    snprintf(folder, sizeof folder, "%s%s", store, below[i]);
    if (mkdir(folder, 0700) && errno != EEXIST) bench_die("%s: %s", folder, strerror(errno));
  }
  FILE *file = fopen(hook->input, "w");
  if (!file ||
      fprintf(file,
              "{\"session_id\": \"%s\", \"hook_event_name\": \"PostToolUse\", "
              "\"transcript_path\": \"%s/%s.jsonl\", \"tool_name\": \"ls\", "
              "\"tool_use_id\": \"c\", \"tool_input\": {}, \"tool_response\": \"ok\"}",
              session, folder, session) < 0 ||
      fclose(file))
    bench_die("%s: %s", hook->input, strerror(errno));
}

/* Returns the nanoseconds from the start of the program to its exit. */
static double run(const char *const argv[], const char *input, const char *output) {
  pid_t child = -1;
  int status = 0, in = open(input, O_RDONLY | O_CLOEXEC),
      out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (in < 0 || out < 0) bench_die("%s: %s", input, strerror(errno));
  const struct spawn spawn = {.program = argv[0], .argv = argv, .in = in, .out = out};
  uint64_t began = clock_mono_ns();
  int reason = spawn_start(&spawn, &child);
  if (reason) bench_die("%s: %s", argv[0], strerror(reason));
  spawn_wait(child, -1, &status);
  double taken = (double)(clock_mono_ns() - began);
  close(in);
  close(out);
  if (!WIFEXITED(status) || WEXITSTATUS(status))
    bench_die("%s: ended with status %d", argv[0], status);
  return taken;
}

static double run_hook(const struct hook *hook, const char *agent) {
  const char *const argv[] = {BENCH_COMMAND, "hook",    "--budget",  "60s", "--owner",
                              hook->pid,     "--store", hook->store, agent, NULL};
  return run(argv, hook->input, hook->output);
}

static void nothing_pending(struct bench *bench) {
  const char *const floor_argv[] = {"/bin/true", NULL};
  struct duel duel;
  struct hook hook;
  if (!duel_begin(bench, "hook command, nothing pending", &duel)) return;
  begin_hook(&hook, bench, duel.store, "quiet");
  (void)run_hook(&hook, "codex"); /* makes the store, and attaches */
  for (int round = 0; round < (bench->quick ? ROUNDS_QUICK : ROUNDS); round++) {
    samples_add(&duel.floor, run(floor_argv, hook.input, hook.output) / 1000);
    samples_add(&duel.measured, run_hook(&hook, "codex") / 1000);
  }
  duel.row->budget_is_absolute = true;
  duel_end(&duel, UNIT_US, samples_median(&duel.floor) + BEYOND_NS / 1000,
           "/bin/true, from start to exit", "empty");
}

/* Runs a hook that shows notifications. The delivery stays leased, because no transcript has it. */
static double run_that_shows(const struct hook *hook) {
  char answer[65536];
  double taken = run_hook(hook, "claude");
  FILE *file = fopen(hook->output, "r");
  size_t len = file ? fread(answer, 1, sizeof answer - 1, file) : 0, shown = 0;
  if (file) (void)fclose(file);
  answer[len] = '\0';
  for (const char *at = answer; (at = strstr(at, "Tool `cargo_check`")); at++) shown++;
  if (shown < 10) bench_die("a hook showed %zu of ten notifications: %s", shown, answer);
  return taken;
}

static void process_ten_of(struct bench *bench, const char *name, uint64_t pending, double budget) {
  struct duel duel;
  struct hook few, many;
  if (!duel_begin(bench, name, &duel)) return;
  begin_hook(&few, bench, duel.store, "few");
  begin_hook(&many, bench, duel.store, "many");
  target_load(&duel.target, bench->plugin);
  target_open(&duel.target, duel.store, TIDINGS_ROLE_PRODUCER);
  target_configure(&duel.target, "{\"limits\":{\"pending_per_session\":200000}}");
  target_fill(&duel.target, "many", pending);
  for (int round = bench->quick ? ROUNDS_OF_TEN_QUICK : ROUNDS_OF_TEN; round; round--) {
    target_fill(&duel.target, "few", 10);
    double of_few = run_that_shows(&few), of_many = run_that_shows(&many);
    samples_add(&duel.floor, of_few / 1000);
    samples_add(&duel.measured, of_many / 1000);
  }
  duel_end(&duel, UNIT_US, budget, "a process that shows ten of ten", "%" PRIu64 " pending",
           pending);
}

void bench_command(struct bench *bench) {
  nothing_pending(bench);
  process_ten_of(bench, "hook command, 10 of 9,000", 9000, 2);
  process_ten_of(bench, "hook command, 10 of 86,000", 86000, 3.5);
}
