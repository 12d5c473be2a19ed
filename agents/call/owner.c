/* SPDX-License-Identifier: MIT
 *
 * agents/call/owner.c: see the header. Hosts run a hook through a shell, which may or may not
 * replace itself by the hook. A process is known by the file it runs: hosts rename themselves.
 */
#include "agents/call/owner.h"

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
static const char *const runs_scripts[] = {"node", "bun", "deno"};

#define LENGTH(list) (sizeof(list) / sizeof *(list))

static bool is_one_of(const char *name, const char *const *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(name, list[i]) == 0) return true;
  }
  return false;
}

static bool is_called(const char *name, const struct host *host) {
  return strncmp(name, host->program, strlen(host->program)) == 0;
}

/* In a container the agent itself may be the first process. The file of some is called by its
 * version. */
static bool may_be_agent(uint32_t pid, const char *name, const struct host *host) {
  char title[OWNER_NAME_SIZE];
  if (pid != FIRST_PROCESS || is_one_of(name, runs_scripts, LENGTH(runs_scripts))) return true;
  owner_title(pid, title);
  return is_called(name, host) || is_called(title, host);
}

/* From `parent` up. Returns false if a process has ended meanwhile. The first process never does:
 * one that cannot be looked at is another user's, and no agent. */
static bool look_above(uint32_t parent, const struct host *host, uint32_t *ret_owner) {
  char name[OWNER_NAME_SIZE];
  struct process self, process;
  if (owner_look_up((uint32_t)getpid(), &self)) return false;
  bool own_session = self.session == self.pid; /* begun by it, or between it and the agent */
  *ret_owner = 0;
  for (uint32_t pid = parent, i = 0; pid && i < MOST_GENERATIONS; pid = process.parent, i++) {
    if (owner_look_up(pid, &process)) return pid == FIRST_PROCESS;
    owner_program(pid, name);
    if (!is_one_of(name, passed_over, LENGTH(passed_over))) {
      if (owner_has_started(&process, name, &self, own_session) && may_be_agent(pid, name, host))
        *ret_owner = pid;
      return true;
    }
    own_session = own_session || pid == self.session;
  }
  return true;
}

/* Where that cannot be looked up, though nothing changes, processes are hidden from this one. */
uint32_t hook_owner(const struct host *host) {
  for (int i = 0; i < TRIES; i++) {
    uint32_t owner = 0, parent = (uint32_t)getppid();
    if (look_above(parent, host, &owner) && (uint32_t)getppid() == parent) return owner;
  }
  return (uint32_t)getppid();
}
