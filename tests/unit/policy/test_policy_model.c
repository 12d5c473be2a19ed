/* SPDX-License-Identifier: MIT
 *
 * The plan against a second, naive one on random items and settings: 20,000 of them, or as many as
 * TIDINGS_POLICY_ROUNDS says.
 */
#include <stdlib.h>

#include "policy_model.h"

/* Texts of one line, of several, and long ones. */
static const char *random_message(struct random *random) {
  static const char *const messages[] = {
      "m",
      "short",
      "first line\nsecond line of the same message, and quite a bit longer than the first one is",
      "one long line that goes on and on, so that a small number of tokens cannot hold it, "
      "whatever else waits",
      "a\nb",
      "a line of middling length\nand another"};
  return messages[random_below(random, sizeof messages / sizeof *messages)];
}

static struct facts random_facts(struct random *random) {
  static const struct tidings_span paths[] = {
      {"a.c", 3}, {"b.c", 3}, {"src/c.c", 7}, {"a.c", 3}, {"long/path/to/some/file.txt", 26}};
  static const struct tidings_span servers[] = {{"", 0}, {"github", 6}, {"db", 2}};
  struct facts facts = {.server = servers[random_below(random, 3)]};
  if (random_below(random, 2)) {
    size_t first = random_below(random, 5);
    facts.paths = paths + first;
    facts.path_count = 1 + random_below(random, 5 - first < 3 ? 5 - first : 3);
  }
  return facts;
}

static void random_items(struct random *random, struct items *items) {
  static const char *const sources[] = {"tool", "mcp", "handle", "file"},
                           *const names[] = {"a", "b", ""}, *const keys[] = {NULL, NULL, NULL, NULL,
                                                                             "k1", "k2", "k3"};
  static const char *const tools[] = {NULL, "git", "cargo"};
  items->count = 0;
  size_t count = random_below(random, 40);
  uint64_t n = 1 + random_below(random, 1000);
  for (size_t i = 0; i < count; i++) {
    const char *source = sources[random_below(random, 4)], *name = names[random_below(random, 3)];
    if (span_is(span_text(source), "file") && random_below(random, 4)) name = "changed";
    if (span_is(span_text(source), "mcp") && random_below(random, 4))
      name = random_below(random, 2) ? "disconnected" : "reconnected";
    ITEM(items, .n = n, .source = source, .name = name, .message = random_message(random),
         .key = keys[random_below(random, 7)], .tool = tools[random_below(random, 3)],
         .caused_by = random_below(random, 10) ? NULL : "call",
         .time_ms = (int64_t)random_below(random, 5000),
         .ttl_ms = random_below(random, 4) ? 0 : (int64_t)random_below(random, 5000) + 1,
         .level = (uint8_t)random_below(random, 4), .pinned = random_below(random, 16) == 0);
    items->items[i].facts = random_facts(random);
    n += 1 + random_below(random, 3);
  }
}

/* Rules for all that random_items may make; most of them true, else little is left. */
static struct settings random_settings(struct random *random, struct arena *arena) {
  static const char *const kinds[] = {"\"tool.a\"",   "\"mcp.b\"", "\"handle.a\"",
                                      "\"handle.b\"", "\"tool\"",  "\"file\""};
  struct buffer json = BUFFER_EMPTY;
  const char *separator = "";
  buffer_format(&json, "{\"conversation\":{\"notifications\":{\"enable\":%s,\"kinds\":{",
                random_below(random, 20) ? "true" : "false");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (random_below(random, 3)) continue;
    buffer_format(&json, "%s%s:%s", separator, kinds[i],
                  random_below(random, 3) ? "true" : "false");
    separator = ",";
  }
  if (random_below(random, 2))
    buffer_format(&json, "%s\"mcp\":{\"a\":%s,\"enable\":%s}", separator,
                  random_below(random, 2) ? "true" : "false",
                  random_below(random, 4) ? "true" : "false");
  buffer_format(&json, "}},\"tools\":{\"git\":{\"notifications\":{\"a\":%s,\"b\":true}}}},",
                random_below(random, 2) ? "true" : "false");
  static const char *const orders[] = {"level", "time", "newest"}, *const overflows[] = {
                                                                       "defer", "drop_oldest",
                                                                       "drop_lowest"};
  buffer_format(
      &json,
      "\"delivery\":{\"order\":\"%s\",\"overflow\":\"%s\",\"max_items\":%zu,\"max_tokens\":%zu,"
      "\"coalesce_window_ms\":%zu,\"annihilate\":%s},\"limits\":{\"message_bytes\":%zu}}",
      orders[random_below(random, 3)], overflows[random_below(random, 3)], random_below(random, 12),
      random_below(random, 2) ? 0 : random_below(random, 120),
      random_below(random, 3) ? 0 : random_below(random, 3000),
      random_below(random, 2) ? "true" : "false", 64 + random_below(random, 100));
  buffer_byte(&json, '\0');
  struct settings settings = settings_from(json.bytes, arena);
  buffer_free(&json);
  return settings;
}

