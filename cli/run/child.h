/* SPDX-License-Identifier: MIT
 *
 * run/child.h: starts the command, passes signals to it, and finds out how it ended.
 */
#ifndef TIDINGS_CLI_RUN_CHILD_H
#define TIDINGS_CLI_RUN_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "command/cli.h"

struct child {
  pid_t pid;
  bool own_group;          /* it leads a process group, and signals go to the whole group */
  int out, err;            /* what it prints, non-blocking; -1: closed */
  bool prints_to_terminal; /* `out` is a pseudo-terminal like our stdout */
  int signals;             /* a descriptor that reports signals, see child_signal */
};

/* From now on child_signal handles signals. Returns 0 or the exit code. */
int child_prepare(const struct cli *cli, struct child *ret_child);

struct child_way {
  bool detached; /* without our terminal, stdin and other descriptors */
  bool terminal; /* what it prints to our terminal goes through a pseudo-terminal */
  bool pipe_signal_ignored;
};

/* Starts the command. Returns 0 or an errno. */
int child_start(struct child *child, char **argv, const struct child_way *way);

/* Takes one signal, and passes it on if it is meant for the command and has not reached it yet.
 * Returns its number; 0: there is none. */
int child_signal(const struct child *child);

/* Has the command ended or stopped? Returns 0: nothing changed; 1: it has ended (*ret_status as
 * wait gives it); 2: the signal *ret_status has stopped it. */
int child_look(const struct child *child, int *ret_status);
void child_continue(const struct child *child);

void child_finish(struct child *child);

#endif
