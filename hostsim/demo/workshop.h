/* SPDX-License-Identifier: MIT
 *
 * demo/workshop.h: the demo's workspace and the tools that really run in it. It has nothing to do
 * with
 * notifications.
 */
#ifndef HOSTSIM_WORKSHOP_H
#define HOSTSIM_WORKSHOP_H

#include <stdbool.h>
#include <sys/types.h>

struct build {
  const char *tool;    /* "cc", or what stands in for it */
  const char *command; /* as a person would type it */
  pid_t pid;
};

/* Makes the workspace with a C file that does not compile. Returns 0, or -1 with errno set. */
int workshop_set_up(const char *workspace);

/* Starts the compiler in the background, or, if this machine has none, another command that fails
 * for the same reason. Returns 0 or an errno. */
int workshop_start_build(const char *workspace, struct build *ret_build);

/* Waits for the end of the build. Returns its exit code; -1: it was killed or did not end. */
int workshop_wait_build(const struct build *build);

/* Returns at most `lines` lines of the build's output. Free it; NULL: it failed. */
char *workshop_build_output(const char *workspace, unsigned lines);

/* Reads a file of the workspace. Free it; NULL: it failed. */
char *workshop_read(const char *workspace, const char *name);

/* Adds the missing semicolon. Returns 0 or -1. */
int workshop_fix(const char *workspace);

/* Makes another process write `count` files, src/words_01.h and so on. Returns 0 or -1. */
int workshop_write_many(const char *workspace, unsigned count);

/* Makes another process write src/parser.h. True: inotify has reported it. */
bool workshop_edit_elsewhere(const char *workspace);

#endif
