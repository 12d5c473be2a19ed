/* SPDX-License-Identifier: MIT
 *
 * agents/setup/json_text.h: changes a JSON text in place: whatever is not changed keeps its bytes,
 * including comments and extra commas. Knows JSON as editors of configuration files write it;
 * nothing of hooks or hosts.
 */
#ifndef AGENTS_SETUP_JSON_TEXT_H
#define AGENTS_SETUP_JSON_TEXT_H

#include "common/json.h"

/* A value stands in the text from its `start` to its `end`; its key begins at `key_start`. */
struct json_text {
  char *text; /* ends with a NUL */
  struct arena arena;
  const struct json *root; /* NULL: there is nothing but blanks and comments */
};

/* Reads a text, which is copied. Returns 0; or -1 with why and where in words ("not JSON: it ends
 * where …"): free *ret_problem; NULL: out of memory. An empty text is sound. */
int json_text_read(const char *text, struct json_text *ret_json, char **ret_problem);
void json_text_finish(struct json_text *json);

/* Each changes the text and reads it again: values from before are gone. `value` is written as
 * given. Return 0, or -1: out of memory. Put a new member at the end of an object, or a new element
 * at the end of an array (key NULL). */
int json_text_add(struct json_text *json, const struct json *into, const char *key,
                  const char *value);
/* Write another value in the place of this one; its key stays. */
int json_text_replace(struct json_text *json, const struct json *part, const char *value);
/* Take a part of an object or array out, with its comma. */
int json_text_remove(struct json_text *json, const struct json *part);

#endif
