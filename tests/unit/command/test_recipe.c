/* SPDX-License-Identifier: MIT
 *
 * test_recipe.c: tests what recipes make of documents, and how they report mistakes.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recipes/builtin.h"
#include "recipes/recipe.h"
#include "recipes/template.h"

static struct tidings_error error = {.size = sizeof error};

static const struct json *read(struct arena *arena, const char *text) {
  const struct json *root = NULL;
  static const struct json_rules rules = {.max_depth = JSON_MAX_DEPTH, .nul = true};
  cr_assert_eq(json_read_by(&rules, span_text(text), "it", arena, &root, &error), 0, "%s",
               error.text);
  return root;
}

/* `wanted`: "kind|level|text|key|id|ttl;…", "-" if a rule ignores the document, "" if none fits. */
static void check(const char *recipe_text, const char *document_text, const char *wanted) {
  struct arena arena = ARENA_EMPTY;
  struct recipe *recipe = NULL;
  struct recipe_push *pushes = NULL;
  char got[2048] = "";
  size_t count = 0, len = 0;
  bool fits = false;
  static const struct recipe_header headers[] = {{{"x-event", 7}, {"ping", 4}}};
  cr_assert_eq(recipe_read(span_text(recipe_text), "r.json", &recipe, &error), 0, "%s", error.text);
  const struct recipe_document document = {
      .root = read(&arena, document_text), .headers = headers, .header_count = 1};
  cr_assert_eq(recipe_apply(recipe, &document, &arena, &pushes, &count, &fits), 0);
  for (size_t i = 0; i < count; i++)
    len += (size_t)snprintf(
        got + len, sizeof got - len, "%.*s|%.*s|%.*s|%.*s|%.*s|%lld;", SPAN_FORMAT(pushes[i].kind),
        SPAN_FORMAT(pushes[i].withdraws ? span_text("withdraws") : pushes[i].level),
        SPAN_FORMAT(pushes[i].text), SPAN_FORMAT(pushes[i].key), SPAN_FORMAT(pushes[i].id),
        (long long)pushes[i].ttl_ms);
  cr_expect_not(recipe_names_address(recipe) && count, "no rule here names an address");
  if (fits && !count) snprintf(got, sizeof got, "-");
  cr_expect_str_eq(got, wanted, "%s: got %s, expected %s", document_text, got, wanted);
  recipe_free(recipe);
  arena_free(&arena);
}

static void check_refused(const char *text, const char *piece) {
  struct recipe *recipe = NULL;
  error.text[0] = '\0';
  cr_assert_neq(recipe_read(span_text(text), "r.json", &recipe, &error), 0, "%s is taken", text);
  cr_expect(strstr(error.text, piece), "%s: %s", text, error.text);
}

#define RULE(members) "{\"rules\":[{" members "}]}"

Test(recipe, texts) {
  check(RULE("\"kind\":\"a.b\",\"text\":\"{/x}\""), "{\"x\":\"y\"}", "a.b||y|||0;");
  check(RULE("\"kind\":\"a.b\",\"text\":\"{/x}\""), "{\"x\":\"\\u0000y\\u0000\"}",
        "a.b||\xef\xbf\xbdy\xef\xbf\xbd|||0;");
  check(RULE("\"kind\":\"a.{/k}\",\"text\":\"{{{/x/0}} {/n}\""),
        "{\"k\":\"c\",\"x\":[1.50],\"n\":1e3}", "a.c||{1.50} 1e3|||0;");
  check(RULE("\"kind\":\"a\",\"text\":\"{/x|none} {/y|}\""), "{}", "a||none |||0;");
  check(RULE("\"kind\":\"a\",\"text\":\"{/x}\""), "{}", "");
  check(RULE("\"kind\":\"a\",\"text\":\"{/x}\""), "{\"x\":null}", "");
  check(RULE("\"kind\":\"a\",\"text\":\"{/x}\""), "{\"x\":{\"a\":[true,false]}}",
        "a||{\"a\":[true,false]}|||0;");
  check(RULE("\"kind\":\"a\",\"text\":\"{/a~1b}{/c~0d}\""), "{\"a/b\":1,\"c~d\":2}", "a||12|||0;");
  check(RULE("\"kind\":\"a\",\"text\":\"{header:x-event}\""), "{}", "a||ping|||0;");
  check(RULE("\"kind\":\"a\",\"text\":\"t\",\"key\":\"k{/k}\",\"id\":\"{/i}\",\"ttl\":\"2h\""),
        "{\"i\":7}", "a||t||7|7200000;");
}

