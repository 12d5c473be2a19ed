/* SPDX-License-Identifier: MIT
 *
 * common/json_write.h: writes JSON text into a buffer, member by member. It writes the commas; the
 * caller balances open and close. If memory runs out, the buffer stays `failed`.
 */
#ifndef COMMON_JSON_WRITE_H
#define COMMON_JSON_WRITE_H

#include "common/json.h"

struct json_writer {
  struct buffer *out;
  bool comma; /* a value comes before, at this depth */
};

/* `key` NULL: an element of an array, or the value itself. */
void json_open(struct json_writer *writer, const char *key, char bracket); /* '{' or '[' */
void json_close(struct json_writer *writer, char bracket);                 /* '}' or ']' */
/* Repairs text that is not UTF-8, because a host's own texts (a call's id, a tool's name) may have
 * any bytes. */
void json_put_string(struct json_writer *writer, const char *key, struct tidings_span text);
void json_put_text(struct json_writer *writer, const char *key, const char *text); /* NULL: null */
void json_put_u64(struct json_writer *writer, const char *key, uint64_t value);
void json_put_u64_at(struct json_writer *writer, struct tidings_span key,
                     uint64_t value); /* any valid UTF-8, from outside */
void json_put_i64(struct json_writer *writer, const char *key, int64_t value);
void json_put_bool(struct json_writer *writer, const char *key, bool value);
void json_put_id(struct json_writer *writer, const char *key,
                 uint64_t id); /* as a string of its digits: JavaScript's numbers end at 2^53 */
void json_put_time(struct json_writer *writer, const char *key,
                   int64_t ms); /* RFC 3339 with milliseconds, UTC */
void json_put_raw(struct json_writer *writer, const char *key,
                  struct tidings_span json); /* JSON already */

#endif
