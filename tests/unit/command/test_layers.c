/* SPDX-License-Identifier: MIT
 *
 * test_layers.c: tests a project's configuration on top of a user's: what it may set, the result,
 * and the origin of each value.
 */
#include <criterion/criterion.h>

#include "command/json_value.h"
#include "command/layers.h"

/* The whole configuration of an invented plugin: its presets set delivery's format and fence. */
static const char defaults_text[] =
    "{\"conversation\":{\"notifications\":{\"enable\":true,\"kinds\":{}},\"tools\":{}},"
    "\"delivery\":{\"preset\":\"grouped\",\"format\":\"markdown\",\"fence\":\"none\",\"later\":1},"
    "\"turns\":{\"max_auto_turns\":8,\"discipline\":\"serial\"},\"limits\":{\"event_bytes\":5}}";

static json_t *value(const char *text) {
  static const struct json_rules rules = {.max_depth = JSON_MAX_DEPTH};
  json_t *read = NULL;
  cr_assert_eq(json_value_read(&rules, span_text(text), "it", &read, NULL), 0, "%s", text);
  return read;
}

/* Takes `got` over. */
static void expect_json(json_t *got, const char *wanted) {
  json_t *expected = value(wanted);
  char *shown = json_dumps(got, JSON_COMPACT);
  cr_expect(json_equal(got, expected), "%s, expected %s", shown, wanted);
  free(shown);
  json_decref(got);
  json_decref(expected);
}

static void expect_refused(const char *project, const char *wanted) {
  json_t *config = value(project);
  bool failed = true;
  const char *why = NULL;
  char *key = layers_refused_key(config, &why, &failed);
  cr_expect_not(failed);
  cr_expect_eq(key != NULL, why != NULL);
  if (wanted) cr_expect_str_eq(key ? key : "nothing", wanted);
  else cr_expect_null(key, "%s: %s", project, key);
  free(key);
  json_decref(config);
}

Test(layers, a_project_sets_what_is_shown) {
  expect_refused("{}", NULL);
  expect_refused("{\"limits\": {}}", NULL);
  expect_refused("{\"delivery\": {\"preset\": \"xml\", \"a_later_key\": [1]}}", NULL);
  expect_refused("{\"conversation\": {\"notifications\": {\"kinds\": {\"file\": \"critical\", "
                 "\"ci.done\": true}}}}",
                 NULL);
  expect_refused("{\"conversation\": {\"tools\": {\"a/b~c\": {\"source\": null}}}}", NULL);
  expect_refused("{\"turns\": {\"discipline\": \"serial\", \"settle_delay_ms\": 1, "
                 "\"default_delivery\": \"steer\"}}",
                 NULL);
}

Test(layers, a_project_sets_nothing_that_protects) {
  expect_refused("{\"delivery\": {\"fence\": \"none\"}}", "delivery.fence");
  expect_refused("{\"delivery\": {\"max_items\": 1, \"fence\": {\"a\": 1}}}", "delivery.fence.a");
  expect_refused("{\"conversation\": {\"notifications\": {\"enable\": false}}}",
                 "conversation.notifications.enable");
  expect_refused("{\"conversation\": {\"notifications\": false}}", "conversation.notifications");
  expect_refused("{\"conversation\": {\"notifications\": {\"kindsx\": false}}}",
                 "conversation.notifications.kindsx");
  expect_refused("{\"turns\": {\"max_auto_turns\": 9}}", "turns.max_auto_turns");
  expect_refused("{\"turns\": {\"restart\": \"drain\"}}", "turns.restart");
  expect_refused("{\"turns\": 1}", "turns");
  expect_refused("{\"critical\": {\"force\": false}}", "critical.force");
  expect_refused("{\"limits\": {\"event_bytes\": 1}}", "limits.event_bytes");
  expect_refused("{\"store\": \"/elsewhere\"}", "store");
}

Test(layers, a_project_hides_nothing_that_is_critical) {
  static const char kinds[] = "conversation.notifications.kinds";
  char key[128];
  (void)snprintf(key, sizeof key, "%s.file", kinds);
  expect_refused("{\"conversation\": {\"notifications\": {\"kinds\": {\"file\": false}}}}", key);
  (void)snprintf(key, sizeof key, "%s.mcp.enable", kinds);
  expect_refused("{\"conversation\": {\"notifications\": {\"kinds\": {\"a\": true, "
                 "\"mcp\": {\"lost\": \"critical\", \"enable\": false}}}}}",
                 key);
  expect_refused("{\"conversation\": {\"tools\": {\"git\": {\"notifications\": {\"x\": false}}}}}",
                 "conversation.tools.git.notifications.x");
  expect_refused("{\"conversation\": {\"tools\": {\"git\": {\"stateful\": false, "
                 "\"notifications\": {\"x\": \"critical\"}}}}}",
                 NULL);
  expect_refused("{\"delivery\": {\"max_bytes\": 1}}", "delivery.max_bytes");
}