/* A blank value gives way to a later choice, and a blank text to a later rule. */
Test(recipe, blank_values) {
  static const char places[] =
      RULE("\"kind\":\"a\",\"text\":\"x{/m|/t|none}\",\"key\":\"{/m|/t}\"");
  check(places, "{\"m\":\" \\n\",\"t\":\"y\"}", "a||xy|y||0;");
  check(places, "{\"m\":\"\",\"t\":\"\"}", "a||xnone|||0;");
  check(places, "{\"m\":\"\"}", "a||xnone|||0;");
  check(RULE("\"kind\":\"a\",\"text\":\"x{/m|/t}\""), "{\"m\":\" \"}", "a||x|||0;");
  check(RULE("\"kind\":\"a\",\"text\":\"x{/m|/t}\""), "{\"m\":\"\",\"t\":\" \"}", "a||x |||0;");
  static const char rules[] = "{\"rules\":[{\"kind\":\"a\",\"text\":\"{/m}\"},"
                              "{\"kind\":\"b\",\"text\":\"{/t}\"}]}";
  check(rules, "{\"m\":\"\\t \\r\\n\",\"t\":\"y\"}", "b||y|||0;");
  check(rules, "{\"m\":\"\",\"t\":\" \"}", "");
  check(rules, "{\"m\":\"\\u0000\",\"t\":\"y\"}", "a||\xef\xbf\xbd|||0;");
}

Test(recipe, arrays_of_bytes) {
  static const char rule[] = RULE("\"kind\":\"a\",\"text\":\"{bytes:/m|none}\"");
  check(rule, "{\"m\":[27,91,51,49,109,69,27,91,48,109,10,195,164]}", "a||E\n\xc3\xa4|||0;");
  check(rule, "{\"m\":[255,97,0,195]}",
        "a||\xef\xbf\xbd"
        "a\xef\xbf\xbd|||0;");
  check(rule, "{\"m\":[97,256]}", "a||[97,256]|||0;");
  check(rule, "{\"m\":[97,-1]}", "a||[97,-1]|||0;");
  check(rule, "{\"m\":[97,\"98\"]}", "a||[97,\"98\"]|||0;");
  check(rule, "{\"m\":[]}", "a||[]|||0;");
  check(rule, "{\"m\":\"[97]\"}", "a||[97]|||0;");
  check(rule, "{\"m\":[27]}", "a||none|||0;");
  check(rule, "{}", "a||none|||0;");
  check(RULE("\"kind\":\"a\",\"text\":\"{/m}\""), "{\"m\":[97,98]}", "a||[97,98]|||0;");
  check_refused(RULE("\"kind\":\"a\",\"text\":\"{bytes:m}\""), "neither a pointer");
}

Test(recipe, when) {
  check(RULE("\"when\":{\"/t\":\"x\"},\"kind\":\"a\",\"text\":\"t\""), "{\"t\":\"x\"}",
        "a||t|||0;");
  check(RULE("\"when\":{\"/t\":\"x\"},\"kind\":\"a\",\"text\":\"t\""), "{\"t\":\"xy\"}", "");
  check(RULE("\"when\":{\"/t\":\"x*\"},\"kind\":\"a\",\"text\":\"t\""), "{\"t\":\"xy\"}",
        "a||t|||0;");
  check(RULE("\"when\":{\"/t\":[\"1\",\"2\"]},\"kind\":\"a\",\"text\":\"t\""), "{\"t\":2}",
        "a||t|||0;");
  check(RULE("\"when\":{\"/t\":[\"1\",\"2\"]},\"kind\":\"a\",\"text\":\"t\""), "{\"t\":3}", "");
  check(RULE("\"when\":{\"/t\":true,\"/u\":false},\"kind\":\"a\",\"text\":\"t\""), "{\"t\":0}",
        "a||t|||0;");
  check(RULE("\"when\":{\"/t\":true,\"/u\":false},\"kind\":\"a\",\"text\":\"t\""),
        "{\"t\":0,\"u\":0}", "");
  check(RULE("\"when\":{\"header:x-event\":\"ping\"}"), "{}", "-");
  check("{\"rules\":[{\"when\":{\"/a\":\"1\"}},{\"kind\":\"b\",\"text\":\"t\"}]}", "{\"a\":\"1\"}",
        "-");
  check("{\"rules\":[{\"when\":{\"/a\":\"1\"}},{\"kind\":\"b\",\"text\":\"t\"}]}", "{}",
        "b||t|||0;");
}

