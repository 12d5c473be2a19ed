/* SPDX-License-Identifier: MIT
 *
 * test_toml.c: TOML as JSON. Most rows test what command/toml.c adds to its parser, or a difference
 * between this parser and the former one.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/toml.h"

struct toml_case {
  const char *text;
  const char *json; /* NULL: it is refused */
  int32_t code;
  const char *says; /* a part of the error */
};

static const struct toml_case toml_cases[] = {
    /* Accepted by the parser before, too. */
    {"", "{}", 0, NULL},
    {"\xEF\xBB\xBF"
     "a = 1",
     "{\"a\":1}", 0, NULL},
    {"b = 1\r\na = 2\r\n", "{\"a\":2,\"b\":1}", 0, NULL},
    {"a = \"\"\"\r\nx\r\ny\"\"\"", "{\"a\":\"x\\ny\"}", 0, NULL},
    {"a = '''\nx\\y'''", "{\"a\":\"x\\\\y\"}", 0, NULL},
    {"a = \"\"\"x \\\n   y\"\"\"", "{\"a\":\"x y\"}", 0, NULL},
    {"\xC3\xA9 = '\xC3\xA9'", "{\"\xC3\xA9\":\"\xC3\xA9\"}", 0, NULL},
    {"\"\" = 1\n\"a.b\" = 2", "{\"\":1,\"a.b\":2}", 0, NULL},
    {"c.b = 1\nc.a = 2\n[a]\nz = true\n[[b]]\n[[b]]\nx = [1, 'y']",
     "{\"a\":{\"z\":true},\"b\":[{},{\"x\":[1,\"y\"]}],\"c\":{\"a\":2,\"b\":1}}", 0, NULL},
    {"[a.b.c]\n[a]\nx = 0x1F", "{\"a\":{\"b\":{\"c\":{}},\"x\":31}}", 0, NULL},
    {"a = [-9223372036854775808, 9223372036854775807, +1_0, 0b11, 0o17]",
     "{\"a\":[-9223372036854775808,9223372036854775807,10,3,15]}", 0, NULL},
    {"a = [1.0, -0.0, 1e3, 0.1, 1_0.5, 2.5e-7, 1e300]",
     "{\"a\":[1.0,-0.0,1e+03,0.1,10.5,2.5e-07,1e+300]}", 0, NULL},
    {"a = 123456789.12345678", "{\"a\":123456789.12345678}", 0, NULL},
    {"a = \"....................................................................\" # .......",
     "{\"a\":\"....................................................................\"}", 0, NULL},
    {"a.b.c.d.e.f.g.h.i.j = 1",
     "{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":{\"g\":{\"h\":{\"i\":{\"j\":1}}}}}}}}}}", 0, NULL},
    /* TOML 1.1 adds these. */
    {"a = {\n  b = 1, # c\n  c = 2,\n}", "{\"a\":{\"b\":1,\"c\":2}}", 0, NULL},
    {"a = \"\\x41\\e\"", "{\"a\":\"A\\u001b\"}", 0, NULL},
    /* JSON does not have these values: the key, and where it stands. */
    {"\n[t]\nd = 2026-11-28", NULL, TIDINGS_E_SCHEMA,
     "t.d: JSON has no dates and times (line 3, column 5)"},
    {"d = 07:32", NULL, TIDINGS_E_SCHEMA, "d: JSON has no dates and times"},
    {"a = [1, {b = 2026-11-28T07:32:00Z}]", NULL, TIDINGS_E_SCHEMA, "a[1].b: JSON has no dates"},
    {"a = nan", NULL, TIDINGS_E_SCHEMA, "a: nan is no number in JSON (line 1, column 5)"},
    {"a = -inf", NULL, TIDINGS_E_SCHEMA, "a: inf is no number in JSON"},
    {"a = \"x\\u0000\"", NULL, TIDINGS_E_SCHEMA, "a: it has a NUL character (line 1, column 5)"},
    {"\"a\\x00b\" = 1", NULL, TIDINGS_E_SCHEMA, "the key has a NUL character"},
    /* Bytes and escapes that are no text. */
    {"a = '\xFF'", NULL, TIDINGS_E_INVAL, "not TOML: line 1: not UTF-8"},
    {"a = 1\nb = '\xC0\x80'", NULL, TIDINGS_E_INVAL, "not TOML: line 2: not UTF-8"},
    {"a = '\xED\xA0\x80'", NULL, TIDINGS_E_INVAL, "not UTF-8"},
    {"# \xF4\x90\x80\x80", NULL, TIDINGS_E_INVAL, "not UTF-8"},
    {"a = \"\\U00110000\"", NULL, TIDINGS_E_INVAL, "a: an escape that is no character (line 1"},
    {"\"\\U001FFFFF\" = 1", NULL, TIDINGS_E_INVAL, "an escape that is no character"},
    {"a = \"\\uD800\"", NULL, TIDINGS_E_INVAL, "not TOML: line 1: "},
    {"a = \"\\UFFFFFFFF\"", NULL, TIDINGS_E_INVAL, "not TOML: line 1: "},
    {"a = \"\x01\"", NULL, TIDINGS_E_INVAL, "not TOML: line 1: "},
    {"# \x7F", NULL, TIDINGS_E_INVAL, "not TOML: line 1: "},
    {"a = 'b\rc'", NULL, TIDINGS_E_INVAL, "not TOML: line 1: "},
    /* Lines that TOML forbids. */
    {"a = 1\na = 2", NULL, TIDINGS_E_INVAL, "not TOML: line 2: duplicate key"},
    {"[a]\n[b]\n[a]", NULL, TIDINGS_E_INVAL, "not TOML: line 3: table defined more than once"},
    {"[a]\nb = 1\n[[a]]", NULL, TIDINGS_E_INVAL, "not TOML: line 3: "},
    {"a = 1\n[a.b]", NULL, TIDINGS_E_INVAL, "not TOML: line 2: "},
    {"a = 1 b = 2", NULL, TIDINGS_E_INVAL, "line 1: expected the end of the line"},
    {"[a", NULL, TIDINGS_E_INVAL, "line 1: expected ']' after the table's name"},
    {"[*a]", NULL, TIDINGS_E_INVAL, "not TOML: line 1: "},
    {"a", NULL, TIDINGS_E_INVAL, "line 1: expected '=' after the key"},
    {"\n= 1", NULL, TIDINGS_E_INVAL, "line 2: expected a key"},
    {"a = b", NULL, TIDINGS_E_INVAL, "line 1: not a value; a string needs quotes"},
    {"a =\xC3\x9F", NULL, TIDINGS_E_INVAL, "line 1: not a value"},
    {"a = 9223372036854775808", NULL, TIDINGS_E_INVAL, "line 1: an integer that does not fit"},
    {"a = 0x8000000000000000", NULL, TIDINGS_E_INVAL, "line 1: an integer that does not fit"},
    {"a = 1e400", NULL, TIDINGS_E_INVAL, "line 1: a number that is none, or too large"},
    {"a = 01", NULL, TIDINGS_E_INVAL, "line 1: "},
    /* Inline tables and arrays cannot be extended. */
    {"a = {}\na.b = 1", NULL, TIDINGS_E_INVAL, "not TOML: line 2: "},
    {"a = {b = 1}\n[a.c.d]", NULL, TIDINGS_E_INVAL, "a.c: an inline table or array cannot be"},
    {"a = {}\na.x.y = 1", NULL, TIDINGS_E_INVAL, "a.x: an inline table or array cannot be"},
    {"a = [{}]\n[a.c.d]", NULL, TIDINGS_E_INVAL, "a[0].c: an inline table or array cannot be"},
    {"a = [1]\n[[a]]", NULL, TIDINGS_E_INVAL, "not TOML: line 2: "},
    /* Deep. */
    {"a.b.c.d.e.f.g.h.i.j.k = 1", NULL, TIDINGS_E_TOO_BIG, "line 1: a key of more than 10 parts"},
    {"a = [[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]", NULL, TIDINGS_E_TOO_BIG, "nested more than 16 deep"},
    {"a = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", NULL, TIDINGS_E_TOO_BIG,
     "line 1: nested too deep"},
    /* The error shows a key's control characters as their numbers. */
    {"\"\\u001b[2J\" = nan", NULL, TIDINGS_E_SCHEMA, "{U+001B}[2J: nan is no number"},
};

static void check_case(const struct toml_case *expected) {
  struct tidings_error error = {.size = sizeof error};
  char *json = NULL;
  int32_t code = toml_to_json(expected->text, strlen(expected->text), &json, &error);
  cr_expect(code == expected->code, "%s: code %d: %s", expected->text, code, error.text);
  if (code) {
    cr_expect(!json && expected->says && strstr(error.text, expected->says), "%s: %s",
              expected->text, error.text);
    cr_expect(error.code == code, "%s", expected->text);
  } else {
    cr_expect(expected->json && strcmp(json, expected->json) == 0, "%s: %s", expected->text, json);
  }
  free(json);
}

Test(toml, is_json_or_is_refused_with_its_place) {
  for (size_t i = 0; i < sizeof toml_cases / sizeof *toml_cases; i++) check_case(&toml_cases[i]);
}

Test(toml, dates_times_and_no_numbers_are_strings_where_any_value_is_taken) {
  static const char text[] = "a = [2026-11-28, 07:32:00.5, 2026-11-28T07:32:00]\n"
                             "b = 2026-11-28 07:32:00+01:30\nc = [nan, inf, -inf, 1.5]\n";
  struct tidings_error error = {.size = sizeof error};
  char *json = NULL;
  cr_assert(!toml_to_json_any(text, sizeof text - 1, &json, &error), "%s", error.text);
  cr_expect_str_eq(json, "{\"a\":[\"2026-11-28\",\"T07:32:00.500000\","
                         "\"2026-11-28T07:32:00.000000\"],"
                         "\"b\":\"2026-11-28T07:32:00.000000+90\","
                         "\"c\":[\"nan\",\"inf\",\"-inf\",1.5]}");
  free(json);
  cr_expect(toml_to_json_any("a = b", 5, &json, &error) == TIDINGS_E_INVAL);
}

Test(toml, a_nul_byte_is_refused_where_it_stands) {
  static const char text[] = "a = 1\nb\0 = 2";
  struct tidings_error error = {.size = sizeof error};
  char *json = NULL;
  cr_assert(toml_to_json(text, sizeof text - 1, &json, &error) == TIDINGS_E_INVAL);
  cr_assert_str_eq(error.text, "not TOML: line 2: a NUL byte");
}

/* Parses `count` times `piece`. The parser's time grows with the square of the number of keys, so
 * these are limited before it reads them. */
static int32_t of_many(const char *before, const char *piece, size_t count, char *ret_says,
                       size_t room) {
  size_t len = strlen(before), each = strlen(piece);
  char *text = malloc(len + count * each + 1), *json = NULL;
  struct tidings_error error = {.size = sizeof error};
  cr_assert(text);
  memcpy(text, before, len + 1);
  for (size_t i = 0; i < count; i++) memcpy(text + len + i * each, piece, each + 1);
  int32_t code = toml_to_json(text, len + count * each, &json, &error);
  snprintf(ret_says, room, "%s", code ? error.text : "");
  free(text);
  free(json);
  return code;
}

Test(toml, what_there_may_be_many_of_is_bounded) {
  char says[256];
  cr_expect(!of_many("", "[[a]]\n", 4096, says, sizeof says), "8192 of [: %s", says);
  cr_expect(of_many("", "[[a]]\n", 4097, says, sizeof says) == TIDINGS_E_TOO_BIG);
  cr_expect(strstr(says, "more than 8192 keys and tables"), "%s", says);
  cr_expect(of_many("", "a=1\n", 8193, says, sizeof says) == TIDINGS_E_TOO_BIG);
  cr_expect(strstr(says, "more than 8192 keys and tables"), "%s", says);
  cr_expect(of_many("a=[", "1,", 16385, says, sizeof says) == TIDINGS_E_TOO_BIG);
  cr_expect(strstr(says, "line 1: an array of more than 16384 values"), "%s", says);
  cr_expect(of_many("a", ".a", 100000, says, sizeof says) == TIDINGS_E_TOO_BIG);
  cr_expect(strstr(says, "line 1: a key of more than 10 parts"), "%s", says);
  cr_expect(!of_many("#", "x", 1 << 20, says, sizeof says), "%s", says);
}
