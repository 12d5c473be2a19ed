/* SPDX-License-Identifier: MIT
 *
 * Eight bytes at once say what each of them would say, wherever the byte stands.
 */
#include <criterion/criterion.h>

#include "common/eight.h"
#include "common/json.h"

TestSuite(eight);

/* Neighbours that a carry could come from, or go to. */
static const char fillers[] = {'x', '\0', '\x01', '\x7F', '\x80', '\xFF', '!', '#', '\x1F', ' '};

static void check(const char *bytes, unsigned char limit) {
  bool is_less = false, is_there = false, is_ascii = true;
  for (size_t i = 0; i < 8; i++) {
    is_less = is_less || (unsigned char)bytes[i] < limit;
    is_there = is_there || bytes[i] == (char)limit;
    is_ascii = is_ascii && (unsigned char)bytes[i] < 0x80;
  }
  uint64_t eight = eight_at(bytes);
  cr_assert_eq(eight_have_less(eight, limit), is_less, "less than %d", limit);
  cr_assert_eq(eight_have(eight, (char)limit), is_there, "%d", limit);
  cr_assert_eq(eight_are_ascii(eight), is_ascii);
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
