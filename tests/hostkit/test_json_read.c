/* SPDX-License-Identifier: MIT
 *
 * test_json_read.c: the JSON reader, by examples and against jansson's own on texts with random
 * faults.
 */
#include <criterion/criterion.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_read.h"

static struct tidings_span of(const char *text) {
  return (struct tidings_span){.ptr = text, .len = strlen(text)};
}

static void assert_reads(const char *text, const char *expected) {
  json_t *value = NULL;
  struct tidings_error error = {.size = sizeof error};
  cr_expect_eq(hk_json_read(of(text), "it", &value, &error), TIDINGS_OK, "%s: %s", text,
               error.text);
  char *got = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
  cr_expect_str_eq(got ? got : "nothing", expected);
  free(got);
  json_decref(value);
}

static void assert_refuses(struct tidings_span text, const char *expected) {
  json_t *value = NULL;
  struct tidings_error error = {.size = sizeof error};
  cr_expect_eq(hk_json_read(text, "it", &value, &error), TIDINGS_E_INVAL, "%.*s", (int)text.len,
               text.ptr);
  cr_expect_str_eq(error.text, expected);
  cr_expect_null(value);
}

Test(json_read, what_is_json) {
  assert_reads(" {\"a\" : [ 1 , -2.5e3 , true,false,null ] ,\"b\":{}}\n",
               "{\"a\":[1,-2500.0,true,false,null],\"b\":{}}");
  assert_reads("\"\"", "\"\"");
  assert_reads("[]", "[]");
  assert_reads("-0", "0");
  assert_reads("9223372036854775807", "9223372036854775807");
  assert_reads("0.30000000000000004", "0.30000000000000004");
  assert_reads("1E+2", "100.0");
  assert_reads("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\"");
  assert_reads("[\"\\\\\",\"b\"]", "[\"\\\\\",\"b\"]");
  assert_reads("\"\\u0041\\u00e4\\u20AC\\ud83d\\ude00\\u0000\"",
               "\"A\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\\u0000\"");
}

Test(json_read, whatever_the_locale) {
  (void)setlocale(LC_ALL, "de_DE.UTF-8");
  assert_reads("[1.5]", "[1.5]");
}

Test(json_read, what_is_not) {
  assert_refuses(of(""), "it is not JSON: expected a value at byte 0");
  assert_refuses(of("  "), "it is not JSON: expected a value at byte 2");
  assert_refuses(of("[1,]"), "it is not JSON: expected a value at byte 3");
  assert_refuses(of("[1 2]"), "it is not JSON: expected ',' or ']' at byte 3");
  assert_refuses(of("{\"a\":1,}"),
                 "it is not JSON: expected a string, the key of a member at byte 7");
  assert_refuses(of("{\"a\" 1}"), "it is not JSON: expected ':' at byte 5");
  assert_refuses(of("{\"a\":1"), "it is not JSON: expected ',' or '}' at byte 6");
  assert_refuses(of("{\"a\":1,\"a\":2}"),
                 "it is not JSON: expected a key that was not there before at byte 7");
  assert_refuses(of("{\"a\\u0000\":1}"),
                 "it is not JSON: expected a key without NUL characters at byte 1");
  assert_refuses(of("1 1"), "it is not JSON: expected the end at byte 2");
  assert_refuses((struct tidings_span){.ptr = "1\0", .len = 2},
                 "it is not JSON: expected the end at byte 1");
  assert_refuses(of("01"), "it is not JSON: expected a value at byte 0");
  assert_refuses(of("1."),
                 "it is not JSON: expected a digit behind the point of a number at byte 0");
  assert_refuses(of("1e"),
                 "it is not JSON: expected a digit in the exponent of a number at byte 0");
  assert_refuses(of("9223372036854775808"), "it is not JSON: expected a smaller number at byte 0");
  assert_refuses(of("-1e999"), "it is not JSON: expected a smaller number at byte 0");
  assert_refuses(of("tru"), "it is not JSON: expected a value at byte 0");
  assert_refuses(of("\"a"), "it is not JSON: expected the end of a string at byte 2");
  assert_refuses(of("\"a\\\""), "it is not JSON: expected the end of a string at byte 4");
  assert_refuses(of("\"\\x\""), "it is not JSON: expected an escape at byte 2");
  assert_refuses(of("\"\\ud800\""), "it is not JSON: expected an escape at byte 2");
  assert_refuses(of("\"\\udc00\""), "it is not JSON: expected an escape at byte 2");
  assert_refuses(of("\"\\u12"), "it is not JSON: expected an escape at byte 2");
  assert_refuses(of("\"\n\""),
                 "it is not JSON: expected UTF-8 text without control characters at byte 1");
  assert_refuses(of("\"\xC0\x80\""),
                 "it is not JSON: expected UTF-8 text without control characters at byte 1");
}

