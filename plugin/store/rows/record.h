/* SPDX-License-Identifier: MIT
 *
 * store/rows/record.h: the bytes of a row: a format number, fields as varints and length-prefixed
 * bytes, and a CRC-32C over key, format and fields at the end, so that damage of a page is noticed
 * and damaged text is never shown.
 */
#ifndef STORE_ROWS_RECORD_H
#define STORE_ROWS_RECORD_H

#include "common/buffer.h"
#include "store/rows/keys.h"

enum { RECORD_FORMAT = 1 };

void record_begin(struct buffer *out);
void record_u64(struct buffer *out, uint64_t value); /* LEB128 */
void record_i64(struct buffer *out, int64_t value);  /* zigzag */
void record_bytes(struct buffer *out, struct tidings_span bytes);
/* The checksum that ends a record of `body` under `key`. */
uint32_t record_crc(const struct db_key *key, struct tidings_span body);
void record_end(struct buffer *out, const struct db_key *key);

/* A reader becomes `bad` when it runs over the end or meets a wrong number, and stays so. */
struct record_reader {
  const uint8_t *at, *end;
  bool bad;
};
/* Returns the format of a record; 0: its checksum does not fit. */
uint8_t record_format(const struct db_key *key, struct tidings_span record);
/* False: the checksum or the format does not fit. */
bool record_open(struct record_reader *reader, const struct db_key *key,
                 struct tidings_span record);
/* Reads a number of more than one byte. At the end of the record the reader becomes bad. */
uint64_t record_read_long(struct record_reader *reader);
uint8_t record_read_below(struct record_reader *reader,
                          uint8_t limit);              /* a small number < limit, else bad */
bool record_close(const struct record_reader *reader); /* read to the end, and not bad */

/* These are inline, because reading an item consists of them. */
static inline uint64_t record_read_u64(struct record_reader *reader) {
  return reader->at != reader->end && *reader->at < 0x80 ? *reader->at++ : record_read_long(reader);
}

static inline int64_t record_read_i64(struct record_reader *reader) {
  uint64_t value = record_read_u64(reader);
  return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* The span points into the record. */
static inline struct tidings_span record_read_bytes(struct record_reader *reader) {
  uint64_t len = record_read_u64(reader);
  if (reader->bad || len > (uint64_t)(reader->end - reader->at)) {
    reader->bad = true;
    return span_of(NULL, 0);
  }
  struct tidings_span bytes = span_of((const char *)reader->at, (size_t)len);
  reader->at += len;
  return bytes;
}

/* Reads a count of elements that take at least `least` bytes each. If the record is too short for
 * so many, the reader becomes bad before anything is allocated for them. */
size_t record_read_count(struct record_reader *reader, size_t least);

#endif
