/* SPDX-License-Identifier: MIT
 *
 * agents/call/caller.h: which agent has made a hook call. Setup writes a hook for one agent, and
 * other programs read that file, too.
 */
#ifndef AGENTS_CALL_CALLER_H
#define AGENTS_CALL_CALLER_H

#include <jansson.h>

#include "agents/hosts/hosts.h"

/* `host`: the one for which setup has written the hook. Returns it, or the one that borrows its
 * hooks; NULL: an unknown caller. */
const struct host *hook_caller(const struct host *host, const json_t *input);

#endif
