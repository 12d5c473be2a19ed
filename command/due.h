/* SPDX-License-Identifier: MIT
 *
 * command/due.h: --in and --at: the time at which a message that is sent now is to be delivered.
 */
#ifndef COMMAND_DUE_H
#define COMMAND_DUE_H

#include <stdint.h>

#include "command/cli.h"

/* Reads the values of the two options; NULL: the option was not given. *ret_ms is in milliseconds
 * since 1970 by this machine's clock; 0 means at once: neither option was given, or the time is
 * over. Prints what is wrong. Returns 0, or the exit code. */
int due_read(const struct cli *cli, const char *in, const char *at, int64_t *ret_ms);

#define DUE_IN_OPTION(what)                                                                        \
  {                                                                                                \
    .key = OPTION_IN, .name = "in", .argument = "DURATION",                                        \
    .help = what " only after 30s, 20m, 2h, 1d, ..."                                               \
  }
#define DUE_AT_OPTION(what)                                                                        \
  {                                                                                                \
    .key = OPTION_AT, .name = "at", .argument = "TIME",                                            \
    .help = what " only from then on: 15:40 (the next), '2026-11-27 15:40', "                      \
                 "2026-11-27T15:40:00Z, or @SECONDS since 1970."                                   \
  }

#endif
