/* SPDX-License-Identifier: MIT
 *
 * common/json.h: JSON text to a tree, strictly by RFC 8259, and a tree or a string back to JSON
 * text. All code of this project that reads JSON uses it. Knows nothing of events.
 *
 * Why not jansson: when memory runs out while it reads, it ignores that a character was not kept,
 * so that a string silently loses one or is read past its end. A push must not suffer either. This
 * reader takes memory from an arena in few steps and checks each; it does not recurse, so that a
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
  size_t count;             /* members or elements */
  struct tidings_span text; /* a string, decoded, with a NUL after it; a number, as written */
  struct tidings_span key;  /* of a member, decoded, with a NUL after it */
  struct json *members;     /* the first; of an array, the first element */
  struct json *next;        /* the next one of the same parent */
  struct json *parent;      /* NULL: this is the whole value */
  /* Its place in the text that was read; key_start is start where there is no key. */
  size_t key_start, start, end;
};

/* Extensions that json_read does not accept. With zeros in all members but the depth, both readers
 * accept the same. */
struct json_rules {
  size_t max_depth; /* arrays and objects inside each other */
  bool nul;         /* strings may hold the NUL character, written as \u0000; keys not */
  bool halves;      /* half of a surrogate pair reads as U+FFFD: JavaScript can cut a text there */
  bool repeats;     /* a key may be repeated: its last value counts */
  bool large;       /* numbers may be of any size */
  bool comments;    /* comments, and a comma after the last member */
  /* As people edit files: comments, a comma after the last member, a byte order mark, numbers of
   * any size, bytes that are not UTF-8. A text without a value gives NULL. */
  bool edited;
};

/* Reads one value and nothing after it. All of the tree is in the arena. `what` begins the
 * sentence: "event". Duplicate keys, NUL characters (escaped ones too), broken UTF-8 and lone
 * surrogates are not JSON here. Returns 0, INVAL (with line and column), SCHEMA (a number that
 * neither a 64-bit integer nor a double below 1e308 holds), TOO_BIG (depth), NOMEM. */
int json_read(struct tidings_span bytes, const char *what, struct arena *arena,
              const struct json **ret_json, struct tidings_error *error);
int json_read_by(const struct json_rules *rules, struct tidings_span bytes, const char *what,
                 struct arena *arena, const struct json **ret_json, struct tidings_error *error);

/* The last member of that name, or NULL. `object` may be NULL or no object. */
const struct json *json_member(const struct json *object, const char *key);

/* A number written without fraction and exponent that fits; else false. */
bool json_to_integer(const struct json *json, int64_t *ret_value);

/* Compact JSON text, in the order and with the numbers that were read. Returns 0, or -1: no
 * memory. */
int json_compact(const struct json *json, struct arena *arena, struct tidings_span *ret_text);

/* Appends valid UTF-8 as a JSON string, quotes included. */
void json_write_string(struct tidings_span text, struct buffer *out);

#endif
