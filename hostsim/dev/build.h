/* SPDX-License-Identifier: MIT
 *
 * dev/build.h: runs the command that builds the plugin, while the session goes on.
 */
#ifndef HOSTSIM_DEV_BUILD_H
#define HOSTSIM_DEV_BUILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/buffer.h"

struct build {
  const char *command; /* a shell command; NULL: somebody else builds */
  int fd;              /* to read the build's output; -1: no build runs */
  pid_t pid;
  int64_t began_ms;
  struct buffer output;
};

/* Starts the build, which must not run already. Returns 0 or an errno. */
int build_start(struct build *build);
/* Reads the build's output. Returns whether the build has ended; *ret_status is its wait status. */
bool build_has_ended(struct build *build, int *ret_status);
/* Asks the build and its child processes to end. The build counts as running until
 * build_has_ended. */
void build_cancel(struct build *build);
/* If the build runs, waits for its end. */
void build_finish(struct build *build);

/* Collects the errors of the compilers and the linker, from the first one on, without the commands
 * that failed. If no line looks like an error, collects the last lines. *ret_errors: how many
 * errors there are; *ret_left: how many lines are left out. */
void build_errors(const struct build *build, struct buffer *lines, unsigned *ret_errors,
                  unsigned *ret_left);

#endif
