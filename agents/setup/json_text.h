/* SPDX-License-Identifier: MIT
 *
 * agents/setup/json_text.h: changes parts of a JSON text; all other bytes stay, including comments
 * and extra commas. It depends on neither hooks nor hosts.
 */
#ifndef AGENTS_SETUP_JSON_TEXT_H
#define AGENTS_SETUP_JSON_TEXT_H

#include "common/json.h"

/* A value stands in the text from its `start` to its `end`; its key begins at `key_start`. */
struct json_text {
  char *text; /* ends with a NUL */
  struct arena arena;
  const struct json *root; /* NULL: the text has only blanks and comments */
};

/* Reads a text, which is copied. Returns 0; or -1 with the problem and its place in words ("not
 * JSON: it ends where …") in *ret_problem, which the caller frees; NULL: out of memory. An empty
 * text is valid. */
int json_text_read(const char *text, struct json_text *ret_json, char **ret_problem);
void json_text_finish(struct json_text *json);

/* Each of these functions changes the text and reads it again, which invalidates earlier values.
 * `value` is written as given. They return 0, or -1: out of memory. json_text_add adds a member at
 * the end of an object, or, with key NULL, an element at the end of an array. */
int json_text_add(struct json_text *json, const struct json *into, const char *key,
                  const char *value);
/* Replaces this value by another one; its key stays. */
int json_text_replace(struct json_text *json, const struct json *part, const char *value);
/* Removes a part of an object or array, with its comma. */
int json_text_remove(struct json_text *json, const struct json *part);

#endif
