/* SPDX-License-Identifier: MIT
 *
 * common/spawn.h: starting another program and waiting for it. Always posix_spawn, never fork
 * before exec, because a plugin's threads may run. The plugin does not use this.
 *
 * Only what goes on without exec forks: cli/run/detach.c, cli/run/watchdog.c and
 * agents/wait/wait.c become a process of their own, the conformance cases try a plugin across
 * a fork, and the bench measures copies of itself.
 */
#ifndef COMMON_SPAWN_H
#define COMMON_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The standard streams of the program: one of these, or a descriptor of ours above 0, which
 * stays open here. */
enum { SPAWN_INHERIT = 0, SPAWN_NULL = -1, SPAWN_AS_OUT = -2 /* of `err`: what `out` is */ };

enum { SPAWN_CHANNEL_FD = 3 };

/* All zero but argv: the program gets what we have, except descriptors that close on exec. */
struct spawn {
  const char *program;            /* a path; NULL: argv[0], found in PATH */
  const char *const *argv;        /* ends with NULL */
  const char *const *environment; /* ends with NULL; NULL: ours */
  const char *folder;             /* NULL: ours */
  int in, out, err;
  int channel;       /* becomes SPAWN_CHANNEL_FD; 0: none */
  bool close_others; /* no descriptor but these stays open in it */
  bool own_group;
  bool fresh_signals;   /* none blocked, none ignored */
  bool pipe_signal;     /* SIGPIPE is not ignored */
  const sigset_t *mask; /* of blocked signals; NULL: ours */
};

/* Returns 0 or an errno, also when the program cannot be executed. */
int spawn_start(const struct spawn *spawn, pid_t *ret_pid);

/* Waits for the end of a child, at most timeout_ms (-1: for ever). Returns whether it has ended;
 * *ret_status is its wait status, 0 if other code has taken that. */
bool spawn_wait(pid_t pid, int timeout_ms, int *ret_status);

/* SIGKILL, then waits for the end. Returns its wait status. */
int spawn_kill(pid_t pid);

/* Starts it with /dev/null as its stdin and stderr, reads what it prints and waits for its end; it
 * is killed when it has printed `size` bytes or timeout_ms are over. Returns 0 or an errno of the
 * start. */
int spawn_capture(const char *const argv[], int timeout_ms, char *buffer, size_t size,
                  size_t *ret_len, int *ret_status);

#endif
