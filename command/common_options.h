/* SPDX-License-Identifier: MIT
 *
 * command/common_options.h: the options that several verbs have, in the order in which help lists
 * them.
 */
#ifndef COMMAND_COMMON_OPTIONS_H
#define COMMAND_COMMON_OPTIONS_H

#include "command/cli.h"

enum {
  OPTION_SESSION = 's',
  OPTION_STORE = 'S',
  OPTION_HELP = 'h',
  OPTION_JSON = CLI_LONG_ONLY + 1000,
  OPTION_CONFIG,
  OPTION_CREATE,
  OPTION_PRINT_SESSION,
  OPTION_TO,
  OPTION_COLOR,
  OPTION_UTC
};

extern const struct cli_option common_options[];
extern const size_t common_option_count;
bool common_option_of(const struct cli_verb *verb, size_t index); /* does the verb have it? */

#endif
