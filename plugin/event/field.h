/* SPDX-License-Identifier: MIT
 *
 * event/field.h: reads typed values from a JSON tree. Its errors name the field, the value and what
 * was expected. It does not know what a field means.
 */
#ifndef EVENT_FIELD_H
#define EVENT_FIELD_H

#include <stdbool.h>

#include "common/json.h"

/* The place of a value: a chain on the stack that becomes text only when something is wrong. */
struct path {
  const struct path *parent; /* NULL at the top */
  struct tidings_span name;
};

struct field_path_text {
  char text[320];
};
/* data.kind.source; a name that is not plain is quoted */
struct field_path_text field_path_text(const struct path *path);

static inline struct path path_member(const struct path *parent, const char *name) {
  struct path path = {parent, span_text(name)};
  return path;
}

/* The members that an object may have. */
struct member_names {
  const char *const *names;
  size_t count;
  const char *noun; /* "field": for the sentence */
};

/* The place of a value in `parent` (NULL: the top): the member with its name. An element of an
 * array has no name, and gets the place of the array. */
static inline struct path field_place(const struct path *parent, const struct json *value) {
  struct path path = {parent, value->key};
  return value->key.ptr || !parent ? path : *parent;
}

/* Each returns 0, SCHEMA or TOO_BIG, and writes ret_ only on success. An error names the value's
 * place in `parent`. */
int field_refuse(const struct path *parent, const struct json *value, const char *expected,
                 struct tidings_error *error);
/* Refuses a value that may not be given there. `where` ends the sentence: "together with
 * data.exit_code; expected only one of the two". */
int field_misplaced(const struct path *parent, const struct json *value, const char *where,
                    struct tidings_error *error);
int field_missing(const struct path *parent, const char *name, const char *expected,
                  struct tidings_error *error);
int field_object(const struct path *parent, const struct json *value, struct tidings_error *error);
int field_string(const struct path *parent, const struct json *value, size_t max_bytes,
                 struct tidings_span *ret, struct tidings_error *error);
int field_bool(const struct path *parent, const struct json *value, bool *ret,
               struct tidings_error *error);
int field_integer(const struct path *parent, const struct json *value, int64_t min, int64_t max,
                  int64_t *ret, struct tidings_error *error);
int field_choice(const struct path *parent, const struct json *value, const char *const *choices,
                 size_t count, uint8_t *ret, struct tidings_error *error);
/* The same, but `value` may be NULL, which is an error: `name` is missing. */
int field_needed_choice(const struct path *parent, const char *name, const struct json *value,
                        const char *const *choices, size_t count, uint8_t *ret,
                        struct tidings_error *error);

/* Sorts the members of an object into slots by name; a slot whose member is not there is NULL. A
 * name that is not in the list is SCHEMA. `path` is the object's own place; NULL at the top. */
int field_members(const struct path *path, const struct json *object,
                  const struct member_names *known, const struct json **slots,
                  struct tidings_error *error);

/* False: it is no number of decimal digits, or does not fit into 64 bits. */
bool field_decimal(struct tidings_span text, uint64_t *ret_value);

/* "a, b, c" for sentences, cut if it does not fit. */
struct field_name_list {
  char text[256];
};
struct field_name_list field_name_list(const char *const *names, size_t count);

#endif
