/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_record.c: fields become bytes and fields again, and altered bytes are noticed.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "kit.h"
#include "store/rows/record.h"

static const uint64_t numbers[] = {0,          1,
                                   127,        128,
                                   16383,      16384,
                                   UINT32_MAX, (uint64_t)1 << 62,
                                   INT64_MAX,  (uint64_t)1 << 63,
                                   UINT64_MAX};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static struct buffer sample(const struct db_key *key) {
  struct buffer bytes = BUFFER_EMPTY;
  record_begin(&bytes);
  for (size_t i = 0; i < NUMBERS; i++) {
    record_u64(&bytes, numbers[i]);
    record_i64(&bytes, (int64_t)numbers[i]);
  }
  record_bytes(&bytes, span_text("some text"));
  record_bytes(&bytes, span_text(""));
  record_end(&bytes, key);
  cr_assert(!bytes.failed);
  return bytes;
}

Test(record, round_trip) {
  struct db_key key = row_key(3, ROW_ITEM, 9);
  struct buffer bytes = sample(&key);
  struct record_reader reader;
  cr_assert(record_open(&reader, &key, buffer_view(&bytes)));
  for (size_t i = 0; i < NUMBERS; i++) {
    cr_assert_eq(record_read_u64(&reader), numbers[i]);
    cr_assert_eq(record_read_i64(&reader), (int64_t)numbers[i]);
  }
  cr_assert(span_is(record_read_bytes(&reader), "some text"));
  cr_assert(!record_close(&reader), "something is left");
  cr_assert_eq(record_read_bytes(&reader).len, 0);
  cr_assert(record_close(&reader));
  cr_assert_eq(record_read_u64(&reader), 0, "nothing is left");
  cr_assert(reader.bad);
  cr_assert(!record_close(&reader));
  buffer_free(&bytes);
}

Test(record, every_flipped_bit_is_noticed) {
  struct db_key key = row_key(3, ROW_ITEM, 9);
  struct buffer bytes = sample(&key);
  struct record_reader reader;
  for (size_t bit = 0; bit < bytes.len * 8; bit++) {
    uint8_t *byte = (uint8_t *)bytes.bytes + bit / 8;
    *byte ^= (uint8_t)(1 << bit % 8);
    cr_assert(!record_open(&reader, &key, buffer_view(&bytes)), "bit %zu", bit);
    *byte ^= (uint8_t)(1 << bit % 8);
  }
  cr_assert(record_open(&reader, &key, buffer_view(&bytes)));
  buffer_free(&bytes);
}

Test(record, a_record_under_another_key_is_noticed) {
  struct db_key key = row_key(3, ROW_ITEM, 9);
  struct buffer bytes = sample(&key);
  struct record_reader reader;
  for (size_t bit = 0; bit < (size_t)DB_KEY_BYTES * 8; bit++) {
    struct db_key other = key;
    other.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    cr_assert(!record_open(&reader, &other, buffer_view(&bytes)), "bit %zu of the key", bit);
  }
  buffer_free(&bytes);
}

Test(record, a_shorter_or_longer_record_is_noticed) {
  struct db_key key = row_key(3, ROW_ITEM, 9);
  struct buffer bytes = sample(&key);
  struct record_reader reader;
  for (size_t len = 0; len < bytes.len; len++) {
    char *exact = malloc(len ? len : 1); /* so that a sanitizer sees a read past the end */
    cr_assert_not_null(exact);
    memcpy(exact, bytes.bytes, len);
    cr_assert(!record_open(&reader, &key, span_of(exact, len)), "%zu bytes", len);
    free(exact);
  }
  buffer_byte(&bytes, 0);
  cr_assert(!record_open(&reader, &key, buffer_view(&bytes)));
  buffer_free(&bytes);
}

Test(record, another_format_is_refused) {
  struct db_key key = row_key(3, ROW_ITEM, 9);
  struct buffer bytes = BUFFER_EMPTY;
  struct record_reader reader;
  buffer_byte(&bytes, RECORD_FORMAT + 1);
  record_end(&bytes, &key);
  cr_assert(!record_open(&reader, &key, buffer_view(&bytes)));
  buffer_free(&bytes);
}

Test(record, numbers_that_do_not_end_and_lengths_that_lie) {
  static const struct {
    const char *bytes;
    size_t len;
  } cases[] = {
      {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11}, /* a number of eleven bytes */
      {"\x80", 1},                                          /* a number without an end */
      {"\x05"
       "abcd",
       5},                                              /* a length one too large */
      {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10}, /* a length of 2^64 - 1 */
      {"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9},      /* a length of 2^63 - 1 */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct record_reader reader = {(const uint8_t *)cases[i].bytes,
                                   (const uint8_t *)cases[i].bytes + cases[i].len, false};
    struct tidings_span read = record_read_bytes(&reader);
    cr_assert(reader.bad, "case %zu", i);
    cr_assert_eq(read.len, 0);
    cr_assert(!record_close(&reader));
  }
}

Test(record, read_below) {
  struct db_key key = row_key(0, ROW_META, 0);
  struct buffer bytes = BUFFER_EMPTY;
  struct record_reader reader;
  record_begin(&bytes);
  record_u64(&bytes, 3);
  record_u64(&bytes, 4);
  record_end(&bytes, &key);
  cr_assert(record_open(&reader, &key, buffer_view(&bytes)));
  cr_assert_eq(record_read_below(&reader, 4), 3);
  cr_assert(!reader.bad);
  cr_assert_eq(record_read_below(&reader, 4), 0);
  cr_assert(reader.bad);
  buffer_free(&bytes);
}
