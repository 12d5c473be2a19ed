/* SPDX-License-Identifier: MIT
 *
 * run/progress.h: one line at the bottom of a terminal that says what runs and for how long. It
 * gives way to whatever else is printed.
 */
#ifndef TIDINGS_CLI_RUN_PROGRESS_H
#define TIDINGS_CLI_RUN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/run/tail.h"

struct progress {
  int fd; /* the terminal; -1: there is none */
  bool shown;
};

/* On stderr, if that is a terminal that can erase a line. */
void progress_begin(struct progress *progress);
/* `last`: what was printed last, to be shown as well; NULL: it is on the screen anyway. */
void progress_show(struct progress *progress, const char *name, uint64_t elapsed_ms,
                   const struct tail *last);
void progress_erase(struct progress *progress);

#endif
