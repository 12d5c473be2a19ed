/* SPDX-License-Identifier: MIT
 *
 * tests/agents/hooks/owner_chain.c: finds the agent among the processes above a hook. The linker
 * replaces the functions that look at processes by those of this file, so that the chains of
 * processes are the same on each machine, and change at the same moment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "agents/call/owner.h"
#include "command/owner.h"

enum { MOST = 6 };

struct one {
  uint32_t pid, parent, session;
  const char *program, *title, *script;
};

/* Processes, of which the first is the hook. */
struct chain {
  const char *what;
  struct one processes[MOST];
  uint32_t owner;
  uint32_t lost; /* ends when it is first looked at; its child then has parent 1 */
};

static const struct chain chains[] = {
    {.what = "the parent",
     .processes = {{9, 5, 3, "", NULL, NULL}, {5, 3, 3, "claude", NULL, NULL}},
     .owner = 5},
    {.what = "above shells, whatever it is called",
     .processes = {{9, 8, 3, "", NULL, NULL},
                   {8, 7, 3, "sh", NULL, NULL},
                   {7, 5, 3, "env", NULL, NULL},
                   {5, 3, 3, "any", NULL, NULL}},
     .owner = 5},
    {.what = "a hook in a session of its own",
     .processes = {{9, 5, 9, "", NULL, NULL}, {5, 3, 3, "node", NULL, NULL}},
     .owner = 5},
    {.what = "a shell in a session of its own",
     .processes = {{9, 8, 8, "", NULL, NULL},
                   {8, 5, 8, "sh", NULL, NULL},
                   {5, 3, 3, "node", NULL, NULL}},
     .owner = 5},
    {.what = "an agent that is a container's first process",
     .processes = {{9, 8, 1, "", NULL, NULL},
                   {8, 1, 1, "sh", NULL, NULL},
                   {1, 0, 1, "claude-linux", NULL, NULL}},
     .owner = 1},
    {.what = "the same, of a script",
     .processes = {{9, 1, 9, "", NULL, NULL}, {1, 0, 1, "node", NULL, "/usr/bin/claude"}},
     .owner = 1},
    {.what = "but not of another script, which takes orphans in",
     .processes = {{9, 1, 9, "", NULL, NULL}, {1, 0, 1, "node", NULL, "/app/server.js"}}},
    {.what = "the same, of a file that is called by its version",
     .processes = {{9, 8, 1, "", NULL, NULL},
                   {8, 1, 1, "sh", NULL, NULL},
                   {1, 0, 1, "2.1.329", "claude", NULL}},
     .owner = 1},
    {.what = "above a wrapper that waits for the hook",
     .processes = {{9, 8, 3, "", NULL, NULL},
                   {8, 7, 3, "python3", NULL, "/h/u/wrap.py"},
                   {7, 5, 3, "node", "MainThread", "/h/u/wrap.mjs"},
                   {5, 3, 3, "node", "node",
                    "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"}},
     .owner = 5},
    {.what = "not the wrapper of an agent that has ended",
     .processes = {{9, 8, 3, "", NULL, NULL},
                   {8, 4, 3, "python3", NULL, "/h/u/wrap.py"},
                   {4, 1, 4, "systemd", NULL, NULL}}},
    {.what = "through an emulator and the dynamic loader",
     .processes = {{9, 8, 3, "", NULL, NULL},
                   {8, 7, 3, "qemu-aarch64-static", "sh", "/bin/sh"},
                   {7, 5, 3, "ld-linux-x86-64.so.2", "ld.so", "/bin/dash"},
                   {5, 3, 3, "any", NULL, NULL}},
     .owner = 5},
    {.what = "no shell that runs a script of its name",
     .processes = {{9, 8, 3, "", NULL, NULL},
                   {8, 7, 3, "bash", "claude", NULL},
                   {7, 4, 3, "dash", "claude", NULL},
                   {4, 3, 3, "2.1.330", NULL, NULL}},
     .owner = 4},
    {.what = "the nearest of two agents",
     .processes = {{9, 8, 3, "", NULL, NULL},
                   {8, 5, 3, "claude", NULL, NULL},
                   {5, 3, 3, "claude", NULL, NULL}},
     .owner = 8},
    {.what = "no program whose name only begins like the agent's",
     .processes = {{9, 8, 3, "", NULL, NULL},
                   {8, 5, 3, "claudette", NULL, NULL},
                   {5, 3, 3, "claude", NULL, NULL}},
     .owner = 5},
    {.what = "no orphan's new parent, in another session",
     .processes = {{9, 5, 3, "", NULL, NULL}, {5, 1, 5, "any", NULL, NULL}}},
    {.what = "nor above the orphan's shell",
     .processes = {{9, 8, 3, "", NULL, NULL},
                   {8, 5, 3, "sh", NULL, NULL},
                   {5, 1, 5, "node", NULL, NULL}}},
    {.what = "nor the first process, if that is no agent",
     .processes = {{9, 1, 9, "", NULL, NULL}, {1, 0, 1, "any", NULL, NULL}}},
    {.what = "nothing that is hidden from it", .processes = {{9, 5, 9, "", NULL, NULL}}},
    {.what = "nor another user's first process", .processes = {{9, 1, 9, "", NULL, NULL}}},
    {.what = "nor the shell of an orphan, below it",
     .processes = {{9, 8, 8, "", NULL, NULL}, {8, 1, 8, "sh", NULL, NULL}}},
    {.what = "nor what takes orphans in",
     .processes = {{9, 8, 8, "", NULL, NULL},
                   {8, 5, 8, "sh", NULL, NULL},
                   {5, 1, 5, "systemd", NULL, NULL}}},
    {.what = "nor a process outside of the container", .processes = {{9, 0, 9, "", NULL, NULL}}},
    {.what = "nor shells without end",
     .processes = {{9, 8, 3, "", NULL, NULL}, {8, 8, 3, "sh", NULL, NULL}}},
    {.what = "the agent has ended when it is looked at",
     .processes = {{9, 5, 9, "", NULL, NULL},
                   {5, 1, 3, "claude", NULL, NULL},
                   {1, 0, 1, "init", NULL, NULL}},
     .lost = 5},
    {.what = "the shell has ended when it is looked at",
     .processes = {{9, 8, 9, "", NULL, NULL},
                   {8, 5, 8, "sh", NULL, NULL},
                   {5, 1, 3, "node", NULL, NULL},
                   {1, 0, 1, "any", NULL, NULL}},
     .lost = 8},
};

