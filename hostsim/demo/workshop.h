/* SPDX-License-Identifier: MIT
 *
 * The demo's workspace and the tools that really run in it. Knows nothing of notifications.
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

/* Starts the compiler in the background; without one on this machine, another command that fails
 * for the same reason. Returns 0 or an errno. */
int workshop_start_build(const char *workspace, struct build *ret_build);

/* Waits for its end; its exit code, or -1 when it was killed or did not end. */
int workshop_wait_build(const struct build *build);

/* The output of the build, at most `lines` lines of it. To be freed; NULL on failure. */
char *workshop_build_output(const char *workspace, unsigned lines);

/* A file of the workspace. To be freed; NULL on failure. */
char *workshop_read(const char *workspace, const char *name);

/* Puts the missing semicolon in. Returns 0 or -1. */
int workshop_fix(const char *workspace);

/* Another process writes `count` files, src/words_01.h and so on. Returns 0 or -1. */
int workshop_write_many(const char *workspace, unsigned count);

/* Another process writes src/parser.h; true when inotify has reported it. */
bool workshop_edit_elsewhere(const char *workspace);

#endif
