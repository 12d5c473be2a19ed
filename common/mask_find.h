/* SPDX-License-Identifier: MIT
 *
 * common/mask_find.h: the parts of mask.c. Each function looks at one place of a text and says
 * which bytes after it are secret.
 */
#ifndef COMMON_MASK_FIND_H
#define COMMON_MASK_FIND_H

#include <stdbool.h>

#include "common/span.h"

/* How many bytes to keep from the place on, and how many to hide after them. `hidden` 0: there is
 * no secret. */
struct secret {
  size_t shown, hidden;
};

/* Does a token of a known format begin here? */
struct secret mask_find_token(struct tidings_span text, size_t at);
/* Does a name begin here that says that its value is secret? */
struct secret mask_find_named(struct tidings_span text, size_t at);
/* Does the scheme of a URL begin here? */
struct secret mask_find_url(struct tidings_span text, size_t at);

/* A program with options for passwords; NULL: none. It applies up to the end of its command. */
struct mask_program;
const struct mask_program *mask_find_program(struct tidings_span text, size_t at);
/* Does an option of that program begin here? */
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

/* Finds the value that begins here, quoted or not: *ret_from is its first byte. Returns its
 * length. */
size_t mask_value(struct tidings_span text, size_t at, size_t *ret_from);
/* Is the value no secret: a reference, a keyword, or empty? */
bool mask_is_placeholder(struct tidings_span value);

#endif
