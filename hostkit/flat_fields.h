/* SPDX-License-Identifier: MIT
 *
 * flat_fields.h: takes the members of a JSON object apart, with errors that name the member, its
 * value and what was expected. Knows no operation.
 *
 * The first error stays in `code`, and all later calls return zeros, so that the caller checks
 * `code` once, after all calls. Texts are borrowed from the object.
 */
#ifndef HOSTKIT_FLAT_FIELDS_H
#define HOSTKIT_FLAT_FIELDS_H

#include <stdbool.h>

#include "common/json.h"

struct hk_fields {
  const struct json *object;
  struct arena *arena; /* of the object; errors take memory from it */
  const char *name;    /* what errors call the object */
  struct tidings_error *error;
  int32_t code;
};

enum hk_need { HK_OPTIONAL, HK_REQUIRED };

/* Any member that is not in `names`, which ends with NULL, is an error. */
void hk_fields_only(struct hk_fields *fields, const char *const *names);

struct tidings_span hk_field_text(struct hk_fields *fields, const char *key, enum hk_need need);

/* Returns the member as a NUL-terminated string; NULL: it is missing. A text with a NUL in it is an
 * error. */
const char *hk_field_string(struct hk_fields *fields, const char *key, enum hk_need need);

const struct json *hk_field_object(struct hk_fields *fields, const char *key, enum hk_need need);
const struct json *hk_field_array(struct hk_fields *fields, const char *key);
uint32_t hk_field_number(struct hk_fields *fields, const char *key, uint32_t otherwise);
uint64_t hk_field_number64(struct hk_fields *fields, const char *key); /* 0 if it is missing */
bool hk_field_flag(struct hk_fields *fields, const char *key);

/* Returns the index of the member's text in `words`, which end with NULL; `otherwise` if the member
 * is missing and not required. */
uint32_t hk_field_word(struct hk_fields *fields, const char *key, const char *const *words,
                       enum hk_need need, uint32_t otherwise);

/* Sets the error for a member whose value cannot be used; returns the code. */
int32_t hk_field_wrong(struct hk_fields *fields, const char *key, const char *expected);

#endif
