/* SPDX-License-Identifier: MIT
 *
 * run/report.h: reports to a session how a command is doing.
 */
#ifndef TIDINGS_CLI_RUN_REPORT_H
#define TIDINGS_CLI_RUN_REPORT_H

#include "cli/excerpt/excerpt.h"
#include "cli/run/log.h"
#include "cli/run/tail.h"
#include "command/cli.h"

struct report {
  const struct cli *cli;
  const char *session;
  char *const *argv;
  const char *tool; /* the command's name in configurations and notifications */
  const struct run_log *log;
  const struct tail *tail;
  const struct excerpt *excerpt; /* for report_end: excerpt_end was called */
  bool unmasked;                 /* secrets are shown */
  bool patient;                  /* no caller waits: try for minutes */
  unsigned state_count;          /* how often report_waiting was called */
};

/* All try again while the store is busy or full, and print an error if they fail. Return 0 or the
 * exit code. */
int report_waiting(struct report *report,
                   bool waits); /* true: it waits for input; false: it no longer does */
/* Report the end, once: only the first of these calls that reaches the store has an effect, also
 * among processes. `status` is as wait gives it. report_lost: the process that ran the command has
 * ended before the command. */
int report_end(const struct report *report, int status, uint64_t elapsed_ms);
int report_lost(const struct report *report, uint64_t elapsed_ms);

/* Returns the exit code, or, as a shell does, 128 + the signal. */
int report_exit_code(int status);

#endif
