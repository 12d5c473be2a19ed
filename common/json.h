/* SPDX-License-Identifier: MIT
 *
 * common/json.h: reads JSON text into a tree, strictly by RFC 8259, and writes a tree or a string
 * as JSON text. All code of this project that reads JSON uses it.
 *
 * Why not jansson? If memory runs out while it reads, it does not notice that a character was not
 * stored, so that a string silently loses a character or is read past its end. A push must suffer
 * neither. This reader takes memory from an arena in few steps and checks each. It does not
 * recurse, so that hostile nesting takes no stack, and it keeps numbers as they were written.
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
  struct tidings_span key;  /* the name of a member, decoded, with a NUL after it */
  struct json *members;     /* the first member, or the first element of an array */
  struct json *next;        /* the next value of the same parent */
  struct json *parent;      /* NULL: this is the whole value */
  /* The value's place in the text that was read; without a key, key_start is start. */
  size_t key_start, start, end;
};

/* Extensions that json_read does not accept. If all members but the depth are zero, json_read_by
 * accepts the same texts as json_read. */
struct json_rules {
  size_t max_depth; /* arrays and objects inside each other */
  bool nul;         /* strings may hold the NUL character, written as \u0000; keys not */
  bool halves;      /* half of a surrogate pair reads as U+FFFD: JavaScript can cut a text there */
  bool repeats;     /* a key may be repeated: its last value counts */
  bool large;       /* numbers may be of any size */
  bool comments;    /* comments, and a comma after the last member */
  /* Accepts what people write into files: comments, a comma after the last member, a byte order
   * mark, numbers of any size, bytes that are not UTF-8. A text without a value gives NULL. */
  bool edited;
};

/* Reads a text that is one value. The whole tree is in the arena. `what`, such as "event", begins
 * the error's sentence. Duplicate keys, NUL characters (escaped ones too), broken UTF-8 and lone
 * surrogates are not JSON here. Returns 0, INVAL (with line and column), SCHEMA (a number that
 * neither a 64-bit integer nor a double below 1e308 holds), TOO_BIG (depth), NOMEM. */
int json_read(struct tidings_span bytes, const char *what, struct arena *arena,
              const struct json **ret_json, struct tidings_error *error);
int json_read_by(const struct json_rules *rules, struct tidings_span bytes, const char *what,
                 struct arena *arena, const struct json **ret_json, struct tidings_error *error);

/* Returns the last member of that name, or NULL. `object` may be NULL or no object. */
const struct json *json_member(const struct json *object, const char *key);

/* False unless it is a number without fraction and exponent that fits into an int64_t. */
bool json_to_integer(const struct json *json, int64_t *ret_value);

/* Writes compact JSON text, with members in the order and numbers in the form in which they were
 * read. Returns 0, or -1: no memory. */
int json_compact(const struct json *json, struct arena *arena, struct tidings_span *ret_text);

/* Appends valid UTF-8 as a JSON string, quotes included. */
void json_write_string(struct tidings_span text, struct buffer *out);

#endif
