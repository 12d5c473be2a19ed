/* SPDX-License-Identifier: MIT
 *
 * The configuration: its defaults, forms and presets, what it refuses, and that writing and reading
 * it again changes nothing.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <tidings/reply.h>

#include "config/config.h"
#include "kit.h"

static struct arena arena = ARENA_EMPTY;

static void tear_down(void) { arena_free(&arena); }

TestSuite(config, .fini = tear_down);

static const char *written(const struct settings *settings) {
  struct buffer out = BUFFER_EMPTY;
  config_write(settings, &out);
  cr_assert(!out.failed);
  const char *text = text_of(buffer_view(&out));
  buffer_free(&out);
  return text;
}

/* Compact, and every key. */
static const char defaults[] =
    "{\"conversation\":{\"notifications\":{\"enable\":true,\"kinds\":{}},\"tools\":{}},"
    "\"delivery\":{\"preset\":\"grouped\",\"format\":\"markdown\",\"place\":\"prepend\",\"order\":"
    "\"level\",\"overflow\":\"defer\",\"max_"
    "items\":0,"
    "\"max_tokens\":0,\"max_bytes\":0,\"coalesce_window_ms\":0,\"annihilate\":false,\"fence\":"
    "\"none\",\"preamble\":\"always\",\"age_after_ms\":0,\"peers\":false},"
    "\"turns\":{\"discipline\":\"serial\",\"settle_delay_ms\":0,\"restart\":\"drain\",\"max_auto_"
    "turns\":8,\"default_delivery\":\"queue\"},"
    "\"critical\":{\"force\":true,\"max_aborts\":3,\"abort_window_ms\":60000},"
    "\"alerts\":{\"idle\":false,\"waiting\":false,\"critical\":false,"
    "\"delivered\":true},"
    "\"limits\":{\"event_bytes\":262144,\"message_bytes\":16384,\"pending_per_session\":10000,"
    "\"dedup_window_ms\":86400000,\"source_per_minute\":0}}";

Test(config, nothing_given_is_the_defaults) {
  struct settings settings = settings_from("", &arena);
  cr_expect(settings.notifications_enabled);
  cr_expect_eq(settings.preset, PRESET_GROUPED);
  cr_expect_eq(settings.format, FORMAT_MARKDOWN);
  cr_expect_eq(settings.place, TIDINGS_PLACE_PREPEND);
  cr_expect_eq(settings.order, ORDER_LEVEL);
  cr_expect_eq(settings.max_items, 0);
  cr_expect_eq(settings.event_bytes, 262144);
  cr_expect_eq(settings.message_bytes, 16384);
  cr_expect_eq(settings.pending_per_session, 10000);
  cr_expect_eq(settings.dedup_window_ms, 86400000);
  cr_expect_eq(settings.discipline, DISCIPLINE_SERIAL);
  cr_expect_eq(settings.settle_delay_ms, 0);
  cr_expect(!settings.restart_hold);
  cr_expect_eq(settings.max_auto_turns, 8);
  cr_expect(settings.critical_force);
  cr_expect_eq(settings.max_aborts, 3);
  cr_expect_eq(settings.abort_window_ms, 60000);
  cr_expect_str_eq(written(&settings), defaults);
  settings = settings_from("{}", &arena);
  cr_expect_str_eq(written(&settings), defaults);
  settings = settings_from(defaults, &arena);
  cr_expect_str_eq(written(&settings), defaults);
}

