/* SPDX-License-Identifier: MIT
 *
 * Tests the JSON reader by examples and against another reader: both must accept and refuse the
 * same texts, and read the same values.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <locale.h>

#include "command/json_value.h"
#include "common/json.h"
#include "kit.h"

/* The compact form of a text, or NULL and the error. */
static const char *compact(struct tidings_span text, int *ret_code, struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  const struct json *json = NULL;
  struct tidings_span result = {NULL, 0};
  *ret_code = json_read(text, "event", &arena, &json, error);
  if (!*ret_code) cr_assert_eq(json_compact(json, &arena, &result), 0);
  const char *copy = *ret_code ? NULL : text_of(result);
  arena_free(&arena);
  return copy;
}

static const struct {
  const char *text, *compact;
} good[] = {
    {"null", "null"},
    {" true ", "true"},
    {"\t[ ]\r\n", "[]"},
    {"{ }", "{}"},
    {"[1, -0, 0, 1.50, -2e3, 1E+2, 0.1, 1e-999]", "[1,-0,0,1.50,-2e3,1E+2,0.1,1e-999]"},
    {"9223372036854775807", "9223372036854775807"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"9.9e307", "9.9e307"},
    {"0.00001e312", "0.00001e312"},
    {"{\"b\" : 1 , \"a\" : [ { } , [ null , false ] ] }", "{\"b\":1,\"a\":[{},[null,false]]}"},
    {"[[],{},[[]],{\"a\":{}}]", "[[],{},[[]],{\"a\":{}}]"},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
    {"\"\\u0041\\u00e9\\u20AC\\uD83D\\uDE00\\u0001\"", "\"Aé€😀\\u0001\""},
    {"{\"\\u0061b\":\"\",\"\":0}", "{\"ab\":\"\",\"\":0}"},
    {"{\"a\":{\"x\":1},\"b\":{\"x\":1}}", "{\"a\":{\"x\":1},\"b\":{\"x\":1}}"},
};

Test(json, reads_and_writes) {
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    int code;
    struct tidings_error error = new_error();
    const char *text = compact(span_text(good[i].text), &code, &error);
    cr_expect_eq(code, 0, "%s: %s", good[i].text, error.text);
    if (!code) cr_expect_str_eq(text, good[i].compact);
  }
}

