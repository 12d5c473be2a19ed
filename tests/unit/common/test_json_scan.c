/* SPDX-License-Identifier: MIT
 *
 * Tests the scanner of JSON by examples and against the reader. The scanner accepts what the reader
 * accepts, with the same values at the same paths. Neither accepts a text without the structure of
 * JSON.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_scan.h"
#include "kit.h"

static const struct json_rules lenient = {
    .max_depth = JSON_SCAN_DEPTH, .nul = true, .halves = true, .repeats = true, .large = true};

/* Notes each value as "PATHS:TEXT ". */
static void note(void *context, const struct json_scanned *value) {
  struct buffer *found = context;
  buffer_format(found, "%u:", (unsigned)value->paths);
  buffer_span(found, value->text);
  buffer_byte(found, ' ');
}

static bool scan(const char *const *names, struct tidings_span text, struct buffer *found) {
  struct json_paths paths = {.count = 0};
  for (int i = 0; names[i]; i++) cr_assert_eq(json_paths_add(&paths, names[i]), i);
  const struct json_scan wish = {&paths, note, found};
  return json_scan(&wish, text);
}

static void must_find(const char *const *names, const char *text, const char *expected) {
  struct buffer found = BUFFER_EMPTY;
  bool json = scan(names, span_text(text), &found);
  struct tidings_span seen = buffer_view(&found);
  cr_expect(json && span_is(seen, expected), "%s: %.*s", text, SPAN_FORMAT(seen));
  buffer_free(&found);
}

Test(json_scan, finds_values_at_their_paths_and_every_string) {
  must_find(
      (const char *[]){"a.b", "a.c.*.d", NULL},
      "{\"x\":{\"a\":{\"b\":\"no\"}}, \"a\" : {\"c\":[{\"d\":1},7,{\"d\":\"two\"},[{\"d\":0}]], "
      "\"b\":\"yes\"}}",
      "0:no 2:1 2:two 1:yes ");
  must_find((const char *[]){"a", "a.b", "a", NULL}, "{\"a\":{\"b\":null,\"c\":true}}",
            "5:{ 2:null ");
  must_find((const char *[]){"$set.messages", "$set.messages.*.id", NULL},
            "{\"$set\":{\"messages\":[{\"id\":\"u1\",\"x\":{\"id\":\"no\"}},{\"id\":\"u2\"}]}}",
            "1:[ 2:u1 0:no 2:u2 ");
  must_find((const char *[]){"", "*", NULL}, "[-1.5e3,false]", "1:[ 2:-1.5e3 2:false ");
}

Test(json_scan, leaves_strings_as_they_are_written) {
  must_find((const char *[]){"a", NULL}, "{\"a\":\"x\\\"y\\\\\",\"b\\\"\":\"\\\\\\\"\"}",
            "1:x\\\"y\\\\ 0:\\\\\\\" ");
  const char *quoted = "\"a\\u0062\\n\"", *plain = "\"ab\"";
  cr_expect(json_scanned_is(span_of(quoted + 1, strlen(quoted) - 2), span_text("ab\n")));
  cr_expect(!json_scanned_is(span_of(quoted + 1, strlen(quoted) - 2), span_text("ab")));
  cr_expect(json_scanned_is(span_of(plain + 1, 2), span_text("ab")));
}

Test(json_scan, refuses_what_is_no_whole_value) {
  static const char *const bad[] = {"",
                                    "{",
                                    "[1,2",
                                    "{\"a\":1,}",
                                    "[1,]",
                                    "{\"a\"}",
                                    "{\"a\" 1}",
                                    "[1 2]",
                                    "{1:2}",
                                    "{\"a\":}",
                                    "\"a",
                                    "\"a\\\"",
                                    "[1}",
                                    "{]",
                                    "[,1]",
                                    "{} {}",
                                    "nul",
                                    "[tru]",
                                    "{\"a\":\"b{\"a\":1}",
                                    "[\"a\"\"b\"]",
                                    "-",
                                    "{,}",
                                    "[x]",
                                    "\\"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct buffer found = BUFFER_EMPTY;
    cr_expect(!scan((const char *[]){"a", NULL}, span_text(bad[i]), &found) || !strcmp(bad[i], "-"),
              "%s", bad[i]);
    buffer_free(&found);
  }
}

static char *nested(size_t depth, char open, char close) {
  char *text = malloc(2 * depth + 1);
  cr_assert(text);
  memset(text, open, depth);
  memset(text + depth, close, depth);
  text[2 * depth] = '\0';
  return text;
}