Test(config, a_preset_sets_the_other_keys_and_keys_beside_it_win) {
  struct settings settings = settings_from("{\"delivery\":{\"preset\":\"flat\"}}", &arena);
  cr_expect_eq(settings.format, FORMAT_MARKDOWN_FLAT);
  cr_expect_eq(settings.place, TIDINGS_PLACE_PREPEND);
  cr_expect_eq(settings.order, ORDER_TIME);
  cr_expect_eq(settings.max_items, 10);
  cr_expect_eq(settings.overflow, OVERFLOW_DROP_OLDEST);
  settings = settings_from("{\"delivery\":{\"max_items\":3,\"order\":\"newest\",\"place\":"
                           "\"append\",\"overflow\":\"drop_lowest\",\"preset\":\"flat\"}}",
                           &arena);
  cr_expect_eq(settings.preset, PRESET_FLAT);
  cr_expect_eq(settings.format, FORMAT_MARKDOWN_FLAT);
  cr_expect_eq(settings.place, TIDINGS_PLACE_APPEND);
  cr_expect_eq(settings.order, ORDER_NEWEST);
  cr_expect_eq(settings.max_items, 3);
  cr_expect_eq(settings.overflow, OVERFLOW_DROP_LOWEST);
}

Test(config, presets_are_the_documented_ones) {
  static const struct {
    const char *name;
    uint32_t format, place, order, overflow, fence;
    uint32_t max_items, max_tokens, coalesce_window_ms;
    bool annihilate;
    uint32_t preamble, age_after_ms;
  } presets[] = {
      {"grouped", FORMAT_MARKDOWN, TIDINGS_PLACE_PREPEND, ORDER_LEVEL, OVERFLOW_DEFER, FENCE_NONE,
       0, 0, 0, false, PREAMBLE_ALWAYS, 0},
      {"flat", FORMAT_MARKDOWN_FLAT, TIDINGS_PLACE_PREPEND, ORDER_TIME, OVERFLOW_DROP_OLDEST,
       FENCE_NONE, 10, 0, 0, false, PREAMBLE_ALWAYS, 0},
      {"xml", FORMAT_XML, TIDINGS_PLACE_APPEND, ORDER_TIME, OVERFLOW_DEFER, FENCE_NONE, 0, 0, 0,
       false, PREAMBLE_ALWAYS, 0},
      {"xml-batch", FORMAT_XML_BATCH, TIDINGS_PLACE_APPEND, ORDER_LEVEL, OVERFLOW_DEFER, FENCE_NONE,
       10, 0, 2000, false, PREAMBLE_ALWAYS, 0},
      {"balanced", FORMAT_MARKDOWN, TIDINGS_PLACE_APPEND, ORDER_LEVEL, OVERFLOW_DEFER, FENCE_NONCE,
       10, 800, 2000, true, PREAMBLE_FIRST, 60000},
      {"plain", FORMAT_PLAIN, TIDINGS_PLACE_APPEND, ORDER_LEVEL, OVERFLOW_DEFER, FENCE_NONE, 10,
       800, 2000, true, PREAMBLE_NEVER, 60000},
  };
  for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
    char json[128];
    (void)snprintf(json, sizeof json, "{\"delivery\":{\"preset\":\"%s\"}}", presets[i].name);
    struct settings s = settings_from(json, &arena);
    cr_expect(s.preset == i && s.format == presets[i].format && s.place == presets[i].place &&
                  s.order == presets[i].order && s.overflow == presets[i].overflow &&
                  s.fence == presets[i].fence && s.max_items == presets[i].max_items &&
                  s.max_tokens == presets[i].max_tokens &&
                  s.coalesce_window_ms == presets[i].coalesce_window_ms &&
                  s.annihilate == presets[i].annihilate && s.preamble == presets[i].preamble &&
                  s.age_after_ms == presets[i].age_after_ms,
              "%s", presets[i].name);
  }
}