Test(json_read, as_deep_as_allowed) {
  char text[2 * HK_JSON_MAX_DEPTH + 3];
  json_t *value = NULL;
  memset(text, '[', HK_JSON_MAX_DEPTH);
  memset(text + HK_JSON_MAX_DEPTH, ']', HK_JSON_MAX_DEPTH);
  struct tidings_span span = {.ptr = text, .len = (size_t)2 * HK_JSON_MAX_DEPTH};
  cr_expect_eq(hk_json_read(span, "it", &value, NULL), TIDINGS_OK);
  json_decref(value);
  memset(text, '[', HK_JSON_MAX_DEPTH + 1);
  memset(text + HK_JSON_MAX_DEPTH + 1, ']', HK_JSON_MAX_DEPTH + 1);
  span.len += 2;
  cr_expect_eq(hk_json_read(span, "it", &value, NULL), TIDINGS_E_TOO_BIG);
}

static const char seed_text[] =
    "{\"type\":\"notification\",\"session\":\"s\\u00e41\",\"data\":{\"kind\":\"tool.failed\",\"n\":"
    "[0,-1,2.5e-3,true,"
    "false,null,{},[[]]],\"message\":\"a\\\"b\\\\c \xE2\x82\xAC \\ud83d\\ude00 \\n\"}}";

/* The same verdict and the same value, for texts with up to three bytes changed, removed or
 * added. */
Test(json_read, agrees_with_jansson) {
  static const char bytes[] = "{}[]\",:\\/u0d8c19.eE+-tfn \t\xE2\x82\xC3\x01";
  uint64_t random = 88172645463325252u;
  int accepted = 0;
  for (int round = 0; round < 30000; round++) {
    char text[sizeof seed_text + 8];
    size_t len = sizeof seed_text - 1;
    memcpy(text, seed_text, len);
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    uint64_t dice = random;
    for (uint64_t faults = dice % 4; faults > 0; faults--) {
      dice = dice * 6364136223846793005u + 1442695040888963407u;
      size_t at = (size_t)(dice >> 33) % len;
      char byte = bytes[(dice >> 20) % (sizeof bytes - 1)];
      if (dice >> 62 == 0) {
        memmove(text + at, text + at + 1, len-- - at - 1);
      } else if (dice >> 62 == 1) {
        memmove(text + at + 1, text + at, len++ - at);
        text[at] = byte;
      } else {
        text[at] = byte;
      }
    }
    json_t *ours = NULL;
    json_t *theirs =
        json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
    int32_t code = hk_json_read((struct tidings_span){.ptr = text, .len = len}, "it", &ours, NULL);
    cr_expect_eq(code == TIDINGS_OK, theirs != NULL, "round %d: %.*s", round, (int)len, text);
    cr_expect(!ours || json_equal(ours, theirs), "round %d: %.*s", round, (int)len, text);
    accepted += ours != NULL;
    json_decref(ours);
    json_decref(theirs);
  }
  cr_expect(accepted > 5000 && accepted < 25000, "%d were JSON", accepted);
}
