/* SPDX-License-Identifier: MIT
 *
 * Reading UTF-8 strictly.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "common/utf8.h"
#include "kit.h"

static const struct {
  const char *bytes;
  uint32_t code_point;
} characters[] = {{"a", 'a'},
                  {"\x7F", 0x7F},
                  {"\xC2\x80", 0x80},
                  {"\xDF\xBF", 0x7FF},
                  {"\xE0\xA0\x80", 0x800},
                  {"\xED\x9F\xBF", 0xD7FF},
                  {"\xEE\x80\x80", 0xE000},
                  {"\xEF\xBF\xBF", 0xFFFF},
                  {"\xF0\x90\x80\x80", 0x10000},
                  {"\xF4\x8F\xBF\xBF", 0x10FFFF}};

static const char *const broken[] = {"\x80",
                                     "\xBF",
                                     "\xC0\x80",
                                     "\xC1\xBF",
                                     "\xC2",
                                     "\xC2 ",
                                     "\xE0\x9F\xBF",
                                     "\xED\xA0\x80",
                                     "\xED\xBF\xBF",
                                     "\xF0\x8F\xBF\xBF",
                                     "\xF4\x90\x80\x80",
                                     "\xF5\x80",
                                     "\xFF",
                                     "\xFE",
                                     "\xE2\x82",
                                     "\xF0\x9F\x98",
                                     "\xE2\x28\xA1",
                                     "\xF0\x28\x8C\xBC",
                                     "\xF8\x88\x80\x80\x80"};

Test(utf8, decodes_the_edges_of_every_length) {
  for (size_t i = 0; i < sizeof characters / sizeof *characters; i++) {
    struct tidings_span text = span_text(characters[i].bytes);
    uint32_t code_point = 0;
    cr_expect_eq(utf8_decode(text, 0, &code_point), text.len, "case %zu", i);
    cr_expect_eq(code_point, characters[i].code_point, "case %zu: U+%04X", i, (unsigned)code_point);
    cr_expect(utf8_valid(text), "case %zu", i);
  }
}

Test(utf8, refuses_overlong_forms_surrogates_and_halves) {
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    uint32_t code_point = 7;
    cr_expect_eq(utf8_decode(span_text(broken[i]), 0, &code_point), 0, "case %zu", i);
    cr_expect_eq(code_point, 7, "case %zu wrote a code point", i);
    cr_expect(!utf8_valid(span_text(broken[i])), "case %zu", i);
  }
}

Test(utf8, finds_the_first_bad_byte_wherever_it_stands) {
  for (size_t at = 0; at < 40; at++) {
    char text[41];
    memset(text, 'x', sizeof text);
    cr_expect_eq(utf8_valid_length(span_of(text, at)), at);
    text[at] = '\xFF';
    cr_expect_eq(utf8_valid_length(span_of(text, sizeof text)), at);
  }
  cr_expect_eq(utf8_valid_length(span_of(NULL, 0)), 0);
}

Test(utf8, a_prefix_never_splits_a_character) {
  struct tidings_span text = span_text("a€😀b"); /* 1 + 3 + 4 + 1 bytes */
  static const size_t expected[] = {0, 1, 1, 1, 4, 4, 4, 4, 8, 9, 9};
  for (size_t max = 0; max < sizeof expected / sizeof *expected; max++) {
    cr_expect_eq(utf8_prefix(text, max), expected[max], "max %zu gave %zu", max,
                 utf8_prefix(text, max));
  }
  cr_expect_eq(utf8_prefix(span_text("\x80\x80\x80\x80\x80\x80"), 5), 5,
               "continuation bytes without a character are cut anywhere");
}

Test(utf8, counts_characters_and_takes_a_broken_byte_for_one) {
  struct tidings_span text = span_text("a€\xFF😀");
  static const size_t expected[] = {0, 1, 4, 5, 9, 9};
  for (size_t count = 0; count < sizeof expected / sizeof *expected; count++)
    cr_expect_eq(utf8_characters(text, count), expected[count]);
}

