/* SPDX-License-Identifier: MIT
 *
 * cli/other_program.h: verbs that need a large library are programs of their own, so that `tidings`
 * and its hooks start fast; the verb becomes that program.
 */
#ifndef CLI_OTHER_PROGRAM_H
#define CLI_OTHER_PROGRAM_H

#include "command/cli.h"

struct other_program {
  const char *name;     /* of the program, and of Debian's package */
  const char *library;  /* that it needs */
  const char *packages; /* of Debian, that have the library */
  const char *sources;  /* of Debian, with which it is built */
};

/* Does not return if the program could be started. Says on stderr what is missing. Returns the exit
 * code. */
int other_program_become(const struct cli *cli, const struct other_program *other);

#endif
