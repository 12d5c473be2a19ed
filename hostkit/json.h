/* SPDX-License-Identifier: MIT
 *
 * json.h: what hostkit does with jansson values: building them from a reply's texts, writing them
 * down, reading requests.
 *
 * Building: hk_json_put and hk_json_add take over `value` and cope with NULL on either side, so
 * that a tree can be built without a check on each line; they return 1 if something was missing, to
 * be collected with |=.
 */
#ifndef HOSTKIT_JSON_H
#define HOSTKIT_JSON_H

#include <jansson.h>

#include <tidings/abi.h>

/* `name` is what errors call the text. Errors: INVAL (not a JSON object), TOO_BIG (too deep),
 * NOMEM. */
int32_t hk_json_parse_object(const char *text, size_t len, const char *name, json_t **ret_object,
                             struct tidings_error *error);

/* Compact, NUL-terminated, freed with free; NULL: out of memory, or value was NULL. */
char *hk_json_dump(const json_t *value);

/* A string, with each byte that is no UTF-8 replaced by U+FFFD; NULL: out of memory. */
json_t *hk_json_text(struct tidings_span text);
json_t *hk_json_text_or_null(struct tidings_span text); /* an empty one is null */

/* The value that a text is, if it is JSON, else the text itself as a string; an empty one is
 * null. */
json_t *hk_json_value(struct tidings_span text);

int hk_json_put(json_t *object, const char *key, json_t *value);
int hk_json_add(json_t *array, json_t *value);

#endif
