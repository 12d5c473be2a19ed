/* SPDX-License-Identifier: MIT
 *
 * agents/hook/hook.h: the verb that answers the hook calls of agents.
 */
#ifndef AGENTS_HOOK_HOOK_H
#define AGENTS_HOOK_HOOK_H

#include "command/cli.h"

extern const struct cli_verb verb_hook;

#endif
