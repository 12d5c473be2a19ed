/* SPDX-License-Identifier: MIT
 */
#include "agents/wait/queue.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "common/spawn.h"

enum { QUEUE_MS = 30000 };

/* Returns the path of the program that the agent runs, because the one in PATH may be another
 * version. Free it. */
static char *program_of(const struct hook_call *call, uint32_t owner) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/%u/exe", owner);
  ssize_t len = readlink(link, path, sizeof path - 1);
  path[len > 0 ? len : 0] = '\0';
  const char *slash = strrchr(path, '/');
  bool same = slash && strncmp(slash + 1, call->host->program, strlen(call->host->program)) == 0 &&
              access(path, X_OK) == 0;
  return strdup(same ? path : call->host->program);
}

/* Returns the program's exit status, or -1. Signals that this process blocks are not blocked in
 * it. */
static int run_program(const char *const argv[]) {
  pid_t child = -1;
  int status = -1;
  sigset_t none;
  sigemptyset(&none);
  const struct spawn spawn = {.argv = argv, .pipe_signal = true, .mask = &none};
  if (spawn_start(&spawn, &child)) return -1;
  if (!spawn_wait(child, QUEUE_MS, &status)) status = spawn_kill(child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int hook_queue_run(const struct hook_call *call, uint32_t owner, const char *nudge,
                   int failed_before) {
  char *program = program_of(call, owner);
  const char *const argv[] = {program,     "queue", "--thread", call->session,
                              "--message", nudge,   NULL};
  int status = program ? run_program(argv) : -1;
  if (status && status != failed_before)
    hook_log("%s queue failed with status %d; the notifications wait for the next prompt, and "
             "tidings tries again with growing pauses",
             program ? program : "", status);
  free(program);
  return status;
}
