/* SPDX-License-Identifier: MIT
 *
 * agents/call/strangers.h: remembers which unknown programs have called a hook, so that `tidings
 * doctor` can list them.
 */
#ifndef AGENTS_CALL_STRANGERS_H
#define AGENTS_CALL_STRANGERS_H

#include <jansson.h>

#include "agents/call/call.h"

/* Writes a line when such a program calls this agent's hook for the first time, unless the file is
 * full. `owner`: the calling process; 0: not known. */
void hook_stranger_note(const struct hook_call *call, uint32_t owner);

/* Returns the callers that this version of tidings did not know, as objects with "host", "program",
 * "event", "transcript" and "fields", the names in the call. NULL: none. *ret_path: the path of the
 * file; free it. */
json_t *hook_strangers(char **ret_path);

#endif
