/* SPDX-License-Identifier: MIT
 *
 * command/json_value.h: JSON text to jansson's values, for code that builds on what was read. The
 * one strict reader reads it; jansson's own is not used anywhere in the programs.
 */
#ifndef COMMAND_JSON_VALUE_H
#define COMMAND_JSON_VALUE_H

#include <jansson.h>
#include <stdint.h>

#include "common/json.h"

/* Errors: those of json_read_by; NOMEM. */
int json_value_read(const struct json_rules *rules, struct tidings_span text, const char *what,
                    json_t **ret_value, struct tidings_error *error);

/* A value that was read. NULL: out of memory, or it holds a string that is not UTF-8 or a number
 * that is too big, which json_rules.edited lets pass. */
json_t *json_value_of(const struct json *json);

/* A member's text; "" if there is none. */
const char *json_value_text(const json_t *object, const char *name);
uint64_t json_value_count(const json_t *object, const char *name); /* 0 if there is none */

#endif