static const struct {
  const char *text;
  int code;
  const char *sentence;
} bad[] = {
    {"", TIDINGS_E_INVAL, "event: not JSON: it is empty"},
    {"   ", TIDINGS_E_INVAL, "event: not JSON: it ends where a value was expected"},
    {"{not json", TIDINGS_E_INVAL,
     "event: not JSON: \"n\" where a key in double quotes was expected at line 1, column 2"},
    {"{\n  \"é\": nul}", TIDINGS_E_INVAL,
     "event: not JSON: \"n\" where a value was expected at line 2, column 8"},
    {"{\"a\":1", TIDINGS_E_INVAL, "event: not JSON: it ends where \",\" or \"}\" was expected"},
    {"[1 2]", TIDINGS_E_INVAL,
     "event: not JSON: \"2\" where \",\" or \"]\" was expected at line 1, column 4"},
    {"[1,]", TIDINGS_E_INVAL,
     "event: not JSON: \"]\" where a value was expected at line 1, column 4"},
    {"{\"a\":1,}", TIDINGS_E_INVAL,
     "event: not JSON: \"}\" where a key in double quotes was expected at line 1, column 8"},
    {"{\"a\" 1}", TIDINGS_E_INVAL,
     "event: not JSON: \"1\" where \":\" was expected at line 1, column 6"},
    {"[1}", TIDINGS_E_INVAL,
     "event: not JSON: \"}\" where \",\" or \"]\" was expected at line 1, column 3"},
    {"{} {}", TIDINGS_E_INVAL,
     "event: not JSON: \"{\" where the end was expected at line 1, column 4"},
    {"01", TIDINGS_E_INVAL, "event: not JSON: a number that starts with 0 at line 1, column 1"},
    {"-", TIDINGS_E_INVAL, "event: not JSON: it ends where a digit was expected"},
    {"1.", TIDINGS_E_INVAL, "event: not JSON: it ends where a digit was expected"},
    {"[1.e5]", TIDINGS_E_INVAL,
     "event: not JSON: \"e\" where a digit was expected at line 1, column 4"},
    {"1e+", TIDINGS_E_INVAL, "event: not JSON: it ends where a digit was expected"},
    {"+1", TIDINGS_E_INVAL,
     "event: not JSON: \"+\" where a value was expected at line 1, column 1"},
    {"\xEF\xBB\xBF{}", TIDINGS_E_INVAL,
     "event: not JSON: \"{U+FEFF}\" where a value was expected at line 1, column 1"},
    {"\"abc", TIDINGS_E_INVAL, "event: not JSON: it ends where the end of a string was expected"},
    {"\"abc\\", TIDINGS_E_INVAL,
     "event: not JSON: it ends where an escaped character was expected"},
    {"\"a\nb\"", TIDINGS_E_INVAL,
     "event: not JSON: a control character inside a string at line 1, column 3"},
    {"\"a\x1F\"", TIDINGS_E_INVAL,
     "event: not JSON: a control character inside a string at line 1, column 3"},
    {"\"\\uD83D\\uD83D\"", TIDINGS_E_INVAL,
     "event: not JSON: half of a surrogate pair at line 1, column 2"},
    {"99999999999999999999999", TIDINGS_E_SCHEMA,
     "event: \"99999999999999999999999\" is not a number of 64 bits, at line 1, column 1"},
    {"[\"\\n\\n\\x\"]", TIDINGS_E_INVAL, "event: not JSON: an unknown escape at line 1, column 7"},
    {"\"\\u12G4\"", TIDINGS_E_INVAL,
     "event: not JSON: \\u without four hexadecimal digits at line 1, column 2"},
    {"\"a\\u0000\"", TIDINGS_E_INVAL,
     "event: the NUL character \\u0000 is not allowed, at line 1, column 3"},
    {"\"\\uD83D\"", TIDINGS_E_INVAL,
     "event: not JSON: half of a surrogate pair at line 1, column 2"},
    {"\"\\uDE00\\uD83D\"", TIDINGS_E_INVAL,
     "event: not JSON: half of a surrogate pair at line 1, column 2"},
    {"\"\\uD83D\\u0041\"", TIDINGS_E_INVAL,
     "event: not JSON: half of a surrogate pair at line 1, column 2"},
    {"{\"a\":\"\xFF\"}", TIDINGS_E_INVAL, "event: not UTF-8: byte 0xFF at offset 6"},
    {"{\"a\":1,\"b\":2,\"\\u0061\":3}", TIDINGS_E_INVAL,
     "event: not JSON: the key \"a\" appears twice in one object"},
    {"9223372036854775808", TIDINGS_E_SCHEMA,
     "event: \"9223372036854775808\" is not a number of 64 bits, at line 1, column 1"},
    {"[1e308]", TIDINGS_E_SCHEMA,
     "event: \"1e308\" is not a number of 64 bits, at line 1, column 2"},
    {"-0.001e99999999999999999999", TIDINGS_E_SCHEMA,
     "event: \"-0.001e99999999999999999999\" is not a number of 64 bits, at line 1, column 1"},
};

Test(json, refuses_in_precise_words) {
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    int code;
    struct tidings_error error = new_error();
    (void)compact(span_text(bad[i].text), &code, &error);
    cr_expect_eq(code, bad[i].code, "%s gave %d", bad[i].text, code);
    cr_expect_str_eq(error.text, bad[i].sentence);
  }
}

Test(json, refuses_nul_bytes_inside_and_outside_of_strings) {
  int code;
  struct tidings_error error = new_error();
  (void)compact(span_of("[1,\0002]", 6), &code, &error);
  cr_expect_eq(code, TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text,
                   "event: not JSON: \"{U+0000}\" where a value was expected at line 1, column 4");
  (void)compact(span_of("[\"a\0b\"]", 7), &code, &error);
  cr_expect_eq(code, TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text,
                   "event: not JSON: a control character inside a string at line 1, column 4");
}

static const char *nested(int depth, char open, char close) {
  char text[64] = "";
  int len = 0;
  for (int i = 0; i < depth; i++) {
    if (i && open == '{') {
      memcpy(text + len, "\"a\":", 4);
      len += 4;
    }
    text[len++] = open;
    if (len > 40) break;
  }
  for (int i = 0; i < depth; i++) text[len++] = close;
  return text_of(span_of(text, (size_t)len));
}

