/* SPDX-License-Identifier: MIT
 *
 * run/log.h: gives a run its handle, and keeps the command's output: one file for each run, which
 * only the user can read. Old files are removed.
 */
#ifndef TIDINGS_CLI_RUN_LOG_H
#define TIDINGS_CLI_RUN_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/cli.h"

struct run_log {
  char *handle;         /* "make-3f9a2c": the file's name without its end */
  char *path;           /* absolute */
  int fd;               /* locked as long as the run lasts */
  uint64_t limit, size; /* in bytes */
  bool full;            /* the limit was reached; the log says so, and nothing more is kept */
  int failed;           /* the errno of the first write that failed; from then on nothing is kept */
};

/* Makes the file in $XDG_STATE_HOME/tidings/logs (or ~/.local/state/...), after removing old ones.
 * It keeps at most `limit` bytes, and a line that says so. Prints errors. Returns 0 or the exit
 * code. */
int run_log_open(const struct cli *cli, const char *name, uint64_t limit, struct run_log *ret_log);
void run_log_write(struct run_log *log, const char *bytes, size_t len);
/* Returns how many lines of the output the log has; UINT64_MAX: all. */
uint64_t run_log_lines(const struct run_log *log);
void run_log_remove(struct run_log *log); /* for a command that could not be started */
void run_log_close(struct run_log *log);

/* Opens the log of a run for reading; the beginning of its handle is enough. Prints errors; if no
 * run has that handle, also prints the known ones, the newest first. Returns 0 or the exit code.
 * Free the handle and the path, close the descriptor. */
int run_log_find(const struct cli *cli, const char *typed, char **ret_handle, char **ret_path,
                 int *ret_fd);
/* Does the run still write this log? */
bool run_log_grows(int fd);

#endif
