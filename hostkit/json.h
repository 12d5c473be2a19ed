/* SPDX-License-Identifier: MIT
 *
 * json.h: what hostkit reads and writes as JSON beyond what common/json.h does: requests, and texts
 * of a plugin's that may be JSON.
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

/* The value that a text is, if it is JSON, else the text itself as a string; an empty one is
 * null. */
void hk_json_put_value(struct json_writer *writer, const char *key, struct tidings_span text);

#endif
