/* SPDX-License-Identifier: MIT
 *
 * common/json_reader.h: declarations that json_read.c (structure and numbers) and json_string.c
 * (strings) share.
 */
#ifndef COMMON_JSON_READER_H
#define COMMON_JSON_READER_H

#include "common/json.h"

struct json_reader {
  struct tidings_span original; /* for positions: the copy changes while it is read */
  char *begin, *at, *end;
  const struct json_rules *rules;
  struct arena *arena;
  const char *what;
  struct tidings_error *error;
  struct json *open, *last; /* the innermost value that has not ended, and the newest value in it */
  size_t depth;
};

static inline bool json_reader_take(struct json_reader *reader, char byte) {
  if (reader->at == reader->end || *reader->at != byte) return false;
  reader->at++;
  return true;
}

/* Errors: INVAL. The sentence names line and column of `at`. */
int json_reader_refuse(const struct json_reader *reader, const char *at, const char *problem);
/* Writes an error that says what was found instead of `expected`. */
int json_reader_unexpected(const struct json_reader *reader, const char *expected);

/* Reads a string from its opening quote on; decodes it in place, with a NUL at the end. Errors:
 * INVAL. */
int json_reader_string(struct json_reader *reader, bool is_key, struct tidings_span *ret_text);

#endif
