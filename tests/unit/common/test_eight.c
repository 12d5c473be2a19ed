/* SPDX-License-Identifier: MIT
 *
 * The functions for eight bytes at once give the same answer as for each byte alone, wherever that
 * byte is.
 */
#include <criterion/criterion.h>

#include "common/eight.h"
#include "common/json.h"

TestSuite(eight);

/* Neighbouring bytes from which, or to which, a carry could go. */
static const char fillers[] = {'x', '\0', '\x01', '\x7F', '\x80', '\xFF', '!', '#', '\x1F', ' '};

static unsigned first_of(uint64_t found) { return found ? eight_first(found) : 8; }

static void check(const char *bytes, unsigned char limit) {
  unsigned less = 8, there = 8, beyond = 8, any = 8;
  for (unsigned i = 8; i-- > 0;) {
    unsigned char byte = (unsigned char)bytes[i];
    if (byte < limit) less = i;
    if (byte == limit) there = i;
    if (byte >= 0x80) beyond = i;
    if (byte < limit || byte == '!' || byte >= 0x80) any = i;
  }
  uint64_t eight = eight_at(bytes);
  cr_assert_eq(first_of(eight_less(eight, limit)), less, "less than %d", limit);
  cr_assert_eq(first_of(eight_equal(eight, limit)), there, "%d", limit);
  cr_assert_eq(first_of(eight_beyond_ascii(eight)), beyond);
  uint64_t together =
      eight_less(eight, limit) | eight_equal(eight, '!') | eight_beyond_ascii(eight);
  cr_assert_eq(first_of(together), any, "less than %d, or another", limit);
}

Test(eight, every_byte_at_every_place) {
  for (size_t filler = 0; filler < sizeof fillers; filler++) {
    for (unsigned value = 0; value < 256 * 8; value++) {
      char bytes[8];
      memset(bytes, fillers[filler], sizeof bytes);
      bytes[value % 8] = (char)(value / 8);
      for (unsigned limit = 0; limit <= 128; limit++) check(bytes, (unsigned char)limit);
    }
  }
}

Test(eight, a_string_of_json_has_its_escapes_at_every_place) {
  for (unsigned value = 24; value < 128 * 24; value++) {
    char bytes[24];
    struct buffer json = BUFFER_EMPTY;
    struct arena arena = ARENA_EMPTY;
    const struct json *read = NULL;
    memset(bytes, 'x', sizeof bytes);
    bytes[value % 24] = (char)(value / 24);
    json_write_string(span_of(bytes, sizeof bytes), &json);
    for (size_t i = 0; i < json.len; i++) cr_assert_geq((unsigned char)json.bytes[i], 0x20);
    cr_assert_eq(json_read(buffer_view(&json), "test", &arena, &read, NULL), 0);
    cr_assert(span_equal(read->text, span_of(bytes, sizeof bytes)), "byte %u", value / 24);
    arena_free(&arena);
    buffer_free(&json);
  }
}

Test(eight, a_control_character_is_refused_at_every_place) {
  for (size_t value = 1; value < 0x20; value++) {
    for (size_t at = 1; at < 25; at++) {
      char json[26];
      struct arena arena = ARENA_EMPTY;
      const struct json *read = NULL;
      memset(json, 'x', sizeof json);
      json[0] = json[25] = '"';
      json[at] = (char)value;
      cr_assert(json_read(span_of(json, sizeof json), "test", &arena, &read, NULL));
      arena_free(&arena);
    }
  }
}