Test(config, kinds_nested_flat_and_mixed) {
  struct settings settings =
      settings_from("{\"conversation\":{\"notifications\":{\"enable\":false,\"kinds\":"
                    "{\"mcp\":{\"enable\":true,\"reconnected\":false,\"lost\":\"critical\"},\"tool."
                    "stopped.early\":true,"
                    "\"file\":false,\"idle\":{}}}}}",
                    &arena);
  static const struct {
    const char *source, *name;
    bool whole_source, flat;
    uint8_t wanted;
  } expected[] = {{"mcp", "", true, false, WANTED_ALL},
                  {"mcp", "reconnected", false, false, WANTED_NONE},
                  {"mcp", "lost", false, false, WANTED_CRITICAL},
                  {"tool", "stopped.early", false, true, WANTED_ALL},
                  {"file", "", true, true, WANTED_NONE}};
  cr_expect(!settings.notifications_enabled);
  cr_assert_eq(settings.kind_count, sizeof expected / sizeof *expected);
  for (size_t i = 0; i < settings.kind_count; i++) {
    const struct kind_rule *rule = &settings.kinds[i];
    cr_expect(span_is(rule->source, expected[i].source) && span_is(rule->name, expected[i].name),
              "rule %zu: %s.%s", i, text_of(rule->source), text_of(rule->name));
    cr_expect_eq(rule->whole_source, expected[i].whole_source);
    cr_expect_eq(rule->flat, expected[i].flat);
    cr_expect_eq(rule->wanted, expected[i].wanted);
  }
}

Test(config, of_a_tool_only_the_notifications_are_ours) {
  struct settings settings = settings_from(
      "{\"conversation\":{\"tools\":{\"cargo_check\":{\"source\":\"builtin\",\"stateful\":true,"
      "\"notifications\":{\"waiting\":false,\"stopped\":true}},\"git\":{\"x\":[{}]},\"éa "
      "b\":{\"notifications\":{\"a\":\"critical\"}}}}}",
      &arena);
  cr_assert_eq(settings.tool_count, 3);
  cr_expect(span_is(settings.tools[0].tool, "cargo_check") &&
            span_is(settings.tools[0].name, "waiting") && settings.tools[0].wanted == WANTED_NONE);
  cr_expect(span_is(settings.tools[1].tool, "cargo_check") &&
            span_is(settings.tools[1].name, "stopped") && settings.tools[1].wanted == WANTED_ALL);
  cr_expect(span_is(settings.tools[2].tool, "éa b") && span_is(settings.tools[2].name, "a") &&
            settings.tools[2].wanted == WANTED_CRITICAL);
}

Test(config, limits_at_their_edges) {
  struct settings settings = settings_from("{\"limits\":{\"event_bytes\":1024,\"message_bytes\":64,"
                                           "\"pending_per_session\":1,\"dedup_window_ms\":0}}",
                                           &arena);
  cr_expect(settings.event_bytes == 1024 && settings.message_bytes == 64 &&
            settings.pending_per_session == 1 && settings.dedup_window_ms == 0);
  settings = settings_from("{\"limits\":{\"event_bytes\":1048576,\"message_bytes\":262144,"
                           "\"pending_per_session\":1000000,\"dedup_window_ms\":2592000000}}",
                           &arena);
  cr_expect(settings.event_bytes == 1048576 && settings.message_bytes == 262144 &&
            settings.pending_per_session == 1000000);
  cr_expect_eq(settings.dedup_window_ms, INT64_C(2592000000));
  cr_expect_eq(settings.source_per_minute, 0);
  settings = settings_from("{\"limits\":{\"source_per_minute\":1000000}}", &arena);
  cr_expect_eq(settings.source_per_minute, 1000000);
}

