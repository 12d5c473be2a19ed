/* SPDX-License-Identifier: MIT
 *
 * agents/agents.h: the verbs that connect agents of other vendors.
 */
#ifndef AGENTS_AGENTS_H
#define AGENTS_AGENTS_H

#include "command/cli.h"

extern const struct cli_verb verb_hook;
extern const struct cli_verb verb_setup;

#endif
