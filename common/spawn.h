/* SPDX-License-Identifier: MIT
 *
 * common/spawn.h: starts another program and waits for it. It uses posix_spawn, never fork and
 * exec, because threads of a plugin may run. The plugin does not use this.
 *
 * Only code that continues without exec forks: in cli/run/ and agents/wait/apart.c it becomes a
 * process of its own, the conformance cases test a plugin across a fork, and the bench measures
 * copies of itself.
 */
#ifndef COMMON_SPAWN_H
#define COMMON_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The standard streams of the program: one of these, or a descriptor of this process above 0, which
 * stays open here. */
enum { SPAWN_INHERIT = 0, SPAWN_NULL = -1, SPAWN_AS_OUT = -2 /* for `err`: the same as `out` */ };

enum { SPAWN_CHANNEL_FD = 3 };

/* If all members but argv are zero, the program inherits everything, except descriptors that close
 * on exec. */
struct spawn {
  const char *program;            /* a path; NULL: argv[0], found in PATH */
  const char *const *argv;        /* ends with NULL */
  const char *const *environment; /* ends with NULL; NULL: ours */
  const char *folder;             /* NULL: ours */
  int in, out, err;
  int channel;       /* becomes SPAWN_CHANNEL_FD; 0: none */
  bool close_others; /* the program gets no other descriptors */
  bool own_group;
  bool fresh_signals;   /* the program blocks and ignores no signal */
  bool pipe_signal;     /* SIGPIPE is not ignored */
  const sigset_t *mask; /* the blocked signals; NULL: those of this process */
};

/* Returns 0 or an errno, also when the program cannot be executed. */
int spawn_start(const struct spawn *spawn, pid_t *ret_pid);

/* Waits for the end of a child, at most timeout_ms (-1: for ever). Returns whether it has ended;
 * *ret_status is its wait status, or 0 if other code has taken the status. */
bool spawn_wait(pid_t pid, int timeout_ms, int *ret_status);

/* Sends SIGKILL and waits for the end of the process. Returns its wait status. */
int spawn_kill(pid_t pid);

/* Starts a program with /dev/null as stdin and stderr, reads what it prints, and waits for its end.
 * Kills it when it has printed `size` bytes or when timeout_ms have passed. Returns 0, or an errno
 * if it could not be started. */
int spawn_capture(const char *const argv[], int timeout_ms, char *buffer, size_t size,
                  size_t *ret_len, int *ret_status);

#endif