Test(config, turns_and_critical) {
  struct settings settings =
      settings_from("{\"turns\":{\"discipline\":\"coalescing\",\"settle_delay_ms\":1500,"
                    "\"restart\":\"hold\",\"max_auto_turns\":2,\"default_delivery\":\"steer\"},"
                    "\"critical\":{\"force\":false,\"max_aborts\":1,\"abort_window_ms\":5000}}",
                    &arena);
  cr_expect(settings.discipline == DISCIPLINE_COALESCING && settings.settle_delay_ms == 1500 &&
            settings.restart_hold && settings.max_auto_turns == 2 && settings.steer_by_default);
  cr_expect(!settings.critical_force && settings.max_aborts == 1 &&
            settings.abort_window_ms == 5000);
  cr_expect(
      strstr(
          written(&settings),
          "\"turns\":{\"discipline\":\"coalescing\",\"settle_delay_ms\":1500,\"restart\":\"hold\","
          "\"max_auto_turns\":2,\"default_delivery\":\"steer\"},\"critical\":{\"force\":false,"
          "\"max_aborts\":1,\"abort_window_"
          "ms\":5000},"),
      "%s", written(&settings));
  settings = settings_from(
      "{\"turns\":{\"discipline\":\"serial\",\"restart\":\"drain\"},\"critical\":{\"force\":true}}",
      &arena);
  cr_expect_str_eq(written(&settings), defaults);
}

Test(config, alerts) {
  struct settings settings =
      settings_from("{\"alerts\":{\"critical\":true,\"idle\":true}}", &arena);
  cr_expect(settings.alerts_idle && !settings.alerts_waiting && settings.alerts_critical);
  cr_expect(strstr(written(&settings),
                   ",\"alerts\":{\"idle\":true,\"waiting\":false,\"critical\":true,"
                   "\"delivered\":true},"),
            "%s", written(&settings));
  settings = settings_from("{\"alerts\":{\"waiting\":true,\"delivered\":false}}", &arena);
  cr_expect(!settings.alerts_idle && settings.alerts_waiting && !settings.alerts_critical &&
            !settings.alerts_delivered);
}

Test(config, turns_and_critical_at_their_edges) {
  struct settings settings =
      settings_from("{\"turns\":{\"settle_delay_ms\":3600000,\"max_auto_turns\":1000000},"
                    "\"critical\":{\"max_aborts\":64,\"abort_window_ms\":86400000}}",
                    &arena);
  cr_expect(settings.settle_delay_ms == 3600000 && settings.max_auto_turns == 1000000);
  cr_expect(settings.max_aborts == 64 && settings.abort_window_ms == 86400000);
  settings = settings_from("{\"turns\":{\"settle_delay_ms\":0,\"max_auto_turns\":0},\"critical\":{"
                           "\"max_aborts\":0,\"abort_window_ms\":0}}",
                           &arena);
  cr_expect_eq(settings.settle_delay_ms + settings.max_auto_turns + settings.max_aborts +
                   settings.abort_window_ms,
               0);
}

/* ---- writing and reading again ---- */

static bool spans_equal(struct tidings_span a, struct tidings_span b) {
  return span_equal(a, b) != 0;
}

static bool settings_equal(const struct settings *a, const struct settings *b) {
  if (a->kind_count != b->kind_count || a->tool_count != b->tool_count) return false;
  for (size_t i = 0; i < a->kind_count; i++) {
    const struct kind_rule *one = &a->kinds[i], *other = &b->kinds[i];
    bool same = spans_equal(one->source, other->source) && spans_equal(one->name, other->name) &&
                one->flat == other->flat && one->whole_source == other->whole_source &&
                one->wanted == other->wanted;
    if (!same) return false;
  }
  for (size_t i = 0; i < a->tool_count; i++) {
    const struct tool_rule *one = &a->tools[i], *other = &b->tools[i];
    if (!spans_equal(one->tool, other->tool) || !spans_equal(one->name, other->name) ||
        one->wanted != other->wanted)
      return false;
  }
  return a->notifications_enabled == b->notifications_enabled && a->preset == b->preset &&
         a->format == b->format && a->order == b->order && a->overflow == b->overflow &&
         a->place == b->place && a->max_items == b->max_items && a->max_tokens == b->max_tokens &&
         a->max_bytes == b->max_bytes && a->coalesce_window_ms == b->coalesce_window_ms &&
         a->annihilate == b->annihilate && a->fence == b->fence &&
         a->event_bytes == b->event_bytes && a->message_bytes == b->message_bytes &&
         a->pending_per_session == b->pending_per_session &&
         a->dedup_window_ms == b->dedup_window_ms && a->source_per_minute == b->source_per_minute &&
         a->discipline == b->discipline && a->settle_delay_ms == b->settle_delay_ms &&
         a->restart_hold == b->restart_hold && a->max_auto_turns == b->max_auto_turns &&
         a->steer_by_default == b->steer_by_default && a->critical_force == b->critical_force &&
         a->max_aborts == b->max_aborts && a->abort_window_ms == b->abort_window_ms &&
         a->alerts_idle == b->alerts_idle && a->alerts_waiting == b->alerts_waiting &&
         a->alerts_critical == b->alerts_critical && a->alerts_delivered == b->alerts_delivered &&
         a->says_peers == b->says_peers;
}