Test(utf8, knows_controls) {
  static const uint32_t controls[] = {0, 9, 10, 0x1F, 0x7F, 0x80, 0x9F},
                        others[] = {0x20, 0x7E, 0xA0, 0x202E};
  for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
    cr_expect(utf8_is_control(controls[i]), "U+%04X", (unsigned)controls[i]);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    cr_expect(!utf8_is_control(others[i]), "U+%04X", (unsigned)others[i]);
}

Test(utf8, knows_what_deceives) {
  static const uint32_t deceptive[] = {
      0,      '\t',   '\n',   0x1B,    0x7F,     0x85,    0x9B,    0xAD,   0x61C,  0x200B,
      0x200D, 0x200E, 0x2028, 0x2029,  0x202A,   0x202E,  0x2060,  0x2066, 0x2069, 0xFEFF,
      0xFFF9, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF, 0xE0001, 0xE0041, 0xE01EF};
  static const uint32_t honest[] = {' ',    '~',    0xA0,   0xE9,   0x20AC,  0x2014, 0x2027,
                                    0x202F, 0x3042, 0xFE0F, 0xFFFD, 0x1F600, 0xE1000};
  for (size_t i = 0; i < sizeof deceptive / sizeof *deceptive; i++)
    cr_expect(utf8_is_deceptive(deceptive[i]), "U+%04X", (unsigned)deceptive[i]);
  for (size_t i = 0; i < sizeof honest / sizeof *honest; i++)
    cr_expect(!utf8_is_deceptive(honest[i]), "U+%04X", (unsigned)honest[i]);
}

Test(utf8, shows_what_deceives_and_what_is_broken) {
  static const struct {
    const char *from, *shown;
    size_t taken;
  } cases[] = {{"a", "a", 1},
               {"😀", "😀", 4},
               {"\xE2\x80\xAE", "{U+202E}", 3},
               {"\x1B[31m", "{U+001B}", 1},
               {"\xFF", "{0xFF}", 1},
               {"\xE2\x82", "{0xE2}", 1},
               {"\xF3\xA0\x81\x81", "{U+E0041}", 4},
               {"\n", "{U+000A}", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct utf8_shown shown = utf8_show(span_text(cases[i].from), 0);
    cr_expect(span_is(span_of(shown.text, shown.len), cases[i].shown), "case %zu: %.*s", i,
              (int)shown.len, shown.text);
    cr_expect_eq(shown.taken, cases[i].taken);
  }
}

Test(utf8, encodes_what_it_decodes) {
  int checked = 0;
  for (uint32_t code_point = 0; code_point <= 0x10FFFF; code_point++) {
    char bytes[4];
    uint32_t decoded = 0;
    if (code_point >= 0xD800 && code_point <= 0xDFFF) continue;
    size_t len = utf8_encode(code_point, bytes);
    if (utf8_decode(span_of(bytes, len), 0, &decoded) != len || decoded != code_point)
      cr_assert_fail("U+%04X became %zu bytes", (unsigned)code_point, len);
    checked++;
  }
  cr_expect_eq(checked, 0x110000 - 0x800);
}

Test(utf8, repairs_each_byte) {
  static const struct {
    const char *from, *to;
  } cases[] = {{"", ""},
               {"aé€😀", "aé€😀"},
               {"\xFF", "\uFFFD"},
               {"a\xC0\x80z", "a\uFFFD\uFFFDz"},
               {"\xE2\x82", "\uFFFD\uFFFD"},
               {"0123456789\xED\xA0\x80é", "0123456789\uFFFD\uFFFD\uFFFDé"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct buffer out = BUFFER_EMPTY;
    utf8_repair(span_text(cases[i].from), &out);
    char *text = buffer_take(&out);
    cr_expect_str_eq(text, cases[i].to);
    free(text);
  }
}
