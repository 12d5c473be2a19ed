/* SPDX-License-Identifier: MIT
 *
 * common/mask_find.h: the parts of mask.c. Each function looks at one place of a text and says
 * which bytes after it are secret.
 */
#ifndef COMMON_MASK_FIND_H
#define COMMON_MASK_FIND_H

#include <stdbool.h>

#include "common/span.h"

/* From the place on: so many bytes to keep, then so many to hide. hidden 0: there is no secret. */
struct secret {
  size_t shown, hidden;
};

/* A token of a known format begins here. */
struct secret mask_find_token(struct tidings_span text, size_t at);
/* A name begins here, with a value that it says is secret. */
struct secret mask_find_named(struct tidings_span text, size_t at);
/* A URL's scheme begins here. */
struct secret mask_find_url(struct tidings_span text, size_t at);

/* A program with options for passwords; NULL: none. It counts up to the end of its command. */
struct mask_program;
const struct mask_program *mask_find_program(struct tidings_span text, size_t at);
/* An option of that program begins here. */
struct secret mask_find_option(const struct mask_program *program, struct tidings_span text,
                               size_t at);

/* Letters and digits of ASCII. */
static inline bool mask_is_alnum(char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z');
}

static inline bool mask_is_blank(char byte) { return byte == ' ' || byte == '\t'; }

static inline bool mask_starts(struct tidings_span text, size_t at, const char *word) {
  size_t len = strlen(word);
  return at <= text.len && len <= text.len - at && memcmp(text.ptr + at, word, len) == 0;
}

/* The value that begins here, quoted or not: *ret_from is its first byte. Returns its length. */
size_t mask_value(struct tidings_span text, size_t at, size_t *ret_from);
/* A reference, a keyword or nothing: no secret. */
bool mask_is_placeholder(struct tidings_span value);

#endif
