/* SPDX-License-Identifier: MIT
 *
 * command/help.h: what the verbs' tables say, in five forms: --help, man pages, and the completions
 * of three shells. Each returns the exit code.
 */
#ifndef COMMAND_HELP_H
#define COMMAND_HELP_H

#include <stdio.h>

#include "command/cli.h"

int help_overview(FILE *out);
int help_verb(FILE *out, const struct cli_verb *verb);

/* A man page: of a verb, or of the command with verb NULL. */
int help_man(FILE *out, const struct cli_verb *verb);

int help_bash(FILE *out);
int help_zsh(FILE *out);
int help_fish(FILE *out);

/* Calls `each` for the options of a verb, its own first, then the common ones that it has. */
void help_each_option(const struct cli_verb *verb,
                      void (*each)(FILE *out, const struct cli_verb *verb,
                                   const struct cli_option *option),
                      FILE *out);

#endif
