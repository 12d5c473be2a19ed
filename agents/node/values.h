/* SPDX-License-Identifier: MIT
 *
 * agents/node/values.h: converts JavaScript's values to C's and back. A function that fails has
 * thrown a JavaScript exception; the caller frees its memory and returns NULL to the engine.
 */
#ifndef AGENTS_NODE_VALUES_H
#define AGENTS_NODE_VALUES_H

#include <tidings/abi.h>

#include "napi.h"

/* A string copied from the engine. It is NUL-terminated, and may contain NULs. Short strings, such
 * as session and call ids, need no allocation. */
struct text {
  char *ptr; /* small, or malloc'ed; NULL: it was undefined or null */
  size_t len;
  char small[256];
};

enum need { OPTIONAL, REQUIRED };

/* `name` is for the exception. Always give the text to text_free, after a failure too. */
bool text_take(struct napi_env__ *env, struct napi_value__ *value, const char *name, enum need need,
               struct text *ret_text);
/* Reads members of an object, whose name in exceptions is `name`. Always give the members to
 * text_members_free, after a failure too. */
struct text_member {
  const char *name;
  enum need need;
  struct text *text; /* its pointer is NULL before it is read */
};
bool text_members_read(struct napi_env__ *env, struct napi_value__ *object, const char *name,
                       const struct text_member *members, size_t count);
void text_members_free(const struct text_member *members, size_t count);
/* Refuses a text with NULs inside, such as a path. */
bool text_plain(struct napi_env__ *env, const struct text *text, const char *name);
struct tidings_span text_span(const struct text *text);
void text_free(struct text *text);

/* Above this, JavaScript's numbers cannot represent every whole number. */
#define NUMBER_MAX 9007199254740991u

/* Reads a whole number from 0 to `most`; undefined leaves *ret_number unchanged. */
bool value_number_member(struct napi_env__ *env, struct napi_value__ *object, const char *name,
                         uint64_t most, uint64_t *ret_number);

/* Reads a number of bytes; undefined and null are 0. */
bool value_bytes(struct napi_env__ *env, struct napi_value__ *value, const char *name,
                 uint64_t *ret_bytes);

/* Returns a JavaScript string. NULL: an exception is pending. */
struct napi_value__ *value_text(struct napi_env__ *env, const char *text, size_t len);
struct napi_value__ *value_undefined(struct napi_env__ *env);

/* Throws a TypeError: "name: expected …". Returns false. */
bool throw_type(struct napi_env__ *env, const char *name, const char *expected);
/* Throws an Error with the code's name as its `code`. Returns NULL. */
struct napi_value__ *throw_code(struct napi_env__ *env, int32_t code,
                                const struct tidings_error *error);
/* Call it if the engine itself failed, which may have thrown already. Returns NULL. */
struct napi_value__ *throw_engine(struct napi_env__ *env);

#endif
