/* SPDX-License-Identifier: MIT
 *
 * top/top.h: `tidings top`.
 */
#ifndef TIDINGS_CLI_TOP_TOP_H
#define TIDINGS_CLI_TOP_TOP_H

#include "command/cli.h"

extern const struct cli_verb verb_top;

#endif
