/* SPDX-License-Identifier: MIT
 *
 * agents/call/field.h: the members of a hook's call, as the agent's row names them.
 */
#ifndef AGENTS_CALL_FIELD_H
#define AGENTS_CALL_FIELD_H

#include <jansson.h>

#include "agents/hosts/hosts.h"

/* Return the first of the members `names` (separated by blanks) that is not an empty text. NULL or
 * "": there is none. Borrowed. */
json_t *hook_member(const json_t *object, const char *names);
const char *hook_member_text(const json_t *object, const char *names);

/* Do the same with the members in which the agent puts this field. */
json_t *hook_field(const struct host *host, const json_t *input, enum host_field field);
const char *hook_field_text(const struct host *host, const json_t *input, enum host_field field);

#endif
