/* SPDX-License-Identifier: MIT
 *
 * agents/call/owner.c: finds the agent above a hook. Agents run a hook through a shell, which may
 * or may not replace itself by the hook, and people put wrappers between the two.
 */
#include "agents/call/owner.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/owner.h"
#include "command/script.h"

enum { MOST_GENERATIONS = 32, TRIES = 8 };
enum { FIRST_PROCESS = 1 };

static const char *const passed_over[] = {
    "sh",      "bash",    "dash",    "zsh",     "fish",    "ksh",    "ksh93",      "mksh",
    "ash",     "yash",    "tcsh",    "csh",     "busybox", "nu",     "pwsh",       "elvish",
    "xonsh",   "env",     "nice",    "ionice",  "timeout", "nohup",  "setsid",     "sudo",
    "doas",    "su",      "runuser", "stdbuf",  "chrt",    "time",   "flock",      "unshare",
    "nsenter", "chroot",  "setarch", "taskset", "prlimit", "script", "xargs",      "strace",
    "bwrap",   "tidings", "npm",     "npx",     "uv",      "uvx",    "npm-cli.js", "npx-cli.js"};

static bool is_passed_over(const char *name) {
  for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; i++) {
    if (strcmp(name, passed_over[i]) == 0) return true;
  }
  return false;
}

/* A process, the names of the file and the script that it runs, and, if it may matter, the name
 * that it gives itself. */
struct seen {
  struct process process;
  char program[OWNER_NAME_SIZE], title[OWNER_NAME_SIZE], script[OWNER_NAME_SIZE];
};

static bool is_between(const struct seen *seen) {
  const char *slash = strrchr(seen->script, '/'), *script = slash ? slash + 1 : seen->script;
  return is_passed_over(script[0] ? script : seen->program);
}

/* Does the process run a file whose name consists of the agent's name and a platform? */
static bool runs_file_of(const struct seen *seen, const struct host *host) {
  size_t len = strlen(host->program);
  return strncmp(seen->program, host->program, len) == 0 &&
         !(seen->program[len] >= 'a' && seen->program[len] <= 'z');
}

/* Reads only the files of /proc that the hook needs, because it has little time. */
static int look_at(uint32_t pid, const struct host *host, struct seen *ret_seen) {
  if (owner_look_up(pid, &ret_seen->process)) return -1;
  owner_program(pid, ret_seen->program);
  owner_script(pid, ret_seen->program, ret_seen->script);
  ret_seen->title[0] = '\0';
  if (host && !runs_file_of(ret_seen, host) && !is_between(ret_seen))
    owner_title(pid, ret_seen->title);
  return 0;
}

/* Is it the agent, by one of these names? Some agents' files are named after a version, so that
 * only the process's title is the agent's name. A shell that runs a script of that name has the
 * same title, so titles of shells are ignored. */
static bool is_agent(const struct seen *seen, const struct host *host) {
  return host && (runs_file_of(seen, host) || strcmp(seen->title, host->program) == 0 ||
                  script_is_of(seen->script, host->program));
}

/* The result of looking at this process's ancestors, from the parent on. */
struct look {
  uint32_t owner;      /* the agent, found by its name */
  struct seen nearest; /* the nearest ancestor that is no wrapper; pid 0: none */
  uint32_t unseen;     /* a process of which only the pid is known; 0: none */
  char chain[256];     /* for people: "sh 12, systemd 1" */
};

static void add_to_chain(struct look *look, const struct seen *seen) {
  size_t len = strlen(look->chain);
  snprintf(look->chain + len, sizeof look->chain - len, "%s%.40s %u", len ? ", " : "",
           seen->program, seen->process.pid);
}

/* It stops at a process that has adopted an orphan, because the processes above it are not related
 * to this one. */
static void look_above(uint32_t parent, const struct host *host, struct look *ret_look) {
  struct look look = {.owner = 0};
  struct process self = {.pid = 0};
  struct seen seen;
  if (owner_look_up((uint32_t)getpid(), &self)) look.unseen = (uint32_t)getpid();
  bool own_session = self.session == self.pid; /* this process, or one between it and the agent,
                                                  leads the process session */
  for (uint32_t pid = parent, i = 0; !look.unseen && pid && i < MOST_GENERATIONS;
       pid = seen.process.parent, i++) {
    if (look_at(pid, host, &seen)) {
      look.unseen = pid;
      break;
    }
    add_to_chain(&look, &seen);
    if (!owner_has_started(&seen.process, seen.program, &self, own_session)) break;
    if (is_agent(&seen, host)) {
      look.owner = pid;
      break;
    }
    if (!look.nearest.process.pid && !is_between(&seen)) look.nearest = seen;
    own_session = own_session || pid == self.session;
  }
  *ret_look = look;
}

/* A process that is not recognized by its name counts as the agent unless it is the first one, or a
 * wrapper that has lost its own parent. */
static bool may_be_agent(const struct process *process) {
  struct process above;
  char program[OWNER_NAME_SIZE];
  if (!process->pid || process->pid == FIRST_PROCESS) return false;
  if (process->pid == process->session || owner_look_up(process->parent, &above)) return true;
  owner_program(above.pid, program);
  return above.pid != FIRST_PROCESS && owner_has_started(&above, program, process, false);
}

static void explain(const struct look *look, const struct host *host, char why[OWNER_WHY_SIZE]) {
  if (look->unseen > FIRST_PROCESS)
    snprintf(why, OWNER_WHY_SIZE,
             OWNER_NOT_FOUND ": process %u, above this one (%s), cannot be read in /proc: it is "
                             "hidden (hidepid), or has ended; this call does its work without it",
             look->unseen, look->chain);
  else
    snprintf(why, OWNER_WHY_SIZE,
             OWNER_NOT_FOUND ": none of the processes above this one is %s (%s): it has ended, or "
                             "it runs under another name; this call does its work without it",
             host->title, look->chain);
}

uint32_t hook_owner(const struct host *host, char why[OWNER_WHY_SIZE]) {
  struct look look;
  why[0] = '\0';
  for (int i = 0; i < TRIES; i++) {
    uint32_t parent = (uint32_t)getppid();
    look_above(parent, host, &look);
    bool changes = (uint32_t)getppid() != parent;
    if (look.owner && !changes) return look.owner;
    if (look.unseen <= FIRST_PROCESS && !changes) break;
  }
  if (may_be_agent(&look.nearest.process)) return look.nearest.process.pid;
  if (host) explain(&look, host, why);
  return 0;
}

bool hook_owner_is(uint32_t pid, const struct host *host) {
  struct seen seen;
  return !look_at(pid, host, &seen) && is_agent(&seen, host);
}
