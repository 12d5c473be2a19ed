/* SPDX-License-Identifier: MIT
 */
#include "command/owner.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/script.h"

enum { MOST_GENERATIONS = 64 };

/* Returns how many bytes of /proc/PID/NAME were read. */
static size_t read_proc(uint32_t pid, const char *name, char *buffer, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%u/%s", pid, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : read(fd, buffer, size);
  if (fd >= 0) close(fd);
  return got > 0 ? (size_t)got : 0;
}

/* Reads the stat file of the main thread, because qemu invents the stat file of a process that it
 * runs. */
int owner_look_up(uint32_t pid, struct process *ret_process) {
  char text[1024], name[32];
  snprintf(name, sizeof name, "task/%u/stat", pid);
  size_t len = read_proc(pid, name, text, sizeof text - 1);
  text[len] = '\0';
  const char *at = strrchr(text, ')'); /* a program's name may hold anything */
  if (!at || at[1] != ' ' || !at[2]) return -1;
  const char state = at[2];
  enum { PARENT, GROUP, SESSION, TERMINAL, FOREGROUND, FIELDS };
  long fields[FIELDS];
  at += 3;
  for (int i = 0; i < FIELDS; i++) {
    char *end = NULL;
    fields[i] = strtol(at, &end, 10);
    if (end == at) return -1;
    at = end;
  }
  *ret_process =
      (struct process){.pid = pid,
                       .parent = (uint32_t)fields[PARENT],
                       .group = (uint32_t)fields[GROUP],
                       .session = (uint32_t)fields[SESSION],
                       .terminal = (uint32_t)fields[TERMINAL],
                       .foreground = fields[FOREGROUND] > 0 ? (uint32_t)fields[FOREGROUND] : 0,
                       .state = state};
  return 0;
}

void owner_title(uint32_t pid, char name[OWNER_NAME_SIZE]) {
  size_t size = read_proc(pid, "comm", name, OWNER_NAME_SIZE - 1);
  name[size && name[size - 1] == '\n' ? size - 1 : size] = '\0';
}

void owner_program(uint32_t pid, char name[OWNER_NAME_SIZE]) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/%u/exe", pid);
  ssize_t len = readlink(link, path, sizeof path - 1);
  path[len > 0 ? len : 0] = '\0';
  const char *slash = strrchr(path, '/');
  snprintf(name, OWNER_NAME_SIZE, "%.*s", OWNER_NAME_SIZE - 1, slash ? slash + 1 : path);
  if (len <= 0) owner_title(pid, name);
}

void owner_script(uint32_t pid, const char *program, char path[OWNER_NAME_SIZE]) {
  char line[PATH_MAX];
  size_t len = script_is_run_by(program) ? read_proc(pid, "cmdline", line, sizeof line) : 0;
  const char *found = script_path(program, line, len);
  snprintf(path, OWNER_NAME_SIZE, "%s", found ? found : "");
}

/* The kernel does not distinguish a process that has started a child from one that has adopted an
 * orphan. But a process is in the same session (of the kernel) as the process that started it,
 * unless it has begun a session of its own. A process that adopts orphans is in another session
 * than an agent or a script in a terminal. If that does not decide, the name of `above` does. */
bool owner_has_started(const struct process *above, const char *program, const struct process *self,
                       bool own_session) {
  static const char *const takes_orphans[] = {"systemd",
                                              "init",
                                              "tini",
                                              "dumb-init",
                                              "docker-init",
                                              "catatonit",
                                              "conmon",
                                              "containerd-shim",
                                              "containerd-shim-runc-v2"};
  if (!own_session && above->session != self->session) return false;
  for (size_t i = 0; i < sizeof takes_orphans / sizeof *takes_orphans; i++) {
    if (strcmp(program, takes_orphans[i]) == 0) return false;
  }
  return true;
}

/* A parent that this process cannot see, although it lives, counts as the caller. Process 1 does
 * not, because it adopts orphans. */
static bool is_caller(uint32_t parent) {
  enum { FIRST_PROCESS = 1 };
  char program[OWNER_NAME_SIZE];
  struct process self, above;
  if (owner_look_up((uint32_t)getpid(), &self)) return true;
  if (owner_look_up(parent, &above))
    return parent != FIRST_PROCESS && (uint32_t)getppid() == parent;
  owner_program(parent, program);
  return owner_has_started(&above, program, &self, self.session == self.pid);
}

/* Do both run the same program with the same arguments, as after a fork without exec? */
static bool same_program(uint32_t a, uint32_t b) {
  char path[64], one[PATH_MAX], other[PATH_MAX];
  snprintf(path, sizeof path, "/proc/%u/exe", a);
  ssize_t one_len = readlink(path, one, sizeof one);
  snprintf(path, sizeof path, "/proc/%u/exe", b);
  ssize_t other_len = readlink(path, other, sizeof other);
  if (one_len <= 0 || one_len != other_len || memcmp(one, other, (size_t)one_len) != 0)
    return false;
  size_t one_size = read_proc(a, "cmdline", one, sizeof one),
         other_size = read_proc(b, "cmdline", other, sizeof other);
  return one_size && one_size == other_size && memcmp(one, other, one_size) == 0;
}

uint32_t owner_of_caller(void) {
  struct process process;
  uint32_t pid = (uint32_t)getppid();
  if (!is_caller(pid)) return (uint32_t)getpid();
  for (int i = 0; i < MOST_GENERATIONS; i++) {
    if (owner_look_up(pid, &process) || process.parent <= 1 || !same_program(pid, process.parent))
      break;
    pid = process.parent;
  }
  return pid;
}

bool owner_is_above(uint32_t pid) {
  struct process process = {.parent = (uint32_t)getpid()};
  for (int i = 0; i < MOST_GENERATIONS && process.parent; i++) {
    if (process.parent == pid) return true;
    if (owner_look_up(process.parent, &process)) return false;
  }
  return false;
}