static struct one now[MOST];
static uint32_t lost;

static struct one *find(uint32_t pid) {
  for (size_t i = 0; i < MOST; i++) {
    if (pid && now[i].pid == pid) return &now[i];
  }
  return NULL;
}

static void lose(uint32_t pid) {
  find(pid)->pid = 0;
  for (size_t i = 0; i < MOST; i++) {
    if (now[i].parent == pid) now[i].parent = 1;
  }
  lost = 0;
}

pid_t __wrap_getpid(void);
pid_t __wrap_getpid(void) { return (pid_t)now[0].pid; }

pid_t __wrap_getppid(void);
pid_t __wrap_getppid(void) { return (pid_t)now[0].parent; }

int __wrap_owner_look_up(uint32_t pid, struct process *ret_process);
int __wrap_owner_look_up(uint32_t pid, struct process *ret_process) {
  if (pid == lost) lose(pid);
  const struct one *one = find(pid);
  if (!one) return -1;
  *ret_process = (struct process){.pid = pid, .parent = one->parent, .session = one->session};
  return 0;
}

void __wrap_owner_program(uint32_t pid, char name[OWNER_NAME_SIZE]);
void __wrap_owner_program(uint32_t pid, char name[OWNER_NAME_SIZE]) {
  const struct one *one = find(pid);
  snprintf(name, OWNER_NAME_SIZE, "%s", one ? one->program : "");
}

void __wrap_owner_title(uint32_t pid, char name[OWNER_NAME_SIZE]);
void __wrap_owner_title(uint32_t pid, char name[OWNER_NAME_SIZE]) {
  const struct one *one = find(pid);
  snprintf(name, OWNER_NAME_SIZE, "%s", one && one->title ? one->title : "");
}

void __wrap_owner_script(uint32_t pid, const char *program, char path[OWNER_NAME_SIZE]);
void __wrap_owner_script(uint32_t pid, const char *program, char path[OWNER_NAME_SIZE]) {
  const struct one *one = find(pid);
  (void)program;
  snprintf(path, OWNER_NAME_SIZE, "%s", one && one->script ? one->script : "");
}

int main(void) {
  size_t count = sizeof chains / sizeof *chains, failed = 0;
  for (size_t i = 0; i < count; i++) {
    memcpy(now, chains[i].processes, sizeof now);
    lost = chains[i].lost;
    char why[OWNER_WHY_SIZE];
    uint32_t owner = hook_owner(host_find("claude"), why);
    bool good = owner == chains[i].owner && !lost && !owner == (why[0] != '\0');
    printf("%s %zu - %s: %u\n", good ? "ok" : "not ok", i + 1, chains[i].what, owner);
    failed += !good;
  }
  printf("1..%zu\n", count);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
