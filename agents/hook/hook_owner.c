/* SPDX-License-Identifier: MIT
 *
 * agents/hook/hook_owner.c: see the header. Hosts run a hook through a shell, which may or may not
 * replace itself by the hook. A process is known by the file it runs: hosts rename themselves.
 */
#include "agents/hook/hook_owner.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/owner.h"

enum { MOST_GENERATIONS = 32 };

static const char *const passed_over[] = {
    "sh",      "bash",  "dash",   "zsh",  "fish",    "ksh",  "ksh93", "mksh",
    "ash",     "yash",  "tcsh",   "csh",  "busybox", "env",  "nice",  "ionice",
    "timeout", "nohup", "setsid", "sudo", "stdbuf",  "chrt", "time",  "tidings"};

/* Of another user's process, which cannot be looked at, nothing is known: it counts as an agent. */
static bool is_passed_over(uint32_t pid) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/%u/exe", pid);
  ssize_t len = readlink(link, path, sizeof path - 1);
  if (len <= 0) return false;
  path[len] = '\0';
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  for (size_t i = 0; i < sizeof passed_over / sizeof passed_over[0]; i++) {
    if (strcmp(name, passed_over[i]) == 0) return true;
  }
  return false;
}

uint32_t hook_owner(void) {
  struct process process;
  uint32_t parent = (uint32_t)getppid(), pid = parent;
  for (int i = 0; i < MOST_GENERATIONS && pid > 1; i++) {
    if (!is_passed_over(pid)) return pid;
    if (owner_look_up(pid, &process)) break;
    pid = process.parent;
  }
  return parent;
}