Test(json, sixteen_levels_are_the_limit) {
  int code;
  struct tidings_error error = new_error();
  cr_expect_str_eq(compact(span_text(nested(16, '[', ']')), &code, &error),
                   "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]");
  cr_expect_eq(code, 0);
  (void)compact(span_text(nested(17, '[', ']')), &code, &error);
  cr_expect_eq(code, TIDINGS_E_TOO_BIG);
  cr_expect_str_eq(error.text, "event: nested deeper than 16 levels at line 1, column 17");
  (void)compact(span_text("[\"[[[[[[[[[[[[[[[[[[[[[[[[[\",\"{{{{{{{{{{{{{{{{{{{{{{{{{{{\"]"), &code,
                &error);
  cr_expect_eq(code, 0, "brackets inside strings are no nesting");
}

Test(json, a_depth_bomb_costs_nothing) {
  enum { SIZE = 3000000 };
  static char bomb[SIZE];
  static const char *const units[] = {"[", "{\"a\":", "[{\"\":"};
  for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
    size_t len = strlen(units[u]);
    for (size_t i = 0; i + len <= SIZE; i += len) memcpy(bomb + i, units[u], len);
    int code;
    struct tidings_error error = new_error();
    (void)compact(span_of(bomb, SIZE / len * len), &code, &error);
    cr_expect_eq(code, TIDINGS_E_TOO_BIG);
  }
}

/* Makes `count` keys, and repeats the key at `twin` at the end. */
static int read_keys(int count, int twin) {
  struct buffer text = BUFFER_EMPTY;
  for (int i = 0; i < count; i++) buffer_format(&text, "%s\"key%d\":0", i ? "," : "{", i);
  if (twin < count) buffer_format(&text, ",\"key%d\":0", twin);
  buffer_byte(&text, '}');
  int code;
  struct tidings_error error = new_error();
  (void)compact(buffer_view(&text), &code, &error);
  buffer_free(&text);
  return code;
}

Test(json, finds_a_duplicate_among_many_keys) {
  for (int count = 1; count < 40; count++) {
    for (int twin = 0; twin <= count; twin++)
      cr_expect_eq(read_keys(count, twin), twin < count ? TIDINGS_E_INVAL : 0, "%d keys, twin %d",
                   count, twin);
  }
}