Test(json_scan, bounds_the_depth) {
  for (size_t depth = JSON_SCAN_DEPTH - 1; depth <= JSON_SCAN_DEPTH + 1; depth++) {
    char *text = nested(depth, '[', ']');
    struct buffer found = BUFFER_EMPTY;
    cr_expect_eq(scan((const char *[]){"a.b", NULL}, span_text(text), &found),
                 depth <= JSON_SCAN_DEPTH, "%zu", depth);
    buffer_free(&found);
    free(text);
  }
}

Test(json_scan, takes_no_more_paths_than_it_has_room_for) {
  struct json_paths paths = {.count = 0};
  cr_expect_eq(json_paths_add(&paths, "a.b.c.d.e.f"), 0);
  cr_expect_eq(json_paths_add(&paths, "a.b.c.d.e.f.g"), -1);
  for (int i = 1; i < JSON_SCAN_PATHS; i++) cr_assert_eq(json_paths_add(&paths, "a"), i);
  cr_expect_eq(json_paths_add(&paths, "a"), -1);
  struct buffer found = BUFFER_EMPTY;
  const struct json_scan wish = {&paths, note, &found};
  cr_expect(json_scan(&wish, span_text("{\"a\":1}")));
  cr_expect(span_is(buffer_view(&found), "4294967294:1 "), "%.*s",
            SPAN_FORMAT(buffer_view(&found)));
  buffer_free(&found);
}

/* -- against the reader ------------------------------------------------------------------------ */

/* The strings of a tree that are no keys, in their order, as the scanner notes them; for the member
 * "a" of the whole value, with its path. */
static void note_tree(const struct json *json, const struct json *root, struct tidings_span text,
                      struct buffer *found) {
  bool is_a = json->parent == root && root->kind == JSON_IS_OBJECT && span_is(json->key, "a");
  bool open = json->kind == JSON_IS_ARRAY || json->kind == JSON_IS_OBJECT,
       string = json->kind == JSON_IS_STRING;
  if (is_a || string) {
    size_t from = json->start + string, to = open ? from + 1 : json->end - string;
    buffer_format(found, "%d:", is_a);
    buffer_append(found, text.ptr + from, to - from);
    buffer_byte(found, ' ');
  }
  for (const struct json *one = json->members; one; one = one->next)
    note_tree(one, root, text, found);
}

static void compare(struct tidings_span text) {
  struct tidings_error error = {.size = sizeof error};
  struct arena arena = ARENA_EMPTY;
  const struct json *json = NULL;
  struct buffer found = BUFFER_EMPTY, expected = BUFFER_EMPTY;
  bool taken = scan((const char *[]){"a", NULL}, text, &found);
  bool read = !json_read_by(&lenient, text, "text", &arena, &json, &error);
  cr_assert(taken || !read, "%.*s: %s", SPAN_FORMAT(text), error.text);
  if (read) {
    note_tree(json, json, text, &expected);
    cr_assert(span_equal(buffer_view(&found), buffer_view(&expected)), "%.*s: %.*s, and %.*s",
              SPAN_FORMAT(text), SPAN_FORMAT(buffer_view(&found)),
              SPAN_FORMAT(buffer_view(&expected)));
  } else if (taken) {
    /* Only what is inside of strings and numbers may be wrong. */
    cr_assert(strstr(error.text, "number") || strstr(error.text, "digit") ||
                  strstr(error.text, "escape") || strstr(error.text, "\\u") ||
                  strstr(error.text, "NUL") || strstr(error.text, "\",\" or") ||
                  strstr(error.text, "the end was") || strstr(error.text, "where the end"),
              "%.*s: %s", SPAN_FORMAT(text), error.text);
  }
  arena_free(&arena);
  buffer_free(&found);
  buffer_free(&expected);
}

Test(json_scan, agrees_with_the_reader) {
  static const char *const seeds[] = {
      "{\"a\":[1,{\"b\":\"c\\\"d\"},null],\"e\":{\"a\":\"\\\\\"}}",
      "[{\"a\":true},\"x\",-1.5e2,[],{}]",
      "{\"a\":\"first\",\"b\":[[\"y\"]],\"a\":{\"a\":\"z\"}}",
      " { \"a\" : 7 , \"s\" : \"\" } ",
  };
  struct random random = {7};
  static const char bytes[] = "{}[]\",:\\ a1-.tn";
  for (int round = 0; round < 200000; round++) {
    char text[128];
    const char *seed = seeds[random_below(&random, sizeof seeds / sizeof *seeds)];
    size_t len = strlen(seed);
    memcpy(text, seed, len);
    for (size_t changes = random_below(&random, 4); changes; changes--) {
      size_t at = random_below(&random, len);
      if (random_below(&random, 3)) {
        text[at] = bytes[random_below(&random, sizeof bytes - 1)];
      } else {
        len -= random_below(&random, 2);
        memmove(text + at, text + at + 1, len > at ? len - at : 0);
      }
    }
    compare(span_of(text, len));
  }
}
