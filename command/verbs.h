/* SPDX-License-Identifier: MIT
 *
 * command/verbs.h: the verbs of a program, in the order in which help lists them. The program
 * defines the table.
 */
#ifndef COMMAND_VERBS_H
#define COMMAND_VERBS_H

#include "command/cli.h"

extern const struct cli_verb *const cli_verbs[];
extern const size_t cli_verb_count;

const struct cli_verb *cli_find_verb(const char *name); /* NULL: there is none */

extern const struct cli_verb verb_help;

#endif