Test(layers, a_pointer_finds_any_name) {
  json_t *config = value("{\"a/b\": {\"~1\": {\"\": 5}}, \"c\": 1}");
  cr_expect_eq(json_integer_value(layers_at(config, "/a~1b/~01/")), 5);
  cr_expect_eq(json_integer_value(layers_at(config, "/c")), 1);
  cr_expect_null(layers_at(config, "/c/d"));
  cr_expect_null(layers_at(config, "/x"));
  json_decref(config);
}

static json_t *merge_texts(const char *user, const char *project, const char *in_force) {
  json_t *below = user ? value(user) : NULL, *above = value(project), *now = value(in_force);
  json_t *merged = layers_merge(below, above, now);
  json_decref(below);
  json_decref(above);
  json_decref(now);
  return merged;
}

Test(layers, objects_are_joined_and_all_else_is_replaced) {
  expect_json(merge_texts("{\"delivery\": {\"a\": 1, \"b\": [1, 2], \"c\": {\"d\": 1}, \"e\": 1}}",
                          "{\"delivery\": {\"a\": 2, \"b\": [3], \"c\": {\"f\": 2}, \"e\": {}}}",
                          "{}"),
              "{\"delivery\": {\"a\": 2, \"b\": [3], \"c\": {\"d\": 1, \"f\": 2}, \"e\": {}}}");
  expect_json(merge_texts(NULL, "{\"delivery\": {\"a\": 1}}", "{}"), "{\"delivery\": {\"a\": 1}}");
}

/* The user's preset has set the nonce; the project names another preset. Keys that the user wrote
 * out stay beside the project's preset, and so does the nonce; keys that only the user's preset had
 * set do not. */
Test(layers, a_project_preset_takes_no_protection_away) {
  expect_json(merge_texts("{\"delivery\": {\"preset\": \"balanced\", \"max_items\": 3}}",
                          "{\"delivery\": {\"preset\": \"xml\"}}",
                          "{\"delivery\": {\"preset\": \"balanced\", \"max_items\": 3, "
                          "\"max_tokens\": 800, \"fence\": \"nonce\"}, "
                          "\"limits\": {\"event_bytes\": 7}, \"turns\": {}}"),
              "{\"delivery\": {\"preset\": \"xml\", \"max_items\": 3, \"fence\": \"nonce\"}, "
              "\"limits\": {\"event_bytes\": 7}}");
}

/* The plugin is to see it and refuse it. */
Test(layers, a_wrong_type_stays_wrong) {
  expect_json(merge_texts(NULL, "{\"delivery\": 5}", "{\"delivery\": {\"fence\": \"none\"}}"),
              "{\"delivery\": 5}");
}

Test(layers, each_value_has_an_origin) {
  json_t *defaults = value(defaults_text);
  json_t *effective =
      value("{\"conversation\":{\"notifications\":{\"enable\":true,\"kinds\":{\"a/b\":false}},"
            "\"tools\":{}},\"delivery\":{\"preset\":\"xml\",\"format\":\"xml\",\"fence\":\"nonce\","
            "\"later\":1},\"turns\":{\"max_auto_turns\":8,\"discipline\":\"coalescing\"},"
            "\"limits\":{\"event_bytes\":5}}");
  const struct layer layers[] = {
      {"user.toml",
       value("{\"delivery\": {\"preset\": \"balanced\"}, \"limits\": {\"event_bytes\": 5}, "
             "\"turns\": {\"discipline\": \"serial\"}}"),
       false},
      {"project.json",
       value("{\"delivery\": {\"preset\": \"xml\"}, \"turns\": {\"discipline\": \"coalescing\"}, "
             "\"conversation\": {\"notifications\": {\"kinds\": {\"a/b\": false}}}}"),
       true},
      {"absent.json", NULL, true}};
  expect_json(layers_origins(effective, defaults, layers, 3),
              "{\"/conversation/notifications/enable\": {\"from\": \"default\"},"
              "\"/conversation/notifications/kinds/a~1b\": {\"from\": \"file\", \"file\": "
              "\"project.json\"},"
              "\"/conversation/tools\": {\"from\": \"default\"},"
              "\"/delivery/preset\": {\"from\": \"file\", \"file\": \"project.json\"},"
              "\"/delivery/format\": {\"from\": \"preset\", \"preset\": \"xml\", \"file\": "
              "\"project.json\"},"
              "\"/delivery/fence\": {\"from\": \"preset\", \"preset\": \"balanced\", \"file\": "
              "\"user.toml\"},"
              "\"/delivery/later\": {\"from\": \"default\"},"
              "\"/turns/max_auto_turns\": {\"from\": \"default\"},"
              "\"/turns/discipline\": {\"from\": \"file\", \"file\": \"project.json\"},"
              "\"/limits/event_bytes\": {\"from\": \"file\", \"file\": \"user.toml\"}}");
  json_decref(layers[0].config);
  json_decref(layers[1].config);
  json_decref(effective);
  json_decref(defaults);
}
