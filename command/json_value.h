/* SPDX-License-Identifier: MIT
 *
 * command/json_value.h: turns JSON text into jansson's values, for code that changes what was read.
 * The strict reader of common/json.h reads the text; no program uses jansson's reader.
 */
#ifndef COMMAND_JSON_VALUE_H
#define COMMAND_JSON_VALUE_H

#include <jansson.h>
#include <stdint.h>

#include "common/json.h"

/* Errors: those of json_read_by; NOMEM. */
int json_value_read(const struct json_rules *rules, struct tidings_span text, const char *what,
                    json_t **ret_value, struct tidings_error *error);

/* Converts a value that was read. NULL: out of memory, or the value has a string that is not UTF-8
 * or a number that is too big, which json_rules.edited lets pass. */
json_t *json_value_of(const struct json *json);

/* Returns a member's text; "" if there is no such text. */
const char *json_value_text(const json_t *object, const char *name);
uint64_t json_value_count(const json_t *object, const char *name); /* 0 if there is none */

#endif