static const char *truth(struct random *random) {
  return random_next(random) & 1 ? "true" : "false";
}

/* `prefix` and a number make each name unique. */
static void random_names(struct random *random, const char *prefix, struct buffer *out) {
  size_t count = random_below(random, 4);
  buffer_byte(out, '{');
  for (size_t i = 0; i < count; i++)
    buffer_format(out, "%s\"%s%zu\\\"\\u0007é\":%s", i ? "," : "", prefix, i, truth(random));
  buffer_byte(out, '}');
}

static void random_rules(struct random *random, struct buffer *out) {
  size_t count = random_below(random, 5);
  buffer_text(out, "{\"notifications\":{\"kinds\":{");
  for (size_t i = 0; i < count; i++) {
    if (i) buffer_byte(out, ',');
    switch (random_below(random, 3)) {
    case 0:
      buffer_format(out, "\"s%zu.n.%zu\":%s", i, random_below(random, 9), truth(random));
      break;
    case 1: buffer_format(out, "\"s%zu\":%s", i, truth(random)); break;
    default:
      buffer_format(out, "\"s%zu\":", i);
      random_names(random, "na.me", out);
      break;
    }
  }
  buffer_format(out, "},\"enable\":%s},\"tools\":{", truth(random));
  count = random_below(random, 4);
  for (size_t i = 0; i < count; i++) {
    buffer_format(out, "%s\"tool %zu\":{\"x\":null,\"notifications\":", i ? "," : "", i);
    random_names(random, "n", out);
    buffer_byte(out, '}');
  }
  buffer_text(out, "}}");
}

static void random_delivery(struct random *random, struct buffer *out) {
  static const char *const keys[][4] = {
      {"preset", "balanced", "plain", NULL},
      {"format", "json", "synthetic-call", NULL},
      {"fence", "none", "nonce", NULL},
      {"preamble", "always", "first", "never"},
      {"place", "prepend", "append", NULL},
      {"order", "level", "time", "newest"},
      {"overflow", "defer", "drop_oldest", "drop_lowest"},
  };
  buffer_format(out,
                "{\"age_after_ms\":%zu,\"max_bytes\":%zu,\"max_tokens\":%zu,\"max_items\":%zu,"
                "\"coalesce_window_ms\":%"
                "zu,\"annihilate\":%s",
                random_below(random, 86400001), random_below(random, 100000001),
                random_below(random, 1000), random_below(random, 1000),
                random_below(random, 86400001), truth(random));
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const char *value = keys[i][1 + random_below(random, 3)];
    if (value) buffer_format(out, ",\"%s\":\"%s\"", keys[i][0], value);
  }
  buffer_byte(out, '}');
}

