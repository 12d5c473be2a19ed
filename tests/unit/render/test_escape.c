/* SPDX-License-Identifier: MIT
 *
 * The escaping of text from outside, case by case.
 */
#include <criterion/criterion.h>

#include "kit.h"
#include "render/escape.h"

static const char *escaped(const char *text, bool inlined) {
  struct buffer out = BUFFER_EMPTY;
  if (inlined) escape_markdown_inline(span_text(text), &out);
  else escape_markdown_item(span_text(text), &out);
  const char *copy = text_of(buffer_view(&out));
  buffer_free(&out);
  return copy;
}

struct escape_case {
  const char *text, *escaped;
};

static void expect_items(const struct escape_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++)
    cr_expect_str_eq(escaped(cases[i].text, false), cases[i].escaped);
}

#define EXPECT_ITEMS(cases) expect_items((cases), sizeof(cases) / sizeof *(cases))

Test(escape, ordinary_text_is_left_alone) {
  static const char *const texts[] = {
      "Tool `cargo_check` (handle `h_3`) has stopped with result available.",
      "`src/lib.rs` was modified externally.",
      "Token budget: 90% used (180000 of 200000).",
      "a - b * c # d > e | f = g ~ h _ i",
      "*emphasis* at the start, -Wall too, 3.14 and +1",
      "(see above)",
      "(4 of 5)",
      "[link](https://example.org) and [note]",
      "1.5 seconds, 2nd try",
      "vector<string>, List<System.Out>, Vec<SystemTime> and Box<user::Id>",
      "naïve — 日本語 😀 ❤️",
      "a\\b",
      "--flag was given",
      "-- so it goes",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    cr_expect_str_eq(escaped(texts[i], false), texts[i]);
}

Test(escape, structure_at_the_start_gets_a_backslash) {
  static const struct escape_case cases[] = {
      {"---", "\\---"},
      {"--- a/file.c", "\\--- a/file.c"},
      {"- - -", "\\- - -"},
      {"***", "\\***"},
      {"* * *", "\\* * *"},
      {"___", "\\___"},
      {"_ _ _", "\\_ _ _"},
      {"===", "\\==="},
      {"=", "\\="},
      {"--", "\\--"},
      {"```sh", "\\```sh"},
      {"~~~", "\\~~~"},
      {"# title", "\\# title"},
      {"###### x", "\\###### x"},
      {"#!/bin/sh", "\\#!/bin/sh"},
      {"> quote", "\\> quote"},
      {">quote", "\\>quote"},
      {"- item", "\\- item"},
      {"-", "\\-"},
      {"* item", "\\* item"},
      {"+ item", "\\+ item"},
      {"+\titem", "\\+ item"},
      {"1. one", "1\\. one"},
      {"23) x", "23\\) x"},
      {"7.", "7\\."},
      {"**Critical:**", "\\**Critical:**"},
      {"__Info:__", "\\__Info:__"},
      {"<b>", "\\<b>"},
      {"<", "&lt;"},
      {"| a | b |", "\\| a | b |"},
      {"(4 more notifications pending)", "\\(4 more notifications pending)"},
      {"(1 MORE Notification pending)", "\\(1 MORE Notification pending)"},
      {"[x]: http://e.org", "\\[x]: http://e.org"},
  };
  EXPECT_ITEMS(cases);
}

Test(escape, blanks_in_front_hide_nothing) {
  static const struct escape_case cases[] = {
      {"   ---", "\\---"},
      {"\t# x", "\\# x"},
      {"<\tsystem>", "&lt; system>"},
      {"x<\tsystem", "x&lt; system"},
      {"\n\n> x", "\\> x"},
      {"\xC2\xA0---", "\\---"},
      {"\xE3\x80\x80# x", "\\# x"},
      {"\xE2\x80\x83- x", "\\- x"},
      {"x\n    - y", "x\n      - y"},
      {"x\n    - # y", "x\n      \\- # y"},
      {"x\n1. | > [error] y", "x\n  \\1. | > [error] y"},
      {"x\n> - - -", "x\n  \\> - - -"},
      {"x\n- (4 more notifications pending)", "x\n  \\- (4 more notifications pending)"},
      {"x\n| a | b |\n+ c\n2. d", "x\n  | a | b |\n  + c\n  2. d"},
      {"\xE2\x80\x8B---", "{U+200B}---"},
  };
  EXPECT_ITEMS(cases);
}

Test(escape, a_line_break_becomes_an_indented_continuation) {
  static const struct escape_case cases[] = {
      {"a\nb", "a\n  b"},
      {"a\r\nb", "a\n  b"},
      {"a\rb", "a\n  b"},
      {"a\n\n\nb", "a\n\n\n  b"},
      {"a\n \t \nb\n", "a\n\n  b"},
      {"\n\na", "a"},
      {"a  \nb\t", "a\n  b"},
      {"a\n---\nb", "a\n  \\---\n  b"},
      {"a\r\n\r\n# b", "a\n\n  \\# b"},
      {"a\n\r\r\n\nb", "a\n\n\n\n  b"},
      {"def f():\n    if x:\n\treturn 1\n", "def f():\n      if x:\n      return 1"},
  };
  EXPECT_ITEMS(cases);
}

Test(escape, other_line_breaks_are_shown) {
  static const struct escape_case cases[] = {
      {"a\xE2\x80\xA8---", "a{U+2028}---"},
      {"a\xE2\x80\xA9# b", "a{U+2029}# b"},
      {"a\vb", "a{U+000B}b"},
      {"a\fb", "a{U+000C}b"},
      {"a\xC2\x85"
       "b",
       "a{U+0085}b"},
  };
  EXPECT_ITEMS(cases);
}

Test(escape, what_deceives_is_shown) {
  static const struct escape_case cases[] = {
      {"\x1B[2Jx", "{U+001B}[2Jx"},
      {"a\bb", "a{U+0008}b"},
      {"\xE2\x80\xAEx", "{U+202E}x"},
      {"\xE2\x81\xA6x", "{U+2066}x"},
      {"a\xE2\x80\x8B"
       "b",
       "a{U+200B}b"},
      {"\xEF\xBB\xBFx", "{U+FEFF}x"},
      {"\xF3\xA0\x81\x81", "{U+E0041}"},
      {"a\x7F", "a{U+007F}"},
      {"\xFFx", "{0xFF}x"},
      {"\xE2\x82", "{0xE2}{0x82}"},
      {"\xED\xA0\x80", "{0xED}{0xA0}{0x80}"},
      {"a\tb", "a b"},
  };
  EXPECT_ITEMS(cases);
}

/* U+FE0E and U+FE0F only choose the look of the character in front; of ASCII only keycaps have
 * one. */
Test(escape, a_selector_hides_in_no_ascii) {
  static const struct escape_case cases[] = {
      {"-\xEF\xB8\x8F--", "-{U+FE0F}--"},
      {"\xEF\xB8\x8F---", "{U+FE0F}---"},
      {"a\n\xEF\xB8\x8E# b", "a\n  {U+FE0E}# b"},
      {"x <\xEF\xB8\x8Fsystem-reminder>", "x <{U+FE0F}system-reminder>"},
      {"**\xEF\xB8\x8F"
       "Critical:**",
       "\\**{U+FE0F}Critical:**"},
      {"1\xEF\xB8\x8F. x", "1{U+FE0F}. x"},
      {"*\xEF\xB8\x8F*Critical:**", "*{U+FE0F}*Critical:**"},
      {"1\xEF\xB8\x8F\xE2\x83\xA3 and \xE2\x9D\xA4\xEF\xB8\x8F",
       "1\xEF\xB8\x8F\xE2\x83\xA3 and \xE2\x9D\xA4\xEF\xB8\x8F"},
      {"\xCE\xEF\xB8\x8F", "{0xCE}{U+FE0F}"},
      {"\xE2\x80\x8B\xEF\xB8\x8F", "{U+200B}{U+FE0F}"},
      {"a\xEF\xB8\x8F\xE2\x83\xA3", "a{U+FE0F}\xE2\x83\xA3"},
  };
  EXPECT_ITEMS(cases);
}

Test(escape, tags_that_name_structure_are_neutralized_anywhere) {
  static const struct escape_case cases[] = {
      {"x <system-reminder>", "x &lt;system-reminder>"},
      {"x </system-reminder>", "x &lt;/system-reminder>"},
      {"x < / System-Reminder >", "x &lt; / System-Reminder >"},
      {"<notification source=\"x\">", "&lt;notification source=\"x\">"},
      {"x</notifications>", "x&lt;/notifications>"},
      {"x <SYSTEM>", "x &lt;SYSTEM>"},
      {"x <_system_notification>", "x &lt;_system_notification>"},
      {"x <tool_result>", "x &lt;tool_result>"},
      {"x <function_results>", "x &lt;function_results>"},
      {"x <user>", "x &lt;user>"},
      {"x <username>", "x <username>"},
      {"x </assistant >", "x &lt;/assistant >"},
      {"x <|im_start|>", "x &lt;|im_start|>"},
      {"x <!-- hidden", "x &lt;!-- hidden"},
      {"x <![CDATA[y]]>", "x &lt;![CDATA[y]]>"},
      {"x <invoke name=\"y\">", "x &lt;invoke name=\"y\">"},
      {"x <instructions>", "x &lt;instructions>"},
      {"x <antml:x>", "x &lt;antml:x>"},
      {"x <function_calls>", "x &lt;function_calls>"},
      {"x <developer>", "x &lt;developer>"},
      {"x <tool-use>", "x &lt;tool-use>"},
      {"x <Human>", "x &lt;Human>"},
      {"x <\nsystem>", "x &lt;\n  system>"},
      {"a < b and <b>c</b>", "a < b and <b>c</b>"},
      {"<<system>", "\\<&lt;system>"},
  };
  EXPECT_ITEMS(cases);
}

Test(escape, nothing_to_say_is_said) {
  static const struct escape_case cases[] = {
      {"", "(empty)"}, {" \n\t\r\n", "(empty)"}, {"\xC2\xA0", "(empty)"}};
  EXPECT_ITEMS(cases);
}

Test(escape, a_name_is_one_line_without_markup) {
  static const struct escape_case cases[] = {
      {"JP", "JP"},
      {"my_agent 2.0 (beta)", "my_agent 2.0 (beta)"},
      {"_x_ and __y", "\\_x\\_ and \\_\\_y"},
      {"**JP**", "\\*\\*JP\\*\\*"},
      {"a`b`", "a\\`b\\`"},
      {"[x](y) ~z~ |", "\\[x\\](y) \\~z\\~ \\|"},
      {"<system>", "&lt;system>"},
      {"a\nb\r\tc", "a{U+000A}b{U+000D}{U+0009}c"},
      {"\xE2\x80\xAE\xFF", "{U+202E}{0xFF}"},
      {"\\", "\\\\"},
      {"é😀", "é😀"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    cr_expect_str_eq(escaped(cases[i].text, true), cases[i].escaped);
}

Test(escape, a_name_in_tags_and_quotes_ends_neither) {
  static const struct {
    const char *text, *attribute, *inlined;
  } cases[] = {
      {"tool", "tool", "tool"},
      {"a'b\"c", "a&apos;b&quot;c", "a'b\"c"},
      {"</a> & <b x=\"1\">", "&lt;/a&gt; &amp; &lt;b x=&quot;1&quot;&gt;",
       "&lt;/a&gt; &amp; &lt;b x=\"1\"&gt;"},
      {"&quot;", "&amp;quot;", "&amp;quot;"},
      {"a\nb\tc", "a{U+000A}b{U+0009}c", "a{U+000A}b{U+0009}c"},
      {"[x] *y*", "[x] *y*", "\\[x\\] \\*y\\*"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct buffer attribute = BUFFER_EMPTY, inlined = BUFFER_EMPTY;
    escape_xml_attribute(span_text(cases[i].text), &attribute);
    escape_xml_inline(span_text(cases[i].text), &inlined);
    cr_expect_str_eq(text_of(buffer_view(&attribute)), cases[i].attribute);
    cr_expect_str_eq(text_of(buffer_view(&inlined)), cases[i].inlined);
    buffer_free(&attribute);
    buffer_free(&inlined);
  }
}
