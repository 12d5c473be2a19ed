/* SPDX-License-Identifier: MIT
 *
 * run/waiting.c: finds out if a process waits for its terminal. If a kernel or a policy hides the
 * system call in /proc, the kernel function in which the process sleeps is used instead.
 */
#include "cli/run/waiting.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "command/owner.h"

enum { DEEPEST = 32, PROC_PATH = 320 };

struct call { /* the system call in which a thread is */
  long number;
  unsigned long arguments[6];
};

static size_t read_proc(const char *path, char *buffer, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : read(fd, buffer, size - 1);
  if (fd >= 0) close(fd);
  buffer[got > 0 ? got : 0] = '\0';
  return got > 0 ? (size_t)got : 0;
}

/* -- what is its terminal ---------------------------------------------------------------------- */

static bool is_terminal(uint32_t pid, uint32_t terminal, unsigned long fd) {
  char path[64];
  struct stat info;
  snprintf(path, sizeof path, "/proc/%u/fd/%lu", pid, fd);
  if (stat(path, &info) || !S_ISCHR(info.st_mode)) return false;
  /* The terminal's number in /proc/PID/stat has the minor in bits 31 to 20 and 7 to 0, the major in
   * 15 to 8. */
  dev_t own = makedev((terminal >> 8) & 0xff, (terminal & 0xff) | ((terminal >> 12) & 0xfff00));
  return info.st_rdev == own || info.st_rdev == makedev(5, 0); /* or /dev/tty, which is the same */
}

static bool read_memory(uint32_t pid, unsigned long address, void *buffer, size_t len) {
  struct iovec here = {buffer, len}, there = {(void *)(uintptr_t)address, len};
  return process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0) == (ssize_t)len;
}

static bool polls_terminal(const struct process *process, const struct call *call, bool for_ever) {
  struct pollfd one;
  if (!for_ever || call->arguments[1] != 1 ||
      !read_memory(process->pid, call->arguments[0], &one, sizeof one))
    return false;
  return one.events & POLLIN && one.fd >= 0 &&
         is_terminal(process->pid, process->terminal, (unsigned long)one.fd);
}

static bool selects_terminal(const struct process *process, const struct call *call) {
  fd_set set;
  unsigned long count = call->arguments[0], only = 0;
  size_t bytes = (count + 7) / 8, found = 0;
  if (call->arguments[4] || !count || count > FD_SETSIZE || !call->arguments[1]) return false;
  memset(&set, 0, sizeof set);
  if (!read_memory(process->pid, call->arguments[1], &set, bytes)) return false;
  for (unsigned long fd = 0; fd < count; fd++) {
    if (!FD_ISSET(fd, &set)) continue;
    only = fd;
    found++;
  }
  return found == 1 && is_terminal(process->pid, process->terminal, only);
}

static bool call_waits(const struct process *process, const struct call *call) {
  switch (call->number) {
  case SYS_read:
  case SYS_readv: return is_terminal(process->pid, process->terminal, call->arguments[0]);
  case SYS_pselect6: return selects_terminal(process, call);
  case SYS_ppoll: return polls_terminal(process, call, !call->arguments[2]);
#ifdef SYS_select
  case SYS_select: return selects_terminal(process, call);
#endif
#ifdef SYS_poll
  case SYS_poll: return polls_terminal(process, call, (int)call->arguments[2] < 0);
#endif
  default: return false;
  }
}

/* -- threads and processes --------------------------------------------------------------------- */

/* Reads "0 0x0 0x7ffd… …", the number and six arguments. False: the thread is "running", or in no
 * call. */
static bool parse_call(const char *text, struct call *ret_call) {
  struct call call;
  char *end = NULL;
  call.number = strtol(text, &end, 10);
  if (end == text || *end != ' ') return false;
  for (size_t i = 0; i < sizeof call.arguments / sizeof call.arguments[0]; i++) {
    text = end;
    call.arguments[i] = strtoul(text, &end, 16);
    if (end == text) return false;
  }
  *ret_call = call;
  return true;
}

static bool thread_waits(const struct process *process, const char *thread) {
  char path[PROC_PATH], text[256];
  struct call call;
  snprintf(path, sizeof path, "/proc/%u/task/%s/syscall", process->pid, thread);
  if (read_proc(path, text, sizeof text))
    return parse_call(text, &call) && call_waits(process, &call);
  snprintf(path, sizeof path, "/proc/%u/task/%s/wchan", process->pid, thread);
  if (!read_proc(path, text, sizeof text)) return false;
  return (strcmp(text, "n_tty_read") == 0 || strcmp(text, "wait_woken") == 0) &&
         is_terminal(process->pid, process->terminal, 0);
}

static bool process_waits(uint32_t pid, int depth);

static bool a_child_waits(uint32_t pid, const char *thread, int depth) {
  char path[PROC_PATH], text[4096];
  snprintf(path, sizeof path, "/proc/%u/task/%s/children", pid, thread);
  if (!read_proc(path, text, sizeof text)) return false;
  for (char *at = text, *end = NULL;; at = end) {
    unsigned long child = strtoul(at, &end, 10);
    if (end == at) return false;
    if (child && process_waits((uint32_t)child, depth + 1)) return true;
  }
}

static bool process_waits(uint32_t pid, int depth) {
  struct process process;
  char path[64];
  bool waits = false;
  if (depth > DEEPEST || owner_look_up(pid, &process)) return false;
  bool foreground = process.terminal && process.group == process.foreground;
  snprintf(path, sizeof path, "/proc/%u/task", pid);
  DIR *threads = opendir(path);
  for (struct dirent *entry; threads && !waits && (entry = readdir(threads));) {
    if (entry->d_name[0] == '.') continue;
    waits = (foreground && thread_waits(&process, entry->d_name)) ||
            a_child_waits(pid, entry->d_name, depth);
  }
  if (threads) closedir(threads);
  return waits;
}

bool waiting_for_input(pid_t pid) { return process_waits((uint32_t)pid, 0); }
