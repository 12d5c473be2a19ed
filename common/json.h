/* SPDX-License-Identifier: MIT
 *
 * common/json.h: JSON text to a tree, strictly by RFC 8259, and a tree or a string back to JSON
 * text. Knows nothing of events.
 *
 * Why not jansson here: when memory runs out while it reads, it ignores that a character was not
 * kept, so that a string silently loses one or is read past its end. A push may do neither. This
 * reader takes memory from an arena in few steps and looks at each; it does not recurse, so that a
 * hostile nesting costs no stack, and it keeps numbers as they were written.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stdbool.h>

#include "common/arena.h"
#include "common/buffer.h"

enum json_kind {
  JSON_IS_NULL,
  JSON_IS_FALSE,
  JSON_IS_TRUE,
  JSON_IS_NUMBER,
  JSON_IS_STRING,
  JSON_IS_ARRAY,
  JSON_IS_OBJECT
};

enum { JSON_MAX_DEPTH = 16 }; /* arrays and objects inside each other */

struct json {
  enum json_kind kind;
  size_t count;               /* members or elements */
  struct tidings_span text;   /* a string, decoded; a number, as written */
  struct tidings_span key;    /* of a member, decoded */
  const struct json *members; /* the first; of an array, the first element */
  const struct json *next;    /* the next one of the same parent */
};

/* Reads one value and nothing behind it. All of the tree is in the arena. `what` begins the
 * sentence: "event". Duplicate keys, NUL characters (escaped ones too), broken UTF-8 and lone
 * surrogates are not JSON here. Returns 0, INVAL (with line and column), SCHEMA (a number that
 * neither a 64-bit integer nor a double below 1e308 holds), TOO_BIG (depth), NOMEM. */
int json_read(struct tidings_span bytes, const char *what, struct arena *arena,
              const struct json **ret_json, struct tidings_error *error);

/* The member of an object, or NULL. */
const struct json *json_member(const struct json *object, const char *key);

/* A number written without fraction and exponent that fits; else false. */
bool json_to_integer(const struct json *json, int64_t *ret_value);

/* Compact JSON text, in the order and with the numbers that were read. Returns 0, or -1: no
 * memory. */
int json_compact(const struct json *json, struct arena *arena, struct tidings_span *ret_text);

/* Appends valid UTF-8 as a JSON string, quotes included. */
void json_write_string(struct tidings_span text, struct buffer *out);

#endif
