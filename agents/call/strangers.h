/* SPDX-License-Identifier: MIT
 *
 * agents/call/strangers.h: remembers which unknown programs have called a hook, so that `tidings
 * doctor` can list them.
 */
#ifndef AGENTS_CALL_STRANGERS_H
#define AGENTS_CALL_STRANGERS_H

#include <jansson.h>

#include "agents/call/call.h"

/* Writes a line only at the first call of such a program for this agent's hook; the file holds few
 * lines. `owner`: the process that has called; 0: not known. */
void hook_stranger_note(const struct hook_call *call, uint32_t owner);

/* Returns the callers that this version of tidings did not know, as objects with "host", "program",
 * "event", "transcript" and "fields", the names in the call. NULL: none. *ret_path: the path of the
 * file; free it. */
json_t *hook_strangers(char **ret_path);

#endif
