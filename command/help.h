/* SPDX-License-Identifier: MIT
 *
 * command/help.h: prints the verbs' tables in five forms: --help, man pages, and the completions of
 * three shells. Each returns the exit code.
 */
#ifndef COMMAND_HELP_H
#define COMMAND_HELP_H

#include <stdio.h>

#include "command/cli.h"

int help_overview(FILE *out, const struct cli_program *program);
int help_verb(FILE *out, const struct cli_program *program, const struct cli_verb *verb);

/* Prints the man page of a verb, or of the program if `verb` is NULL. */
int help_man(FILE *out, const struct cli_program *program, const struct cli_verb *verb);

int help_bash(FILE *out, const struct cli_program *program);
int help_zsh(FILE *out, const struct cli_program *program);
int help_fish(FILE *out, const struct cli_program *program);

/* Calls `each` for the options of a verb, its own first, then the common ones that it has. */
void help_each_option(const struct cli_program *program, const struct cli_verb *verb,
                      void (*each)(FILE *out, const struct cli_program *program,
                                   const struct cli_verb *verb, const struct cli_option *option),
                      FILE *out);

#endif
