/* SPDX-License-Identifier: MIT
 *
 * store/rows/record.h: the bytes of a row: a format number, fields as varints and length-prefixed
 * bytes, and a CRC-32C over key, format and fields at the end, so that a page that went bad is
 * noticed and never told as news.
 */
#ifndef STORE_ROWS_RECORD_H
#define STORE_ROWS_RECORD_H

#include "common/buffer.h"
#include "store/rows/keys.h"
#include "store/store.h"
#include "values/notification.h"

enum { RECORD_FORMAT = 1 };

void record_begin(struct buffer *out);
void record_u64(struct buffer *out, uint64_t value); /* LEB128 */
void record_i64(struct buffer *out, int64_t value);  /* zigzag */
void record_bytes(struct buffer *out, struct tidings_span bytes);
/* The checksum that ends a record of `body` under `key`. */
uint32_t record_crc(const struct row_key *key, struct tidings_span body);
void record_end(struct buffer *out, const struct row_key *key);

/* Reading: a reader that ran over the end or met a wrong number stays `bad`. */
struct record_reader {
  const uint8_t *at, *end;
  bool bad;
};
/* The format of a record whose checksum fits; 0: it does not. */
uint8_t record_format(const struct row_key *key, const void *bytes, size_t len);
/* False: the checksum or the format does not fit. */
bool record_open(struct record_reader *reader, const struct row_key *key, const void *bytes,
                 size_t len);
/* a number of more than one byte, or the end */
uint64_t record_read_long(struct record_reader *reader);
uint8_t record_read_below(struct record_reader *reader,
                          uint8_t limit);              /* a small number < limit, else bad */
bool record_close(const struct record_reader *reader); /* read to the end, and not bad */

/* Here, because reading an item is made of these. */
static inline uint64_t record_read_u64(struct record_reader *reader) {
  return reader->at != reader->end && *reader->at < 0x80 ? *reader->at++ : record_read_long(reader);
}

static inline int64_t record_read_i64(struct record_reader *reader) {
  uint64_t value = record_read_u64(reader);
  return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* Points into the record. */
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

/* -- the rows ---------------------------------------------------------------------------------- */

/* Without the checksum: the number, and so the key, is known only to the writer that commits it. */
void encode_item(struct buffer *out, int64_t time_ms, const struct notification *note);
bool decode_item(struct record_reader *reader,
                 struct item *ret_item); /* text points into the record */

void encode_head(struct buffer *out, const struct head *head);
/* false with *ret_no_memory: the arena is out of memory. */
bool decode_head(struct record_reader *reader, struct arena *arena, struct head *ret_head,
                 bool *ret_no_memory);

void encode_delivery(struct buffer *out, const struct delivery *delivery);
bool decode_delivery(struct record_reader *reader, struct arena *arena,
                     struct delivery *ret_delivery, bool *ret_no_memory);

void encode_run(struct buffer *out, const struct run *run);
void decode_run(struct record_reader *reader,
                struct run *ret_run); /* text points into the record */
void encode_message(struct buffer *out, const struct message *message);
bool decode_message(struct record_reader *reader,
                    struct message *ret_message); /* text points into the record */
void encode_transition(struct buffer *out, const struct transition *transition);
bool decode_transition(struct record_reader *reader, struct arena *arena,
                       struct transition *ret_transition, bool *ret_no_memory);

/* A count of elements that take at least `least` bytes each; one that cannot be makes the reader
 * bad before anything is allocated for it. */
size_t record_read_count(struct record_reader *reader, size_t least);

#endif
