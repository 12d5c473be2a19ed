/* SPDX-License-Identifier: MIT
 *
 * command/due.h: --in and --at: from when on what is sent is to be read.
 */
#ifndef COMMAND_DUE_H
#define COMMAND_DUE_H

#include <stdint.h>

#include "command/cli.h"

/* Both as their options have them: `text` NULL: not given. Milliseconds since 1970 by this
 * machine's clock; 0: neither was given, or it is over: at once. Says what is wrong. Returns 0, or
 * the exit code. */
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
