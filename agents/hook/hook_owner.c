/* SPDX-License-Identifier: MIT
 *
 * agents/hook/hook_owner.c: see the header. Hosts run a hook through a shell, which may or may not
 * replace itself by the hook. A process is known by the file it runs: hosts rename themselves.
 *
 * An orphan has a new parent, which the kernel does not distinguish from one that has started it.
 * But a process is in the session of the one that starts it, unless it, or a process in between,
 * has begun a session of its own; an agent in a terminal and what takes orphans in are in different
 * sessions. Where that does not help, what takes orphans in is known by its name.
 */
#include "agents/hook/hook_owner.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/owner.h"

enum { MOST_GENERATIONS = 32, TRIES = 8 };
enum { FIRST_PROCESS = 1 };

static const char *const passed_over[] = {
    "sh",      "bash",  "dash",   "zsh",  "fish",    "ksh",  "ksh93", "mksh",
    "ash",     "yash",  "tcsh",   "csh",  "busybox", "env",  "nice",  "ionice",
    "timeout", "nohup", "setsid", "sudo", "stdbuf",  "chrt", "time",  "tidings"};
static const char *const takes_orphans[] = {"systemd",   "init",           "tini",
                                            "dumb-init", "docker-init",    "catatonit",
                                            "conmon",    "containerd-shim"};
static const char *const runs_scripts[] = {"node", "bun", "deno"};

#define LENGTH(list) (sizeof(list) / sizeof *(list))

/* The name of the file it runs; of another user's process that it gives itself. "": it has ended.
 */
static void find_program(uint32_t pid, char name[NAME_MAX + 1]) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/%u/exe", pid);
  ssize_t len = readlink(link, path, sizeof path - 1);
  path[len > 0 ? len : 0] = '\0';
  const char *slash = strrchr(path, '/');
  snprintf(name, NAME_MAX + 1, "%.*s", NAME_MAX, slash ? slash + 1 : path);
  if (len <= 0) owner_name(pid, name, NAME_MAX + 1);
}

static bool is_one_of(const char *name, const char *const *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(name, list[i]) == 0) return true;
  }
  return false;
}

/* In a container the agent itself may be the first process. */
static bool may_be_agent(uint32_t pid, const char *name, const struct host *host) {
  if (is_one_of(name, takes_orphans, LENGTH(takes_orphans))) return false;
  return pid != FIRST_PROCESS || is_one_of(name, runs_scripts, LENGTH(runs_scripts)) ||
         strncmp(name, host->program, strlen(host->program)) == 0;
}

/* From `parent` up. Returns false if a process has ended meanwhile. */
static bool look_above(uint32_t parent, const struct host *host, uint32_t *ret_owner) {
  char name[NAME_MAX + 1];
  struct process self, process;
  if (owner_look_up((uint32_t)getpid(), &self)) return false;
  bool own_session = self.session == self.pid; /* begun by it, or between it and the agent */
  *ret_owner = 0;
  for (uint32_t pid = parent, i = 0; pid && i < MOST_GENERATIONS; pid = process.parent, i++) {
    if (owner_look_up(pid, &process)) return false;
    find_program(pid, name);
    if (!is_one_of(name, passed_over, LENGTH(passed_over))) {
      bool related = own_session || process.session == self.session;
      if (related && may_be_agent(pid, name, host)) *ret_owner = pid;
      return true;
    }
    own_session = own_session || pid == self.session;
  }
  return true;
}

uint32_t hook_owner(const struct host *host) {
  for (int i = 0; i < TRIES; i++) {
    uint32_t owner = 0, parent = (uint32_t)getppid();
    if (look_above(parent, host, &owner) && (uint32_t)getppid() == parent) return owner;
  }
  return 0;
}
