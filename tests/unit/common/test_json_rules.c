/* SPDX-License-Identifier: MIT
 *
 * test_json_rules.c: tests what the JSON reader accepts by rules other than the plugin's, and the
 * places that it notes for values.
 */
#include <criterion/criterion.h>

#include "common/json.h"
#include "kit.h"

static const struct json_rules strict = {.max_depth = JSON_MAX_DEPTH},
                               with_nul = {.max_depth = 64, .nul = true},
                               with_halves = {.max_depth = 64, .halves = true},
                               with_repeats = {.max_depth = 64, .repeats = true},
                               with_large = {.max_depth = 64, .large = true},
                               edited = {.max_depth = 64, .edited = true};

/* Each text needs its rule: without the rule, the text is refused. */
static const struct {
  const struct json_rules *rules;
  const char *text, *compact;
} allowed[] = {
    {&with_nul, "\"a\\u0000b\"", "\"a\\u0000b\""},
    {&with_halves, "\"\\ud83d, \\uDE00, \\ud83d\\u0041\"", "\"\uFFFD, \uFFFD, \uFFFDA\""},
    {&with_repeats, "{\"a\":1,\"\\u0061\":2}", "{\"a\":1,\"a\":2}"},
    {&with_large, "18446744073709551615", "18446744073709551615"},
    {&with_large, "[-1e400,1e308]", "[-1e400,1e308]"},
    {&edited, "// one\n[1, /* two */ 2]// three", "[1,2]"},
    {&edited, "[1, // last\n]", "[1]"},
    {&edited, "{\"a\": [{},],\n}", "{\"a\":[{}]}"},
    {&edited, "\xEF\xBB\xBF{}", "{}"},
    {&edited, "1e999", "1e999"},
    {&edited, "\"a\xFFz\"", "\"a\xFFz\""},
};

Test(json_rules, rules_allow_more) {
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
    struct arena arena = ARENA_EMPTY;
    const struct json *json = NULL;
    struct tidings_error error = new_error();
    struct tidings_span text = span_text(allowed[i].text), compacted;
    cr_expect_neq(json_read_by(&strict, text, "it", &arena, &json, NULL), 0, "%s", allowed[i].text);
    cr_assert_eq(json_read_by(allowed[i].rules, text, "it", &arena, &json, &error), 0, "%s: %s",
                 allowed[i].text, error.text);
    cr_assert_eq(json_compact(json, &arena, &compacted), 0);
    cr_expect_str_eq(compacted.ptr, allowed[i].compact);
    arena_free(&arena);
  }
}

static const struct {
  const struct json_rules *rules;
  const char *text, *sentence;
} not_allowed[] = {
    {&with_nul, "{\"a\\u0000\":1}",
     "it: the NUL character \\u0000 is not allowed, at line 1, column 4"},
    {&edited, "[1,,]", "it: not JSON: \",\" where a value was expected at line 1, column 4"},
    {&edited, "[,]", "it: not JSON: \",\" where a value was expected at line 1, column 2"},
    {&edited, "[1 /* ]",
     "it: not JSON: \"/\" where \",\" or \"]\" was expected at line 1, column 4"},
    {&edited, "[1] / 2", "it: not JSON: \"/\" where the end was expected at line 1, column 5"},
    {&edited, "{\n\"a\": tru}",
     "it: not JSON: \"t\" where a value was expected at line 2, column 6"},
};

Test(json_rules, rules_allow_no_more_than_that) {
  for (size_t i = 0; i < sizeof not_allowed / sizeof *not_allowed; i++) {
    struct arena arena = ARENA_EMPTY;
    const struct json *json = NULL;
    struct tidings_error error = new_error();
    cr_expect_eq(json_read_by(not_allowed[i].rules, span_text(not_allowed[i].text), "it", &arena,
                              &json, &error),
                 TIDINGS_E_INVAL, "%s", not_allowed[i].text);
    cr_expect_str_eq(error.text, not_allowed[i].sentence);
    arena_free(&arena);
  }
}

Test(json_rules, an_edited_file_may_hold_nothing) {
  static const char *const texts[] = {"", " \n", "// only", "/* only */\n", "\xEF\xBB\xBF"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct arena arena = ARENA_EMPTY;
    const struct json *json = &(struct json){.count = 1};
    cr_expect_eq(json_read_by(&edited, span_text(texts[i]), "it", &arena, &json, NULL), 0);
    cr_expect_null(json, "%s", texts[i]);
    arena_free(&arena);
  }
}

Test(json_rules, depth_is_a_rule) {
  int taken = 0;
  for (int depth = 1; depth < 20; depth++) {
    struct arena arena = ARENA_EMPTY;
    const struct json *json;
    const struct json_rules rules = {.max_depth = (size_t)depth};
    int code = json_read_by(&rules, span_text("[[[[[[[[[[]]]]]]]]]]"), "it", &arena, &json, NULL);
    cr_expect_eq(code, depth < 10 ? TIDINGS_E_TOO_BIG : 0);
    taken += !code;
    arena_free(&arena);
  }
  cr_expect_eq(taken, 10);
}

Test(json_rules, a_value_knows_where_it_stands) {
  static const char text[] = " { \"k\\u0061\" : [ 1.50 , \"x\\n\" ] , \"k\" : { } } ";
  struct arena arena = ARENA_EMPTY;
  const struct json *root;
  struct tidings_span part;
  cr_assert_eq(json_read(span_text(text), "it", &arena, &root, NULL), 0);
  const struct json *list = root->members,
                    *values[] = {root, list, list->members, list->members->next, list->next};
  static const char *const stands[] = {"{ \"k\\u0061\" : [ 1.50 , \"x\\n\" ] , \"k\" : { } }",
                                       "[ 1.50 , \"x\\n\" ]", "1.50", "\"x\\n\"", "{ }"};
  static const char *const compacted[] = {"{\"ka\":[1.50,\"x\\n\"],\"k\":{}}", "[1.50,\"x\\n\"]",
                                          "1.50", "\"x\\n\"", "{}"};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    cr_expect(
        span_is(span_of(text + values[i]->start, values[i]->end - values[i]->start), stands[i]),
        "%s", stands[i]);
    cr_assert_eq(json_compact(values[i], &arena, &part), 0);
    cr_expect_str_eq(part.ptr, compacted[i], "a part can be written by itself");
  }
  cr_expect_eq(list->key_start, 3);
  cr_expect_eq(list->members->key_start, list->members->start);
  cr_expect_eq(list->members->parent, list);
  cr_expect_null(root->parent);
  cr_expect_str_eq(list->key.ptr, "ka", "a key ends with a NUL");
  cr_expect_str_eq(list->members->next->text.ptr, "x\n", "and so does a string");
  arena_free(&arena);
}

Test(json_rules, the_last_member_counts) {
  struct arena arena = ARENA_EMPTY;
  const struct json *root;
  cr_assert_eq(json_read_by(&with_repeats, span_text("{\"a\":1,\"b\":2,\"a\":3}"), "it", &arena,
                            &root, NULL),
               0);
  cr_expect(span_is(json_member(root, "a")->text, "3"));
  cr_expect_null(json_member(root, "c"));
  cr_expect_null(json_member(root->members, "a"));
  cr_expect_null(json_member(NULL, "a"));
  arena_free(&arena);
}