Test(recipe, levels_and_elements) {
  static const char levels[] = RULE(
      "\"each\":\"/a/*\",\"kind\":\"k\",\"text\":\"{./n} of {/of}\",\"level\":{\"from\":\"./s\","
      "\"map\":{\"bad\":\"error\"},\"default\":\"info\"}");
  check(levels, "{\"of\":2,\"a\":[{\"n\":1,\"s\":\"bad\"},{\"n\":2},{\"s\":\"bad\"}]}",
        "k|error|1 of 2|||0;k|info|2 of 2|||0;");
  check(levels, "{\"of\":2,\"a\":{}}", "");
  static const char two[] =
      "{\"rules\":[{\"each\":\"/a/*\",\"when\":{\"./s\":\"x\"},\"kind\":\"k\",\"text\":\"x\"},"
      "{\"each\":\"/a/*\",\"kind\":\"k\",\"text\":\"{./t|./"
      "s|no}\"},{\"kind\":\"k\",\"text\":\"last\"}]}";
  check(two, "{\"a\":[{\"s\":\"y\"},{\"s\":\"x\"},{}]}", "k||y|||0;k||x|||0;k||no|||0;");
  check(two, "{\"a\":[]}", "k||last|||0;");
  check(
      RULE("\"each\":\"/a/*/b/*\",\"when\":{\".\":[\"1\",\"3\"]},\"kind\":\"k\",\"text\":\"{.}\""),
      "{\"a\":[{\"b\":[1,2]},{\"b\":[3]},{}]}", "k||1|||0;k||3|||0;");
}

Test(recipe, withdrawals) {
  static const char rule[] =
      RULE("\"when\":{\"/s\":\"bad\"},\"withdraw-when\":{\"/s\":[\"new\",\"gone\"]},\"kind\":\"k\","
           "\"text\":\"{/s}\",\"key\":\"{/k}\",\"id\":\"{/i}\"");
  check(rule, "{\"s\":\"bad\",\"k\":1,\"i\":2}", "k||bad|1|2|0;");
  check(rule, "{\"s\":\"new\",\"k\":1,\"i\":2}",
        "k|withdraws|What has this key is taken back.|1|2 withdrawn|0;");
  check(rule, "{\"s\":\"gone\",\"k\":1}", "k|withdraws|What has this key is taken back.|1||0;");
  check(rule, "{\"s\":\"gone\"}", ""); /* there is no key to withdraw */
  check(rule, "{\"s\":\"good\",\"k\":1}", "");
  static const char only[] =
      "{\"rules\":[{\"withdraw-when\":{\"/s\":\"new\"},\"kind\":\"k\",\"key\":\"{/k}\"},"
      "{\"kind\":\"l\",\"text\":\"t\"}]}";
  check(only, "{\"s\":\"new\",\"k\":1}", "k|withdraws|What has this key is taken back.|1||0;");
  check(only, "{\"s\":\"old\",\"k\":1}", "l||t|||0;");
  check_refused(RULE("\"withdraw-when\":{\"/s\":\"x\"},\"kind\":\"k\",\"text\":\"t\""),
                "a kind and a key, too");
  check_refused(RULE("\"withdraw-when\":{\"s\":\"x\"},\"kind\":\"k\",\"key\":\"t\""),
                "withdraw-when");
}

static void check_order(const char *left, const char *right, int wanted) {
  int found = recipe_compare_orders(span_text(left), span_text(right));
  int back = recipe_compare_orders(span_text(right), span_text(left));
  cr_expect((found > 0) - (found < 0) == wanted && (back > 0) - (back < 0) == -wanted,
            "%s and %s: %d, and %d", left, right, found, back);
}

