/* SPDX-License-Identifier: MIT
 *
 * dev/build.h: the command that builds the plugin, while the session goes on.
 */
#ifndef HOSTSIM_DEV_BUILD_H
#define HOSTSIM_DEV_BUILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/buffer.h"

struct build {
  const char *command; /* for sh; NULL: somebody else builds */
  int fd;              /* what it prints; -1: it does not run */
  pid_t pid;
  int64_t began_ms;
  struct buffer output;
};

/* Returns 0 or an errno. It may not run already. */
int build_start(struct build *build);
/* Reads what it has printed. Returns whether it has ended; *ret_status is its wait status. */
bool build_has_ended(struct build *build, int *ret_status);
/* Asks it and what it has started to end; it still runs until build_has_ended. */
void build_cancel(struct build *build);
/* Waits until it has ended, if it runs. */
void build_finish(struct build *build);

/* The lines in which the compilers and the linker say what is wrong, from the first one on, without
 * the commands that failed; or the last lines, if none looks like that. *ret_errors: how many there
 * are; *ret_left: how many lines are left out. */
void build_errors(const struct build *build, struct buffer *lines, unsigned *ret_errors,
                  unsigned *ret_left);

#endif