Test(json, integers) {
  static const struct {
    const char *text;
    bool fits;
    int64_t value;
  } cases[] = {{"0", true, 0},
               {"-0", true, 0},
               {"-9223372036854775808", true, INT64_MIN},
               {"9223372036854775807", true, INT64_MAX},
               {"1.0", false, 0},
               {"1e3", false, 0},
               {"\"1\"", false, 0},
               {"true", false, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct arena arena = ARENA_EMPTY;
    const struct json *json;
    int64_t value = 0;
    cr_assert_eq(json_read(span_text(cases[i].text), "event", &arena, &json, NULL), 0);
    cr_expect_eq(json_to_integer(json, &value), cases[i].fits, "%s", cases[i].text);
    cr_expect_eq(value, cases[i].value, "%s", cases[i].text);
    arena_free(&arena);
  }
}

Test(json, values_whatever_the_locale) {
  static const struct json_rules rules = {.max_depth = 16, .nul = true};
  static const char text[] = "{\"a\":[1.5,-0,9223372036854775807],\"b\\n\":\"\\u0000\",\"c\":null}";
  json_t *value = NULL, *expected = json_pack("{s:[f,i,I], s:s%, s:n}", "a", 1.5, 0,
                                              (json_int_t)INT64_MAX, "b\n", "", (size_t)1, "c");
  (void)setlocale(LC_ALL, "de_DE.UTF-8");
  cr_assert_eq(json_value_read(&rules, span_text(text), "it", &value, NULL), 0);
  cr_expect(json_equal(value, expected));
  json_decref(value);
  json_decref(expected);
}

/* ---- against jansson ---- */

static void random_value(struct random *random, int depth, struct buffer *out);

static void random_string(struct random *random, struct buffer *out) {
  static const char *const pieces[] = {"a",
                                       "b",
                                       "é",
                                       "€",
                                       "😀",
                                       "\\n",
                                       "\\\"",
                                       "\\\\",
                                       "\\u0041",
                                       "\\u20ac",
                                       "\\ud83d\\ude00",
                                       " ",
                                       "/",
                                       "\\/",
                                       "\\u001f",
                                       "\\u0000"};
  buffer_byte(out, '"');
  for (size_t n = random_below(random, 6); n; n--)
    buffer_text(out, pieces[random_below(random, sizeof pieces / sizeof *pieces)]);
  buffer_byte(out, '"');
}

static void random_members(struct random *random, int depth, bool object, struct buffer *out) {
  buffer_byte(out, object ? '{' : '[');
  size_t count = random_below(random, 5);
  for (size_t i = 0; i < count; i++) {
    if (i) buffer_text(out, random_below(random, 3) ? "," : " ,\n");
    if (object) {
      random_string(random, out);
      buffer_text(out, random_below(random, 3) ? ":" : "\t: ");
    }
    random_value(random, depth + 1, out);
  }
  buffer_byte(out, object ? '}' : ']');
}

static void random_value(struct random *random, int depth, struct buffer *out) {
  static const char *const scalars[] = {
      "null", "true",  "false",           "0", "-1", "12", "1.5", "-2.25e2",
      "3E-1", "1e300", "9007199254740993"};
  size_t choice = random_below(random, depth > 4 ? 4 : 8);
  if (choice < 2) {
    buffer_text(out, scalars[random_below(random, sizeof scalars / sizeof *scalars)]);
  } else if (choice < 4) {
    random_string(random, out);
  } else {
    random_members(random, depth, choice >= 6, out);
  }
}

static void mutate(struct random *random, struct buffer *text) {
  static const char bytes[] = "{}[]:,\"\\u0e1-.+ \n\x01\x80\xE2\xFFnt";
  if (!text->len) return;
  size_t at = random_below(random, text->len);
  switch (random_below(random, 3)) {
  case 0: text->bytes[at] = bytes[random_below(random, sizeof bytes - 1)]; break;
  case 1: memmove(text->bytes + at, text->bytes + at + 1, --text->len - at); break;
  default: text->len = at; break;
  }
}

Test(json, takes_and_refuses_what_jansson_does) {
  static const struct json_rules strict = {.max_depth = JSON_MAX_DEPTH},
                                 with_nul = {.max_depth = 64, .nul = true};
  struct random random = {20260223};
  int taken = 0, refused = 0;
  for (int round = 0; round < 60000; round++) {
    struct buffer text = BUFFER_EMPTY;
    struct arena arena = ARENA_EMPTY;
    random_value(&random, 0, &text);
    for (size_t n = random_below(&random, 4); n; n--) mutate(&random, &text);
    const struct json *json = NULL;
    struct tidings_error error = new_error();
    bool nul = round % 2;
    int code =
        json_read_by(nul ? &with_nul : &strict, buffer_view(&text), "event", &arena, &json, &error);
    json_error_t theirs_error;
    json_t *theirs = json_loadb(
        text.len ? text.bytes : "", text.len,
        JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | (nul ? JSON_ALLOW_NUL : 0u), &theirs_error);
    cr_assert_eq(code == 0, theirs != NULL, "%s\nours: %s\ntheirs: %s", text_of(buffer_view(&text)),
                 code ? error.text : "taken", theirs ? "taken" : theirs_error.text);
    if (!code) {
      struct tidings_span ours;
      cr_assert_eq(json_compact(json, &arena, &ours), 0);
      json_t *again =
          json_loadb(ours.ptr, ours.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &theirs_error);
      cr_assert(json_equal(theirs, again), "%s\nbecame %s", text_of(buffer_view(&text)), ours.ptr);
      json_decref(again);
      json_t *value = json_value_of(json);
      cr_assert(json_equal(theirs, value), "%s", text_of(buffer_view(&text)));
      json_decref(value);
      taken++;
    } else {
      cr_assert_neq(error.text[0], '\0');
      refused++;
    }
    json_decref(theirs);
    arena_free(&arena);
    buffer_free(&text);
  }
  cr_expect(taken > 10000 && refused > 10000, "taken %d, refused %d: the generator is lopsided",
            taken, refused);
}
