/* SPDX-License-Identifier: MIT
 *
 * json.h: reads and writes requests, and texts of a plugin that may be JSON; common/json.h does
 * the rest.
 */
#ifndef HOSTKIT_JSON_H
#define HOSTKIT_JSON_H

#include "common/json_write.h"

/* `name` is what errors call the text. Strings may hold NUL. Errors: those of json_read; INVAL (not
 * an object). */
int32_t hk_json_read_object(struct tidings_span text, const char *name, struct arena *arena,
                            const struct json **ret_object, struct tidings_error *error);

/* An empty text is null. */
void hk_json_put_text_or_null(struct json_writer *writer, const char *key,
                              struct tidings_span text);

/* The value of the text if it is JSON, else the text as a string; null if it is empty. */
void hk_json_put_value(struct json_writer *writer, const char *key, struct tidings_span text);

#endif
