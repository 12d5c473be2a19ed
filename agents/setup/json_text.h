/* SPDX-License-Identifier: MIT
 *
 * agents/setup/json_text.h: a text that holds JSON, changed in place: whatever is not changed keeps
 * its bytes, comments and commas too many included. Knows JSON as editors of configuration files
 * write it; nothing of hooks or hosts.
 */
#ifndef AGENTS_SETUP_JSON_TEXT_H
#define AGENTS_SETUP_JSON_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A value in the text, and where it stands: `start` to `end`. */
struct json_node {
  char kind; /* '{', '[', '"', or '0' for anything else */
  size_t start, end;
  size_t key_start;        /* of a member: where its key begins; else start */
  struct json_node *parts; /* of an object or array */
  size_t part_count;
};

struct json_text {
  char *text; /* ends with a NUL */
  size_t len;
  struct json_node *root; /* NULL: there is nothing but blanks and comments */
};

/* Reads a text, which is copied. Returns 0; or -1 with where and why in words ("line 3: expected a
 * comma or }"): free *ret_problem. An empty text is sound. */
int json_text_read(const char *text, struct json_text *ret_json, char **ret_problem);
void json_text_finish(struct json_text *json);

/* NULL: there is no such member, or `object` is NULL or none. */
const struct json_node *json_text_member(const struct json_text *json,
                                         const struct json_node *object, const char *key);
/* The value that a node stands for; NULL: out of memory, or strings that are no text. */
json_t *json_text_value(const struct json_text *json, const struct json_node *node);

/* Each changes the text and reads it again: nodes from before are gone. `value` is written as
 * given. Return 0, or -1: out of memory. Put a new member at the end of an object, or a new element
 * at the end of an array (key NULL). */
int json_text_add(struct json_text *json, const struct json_node *into, const char *key,
                  const char *value);
/* Take part `index` out, with its comma. */
int json_text_remove(struct json_text *json, const struct json_node *from, size_t index);

#endif