/* By numbers, not by letters. */
Test(recipe, orders) {
  check_order("41", "42", -1);
  check_order("9", "10", -1);
  check_order("0041", "41", 0);
  check_order("41.2", "41.10", -1);
  check_order("41", "41.0", -1);
  check_order("41.9", "42", -1);
  check_order("", "", 0);
  check_order("none", "0", -1);
  check_order("0", "000", 0);
  check_order("99999999999999999999999", "100000000000000000000000", -1);
  check_order("2026-11-20T12:11:05Z 7", "2026-11-20T12:11:06Z 3", -1);
  check_order("2026-11-20T12:11:05Z 7", "2026-11-20T12:11:05Z 8", -1);
}

/* A notification and a withdrawal of a rule have the same order. If a value that the order names is
 * missing, there is no order. */
Test(recipe, an_order_is_part_of_a_push) {
  static const char rule[] =
      RULE("\"when\":{\"/s\":\"bad\"},\"withdraw-when\":{\"/s\":\"new\"},\"kind\":\"k\",\"text\":"
           "\"t\",\"key\":\"{/k}\",\"order\":\"{/n}.{/m|1}\"");
  static const char *const documents[][2] = {{"{\"s\":\"bad\",\"k\":1,\"n\":41,\"m\":2}", "41.2"},
                                             {"{\"s\":\"new\",\"k\":1,\"n\":41}", "41.1"},
                                             {"{\"s\":\"bad\",\"k\":1}", ""}};
  for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
    struct arena arena = ARENA_EMPTY;
    struct recipe *recipe = NULL;
    struct recipe_push *pushes = NULL;
    size_t count = 0;
    bool fits = false;
    cr_assert_eq(recipe_read(span_text(rule), "r.json", &recipe, &error), 0, "%s", error.text);
    const struct recipe_document document = {.root = read(&arena, documents[i][0])};
    cr_assert_eq(recipe_apply(recipe, &document, &arena, &pushes, &count, &fits), 0);
    cr_assert_eq(count, 1);
    cr_expect(span_is(pushes->order, documents[i][1]), "%s: %.*s", documents[i][0],
              SPAN_FORMAT(pushes->order));
    recipe_free(recipe);
    arena_free(&arena);
  }
  check_refused(RULE("\"kind\":\"a\",\"text\":\"t\",\"order\":\"{/n}\""), "rules[0].key: missing");
  check_refused(RULE("\"kind\":\"a\",\"text\":\"t\",\"key\":\"k\",\"order\":\"{n}\""),
                "neither a pointer");
}

Test(recipe, mistakes) {
  check_refused("[]", "expected an object with rules");
  check_refused("{\"rules\":[]}", "expected a list of at least one rule");
  check_refused("{\"rulez\":[]}", "unknown field \"rulez\"");
  check_refused("{\n\"rules\":[\n{\"kind\":\"a\",\n\"text\":\"{/x\"}]}",
                "r.json, line 4: rules[0].text: a \"{\" has no \"}\"");
  check_refused(RULE("\"kind\":\"a\",\"text\":\"{x}\""), "neither a pointer");
  check_refused(RULE("\"kind\":\"a\",\"text\":\"{/x~2}\""), "neither a pointer");
  check_refused(RULE("\"text\":\"t\""), "rules[0].kind: missing");
  check_refused(RULE("\"kind\":\"a\",\"level\":\"bad\""), "level");
  check_refused(RULE("\"level\":{\"from\":\"x\",\"map\":{}}"), "level.from");
  check_refused(RULE("\"level\":{\"map\":{}}"), "an object with from and map");
  check_refused(RULE("\"ttl\":\"5\""), "ttl");
  check_refused(RULE("\"ttl\":\"0s\""), "ttl");
  check_refused(RULE("\"each\":\"./a\""), "each");
  check_refused(RULE("\"when\":{\"a\":\"b\"}"), "pointers such as");
  check_refused(RULE("\"when\":{\"/a\":5}"), "a text, a list of texts");
  check_refused(RULE("\"colour\":\"red\""), "unknown field \"colour\"");
  check_refused("{", "r.json: not JSON");
}

Test(recipe, builtins) {
  for (const struct recipe_builtin *one = recipe_builtins; one->name; one++) {
    struct recipe *recipe = NULL;
    cr_expect_eq(recipe_read(span_text(one->text), one->name, &recipe, &error), 0, "%s",
                 error.text);
    recipe_free(recipe);
  }
}