static void expect_same_line(const struct items *items, const struct line *line,
                             const struct model_line *expected, long round) {
  cr_assert_eq(line->item, &items->items[expected->items[0]],
               "round %ld: a line is %llu, expected %llu", round, (unsigned long long)line->item->n,
               (unsigned long long)items->items[expected->items[0]].n);
  cr_assert(span_equal(line->message, expected->message), "round %ld: got\n%.*s\nexpected\n%.*s",
            round, SPAN_FORMAT(line->message), SPAN_FORMAT(expected->message));
  cr_assert(line->place == expected->place && line->newest == expected->newest &&
                line->count == expected->count,
            "round %ld", round);
  cr_assert(line->level == expected->level && line->shortened == expected->shortened, "round %ld",
            round);
}

static void expect_same(const struct items *items, const struct plan *plan,
                        const struct model *model, long round) {
  cr_assert_eq(plan->line_count, model->shown, "round %ld: %zu lines, expected %zu", round,
               plan->line_count, model->shown);
  cr_assert_eq(plan->deferred, model->deferred, "round %ld", round);
  for (size_t a = 0; a < model->shown; a++)
    expect_same_line(items, &plan->lines[a], &model->lines[a], round);
  size_t f = 0;
  for (size_t i = 0; i < items->count; i++) {
    const struct fate *expected = &model->fates[i];
    if (expected->outcome == OUTCOME_NONE) continue;
    cr_assert_lt(f, plan->fate_count, "round %ld: no fate of %llu", round,
                 (unsigned long long)expected->n);
    const struct fate *got = &plan->fates[f++];
    cr_assert(got->n == expected->n && got->outcome == expected->outcome &&
                  got->reason == expected->reason && got->ref == expected->ref,
              "round %ld: got %llu %s/%u>%llu, expected %llu %s/%u>%llu", round,
              (unsigned long long)got->n, outcome_name(got->outcome), got->reason,
              (unsigned long long)got->ref, (unsigned long long)expected->n,
              outcome_name(expected->outcome), expected->reason, (unsigned long long)expected->ref);
  }
  cr_assert_eq(f, plan->fate_count, "round %ld: more fates than items ended", round);
  cr_assert_eq(plan->fate_count + plan->deferred + model->awaited, items->count,
               "round %ld: every item has one fate or waits", round);
}

Test(policy_model, both_plans_are_the_same) {
  static struct model model;
  const char *given = getenv("TIDINGS_POLICY_ROUNDS");
  long rounds = given ? strtol(given, NULL, 10) : 20000;
  struct random random = {given ? (uint64_t)rounds : 1};
  size_t seen[OUTCOME_COUNT] = {0}, waited = 0, shortened = 0, coalesced = 0;
  for (long round = 0; round < rounds; round++) {
    struct items items;
    struct arena arena = ARENA_EMPTY;
    struct plan plan;
    random_items(&random, &items);
    struct settings settings = random_settings(&random, &arena);
    int64_t now_ms = (int64_t)random_below(&random, 7000);
    cr_assert_eq(plan_delivery(items.items, items.count, &settings, now_ms, NULL, &arena, &plan),
                 0);
    model_plan(&model, &items, &settings, now_ms, &arena);
    expect_same(&items, &plan, &model, round);
    for (size_t i = 0; i < plan.fate_count; i++) seen[plan.fates[i].outcome]++;
    for (size_t i = 0; i < plan.line_count; i++) {
      shortened += plan.lines[i].shortened;
      coalesced += plan.lines[i].count > 1;
    }
    waited += plan.deferred;
    arena_free(&arena);
  }
  for (unsigned i = OUTCOME_DELIVERED; i < OUTCOME_CLOSED; i++)
    cr_expect_gt(seen[i], (size_t)rounds / 20, "%s hardly happened", outcome_name(i));
  cr_expect(waited > (size_t)rounds / 20 && shortened > (size_t)rounds / 20 &&
                coalesced > (size_t)rounds / 20,
            "%zu %zu %zu", waited, shortened, coalesced);
}
