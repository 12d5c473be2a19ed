/* SPDX-License-Identifier: MIT
 *
 * common_options.h: the options that several verbs have, in the order in which help lists them.
 */
#ifndef TIDINGS_CLI_COMMON_OPTIONS_H
#define TIDINGS_CLI_COMMON_OPTIONS_H

#include "cli.h"

enum { OPTION_SESSION = 's', OPTION_STORE = 'S', OPTION_HELP = 'h', OPTION_JSON = CLI_LONG_ONLY + 1000, OPTION_CONFIG };

extern const struct cli_option common_options[];
extern const size_t common_option_count;
bool common_option_of(const struct cli_verb *verb, size_t index); /* has the verb this one? */

#endif
