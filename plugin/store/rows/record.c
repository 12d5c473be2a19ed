/* SPDX-License-Identifier: MIT
 *
 * store/rows/record.c: writes and reads the fields of a record.
 */
#include "store/rows/record.h"

#include "store/db/crc32c.h"

void record_begin(struct buffer *out) { buffer_byte(out, RECORD_FORMAT); }

void record_u64(struct buffer *out, uint64_t value) {
  uint8_t bytes[10];
  size_t len = 0;
  while (value >= 0x80) {
    bytes[len++] = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  bytes[len++] = (uint8_t)value;
  buffer_append(out, bytes, len);
}

void record_i64(struct buffer *out, int64_t value) {
  record_u64(out, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

void record_bytes(struct buffer *out, struct tidings_span bytes) {
  record_u64(out, bytes.len);
  buffer_span(out, bytes);
}

uint32_t record_crc(const struct db_key *key, struct tidings_span body) {
  return crc32c(crc32c(0, key->bytes, DB_KEY_BYTES), body.ptr, body.len);
}

void record_end(struct buffer *out, const struct db_key *key) {
  uint32_t crc = record_crc(key, buffer_view(out));
  buffer_append(out, &crc, sizeof crc);
}

uint8_t record_format(const struct db_key *key, struct tidings_span record) {
  uint32_t crc;
  if (record.len < 1 + sizeof crc) return 0;
  struct tidings_span body = span_of(record.ptr, record.len - sizeof crc);
  memcpy(&crc, record.ptr + body.len, sizeof crc);
  return crc == record_crc(key, body) ? (uint8_t)record.ptr[0] : 0;
}

bool record_open(struct record_reader *reader, const struct db_key *key,
                 struct tidings_span record) {
  if (record_format(key, record) != RECORD_FORMAT) return false;
  reader->at = (const uint8_t *)record.ptr + 1;
  reader->end = (const uint8_t *)record.ptr + record.len - sizeof(uint32_t);
  reader->bad = false;
  return true;
}

uint64_t record_read_long(struct record_reader *reader) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (reader->at == reader->end) break;
    uint8_t byte = *reader->at++;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return value;
  }
  reader->bad = true;
  return 0;
}

uint8_t record_read_below(struct record_reader *reader, uint8_t limit) {
  uint64_t value = record_read_u64(reader);
  if (value < limit) return (uint8_t)value;
  reader->bad = true;
  return 0;
}

bool record_close(const struct record_reader *reader) {
  return !reader->bad && reader->at == reader->end;
}

size_t record_read_count(struct record_reader *reader, size_t least) {
  uint64_t count = record_read_u64(reader);
  if (count <= (uint64_t)(reader->end - reader->at) / least) return (size_t)count;
  reader->bad = true;
  return 0;
}
