/* SPDX-License-Identifier: MIT
 *
 * tail/tail.h: `tidings tail`.
 */
#ifndef TIDINGS_CLI_TAIL_TAIL_H
#define TIDINGS_CLI_TAIL_TAIL_H

#include "command/cli.h"

extern const struct cli_verb verb_tail;

#endif