static void random_turns(struct random *random, struct buffer *out) {
  static const char *const deliveries[] = {"queue", "steer"};
  static const char *const disciplines[] = {"serial", "coalescing"}, *const restarts[] = {"drain",
                                                                                          "hold"};
  buffer_format(out,
                "{\"settle_delay_ms\":%zu,\"discipline\":\"%s\",\"max_auto_turns\":%zu,\"restart\":"
                "\"%s\",\"default_delivery\":\"%s\"}",
                random_below(random, 3600001), disciplines[random_below(random, 2)],
                random_below(random, 1000001), restarts[random_below(random, 2)],
                deliveries[random_below(random, 2)]);
}

static void random_critical(struct random *random, struct buffer *out) {
  buffer_format(out, "{\"max_aborts\":%zu,\"abort_window_ms\":%zu,\"force\":%s}",
                random_below(random, 65), random_below(random, 86400001), truth(random));
}

Test(config, what_has_its_default_is_not_written_as_changed) {
  static const struct {
    const char *given, *changed;
  } cases[] = {
      {"{}", "{\"conversation\":{\"notifications\":{\"enable\":true,\"kinds\":{}},\"tools\":{}}}"},
      {"{\"delivery\":{\"preset\":\"flat\"},\"critical\":{\"force\":true}}",
       "{\"conversation\":{\"notifications\":{\"enable\":true,\"kinds\":{}},\"tools\":{}},"
       "\"delivery\":{\"preset\":\"flat\"}}"},
      {"{\"delivery\":{\"preset\":\"flat\",\"max_items\":0},\"critical\":{\"force\":false}}",
       "{\"conversation\":{\"notifications\":{\"enable\":true,\"kinds\":{}},\"tools\":{}},"
       "\"delivery\":{\"preset\":\"flat\",\"max_items\":0},\"critical\":{\"force\":false}}"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct settings settings = settings_from(cases[i].given, &arena);
    struct buffer out = BUFFER_EMPTY;
    config_write_changed(&settings, &out);
    buffer_byte(&out, '\0');
    cr_expect_str_eq(out.bytes, cases[i].changed);
    buffer_free(&out);
  }
}

Test(config, written_and_read_again_it_is_the_same) {
  struct random random = {11};
  for (int round = 0; round < 5000; round++) {
    struct buffer json = BUFFER_EMPTY;
    struct arena round_arena = ARENA_EMPTY;
    buffer_text(&json, "{\"conversation\":");
    random_rules(&random, &json);
    buffer_text(&json, ",\"delivery\":");
    random_delivery(&random, &json);
    buffer_text(&json, ",\"turns\":");
    random_turns(&random, &json);
    buffer_text(&json, ",\"critical\":");
    random_critical(&random, &json);
    buffer_format(&json, ",\"alerts\":{\"idle\":%s,\"waiting\":%s,\"critical\":%s}", truth(&random),
                  truth(&random), truth(&random));
    buffer_format(&json, ",\"limits\":{\"event_bytes\":%zu,\"dedup_window_ms\":%zu}}",
                  1024 + random_below(&random, 100000), random_below(&random, 2592000001));
    buffer_byte(&json, '\0');
    struct settings first = settings_from(json.bytes, &round_arena);
    struct buffer once = BUFFER_EMPTY, twice = BUFFER_EMPTY;
    config_write(&first, &once);
    buffer_byte(&once, '\0');
    struct settings second = settings_from(once.bytes, &round_arena);
    config_write(&second, &twice);
    buffer_byte(&twice, '\0');
    cr_assert(settings_equal(&first, &second), "%s\nbecame\n%s", json.bytes, once.bytes);
    cr_assert_str_eq(once.bytes, twice.bytes);
    struct buffer changed = BUFFER_EMPTY;
    config_write_changed(&first, &changed);
    buffer_byte(&changed, '\0');
    struct settings third = settings_from(changed.bytes, &round_arena);
    cr_assert(settings_equal(&first, &third), "%s\nbecame\n%s", json.bytes, changed.bytes);
    buffer_free(&changed);
    buffer_free(&json);
    buffer_free(&once);
    buffer_free(&twice);
    arena_free(&round_arena);
  }
}
