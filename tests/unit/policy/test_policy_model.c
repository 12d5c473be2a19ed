/* SPDX-License-Identifier: MIT
 *
 * The plan against a second, naive one on random items and settings: 20,000 of them, or as many as
 * TIDINGS_POLICY_ROUNDS says.
 */
#include <stdlib.h>
#include <tidings/reply.h>

#include "policy_model_lines.h"

/* Texts of one line, of several, and long ones. */
static const char *random_message(struct random *random) {
  static const char *const messages[] = {
      "m",
      "short",
      "first line\nsecond line of the same message, and quite a bit longer than the first one is",
      "one long line that goes on and on, so that a small number of tokens cannot hold it, "
      "whatever else waits",
      "a\nb",
      "\n  \nonly the third line says something\nand after it comes another that is so long that "
      "it "
      "needs many more tokens than there are as a rule, so that this message is often cut",
      "a line of more than two hundred bytes: "
      "éééééééééééééééééééééééééééééééééééééééééééééééééééééé"
      "éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé and "
      "its "
      "end\nand another",
      "a line of middling length\nand another"};
  return messages[random_below(random, sizeof messages / sizeof *messages)];
}

static struct facts random_facts(struct random *random) {
  static const struct tidings_span paths[] = {
      {"a.c", 3},    {"b.c", 3}, {"src/c.c", 7}, {"a.c", 3}, {"long/path/to/some/file.txt", 26},
      {"src/d.c", 7}};
  static const struct tidings_span stamps[] = {{"1:2:3", 5}, {"1:2:4", 5}, {"", 0}, {"1:2:3", 5},
                                               {"", 0},      {"1:2:4", 5}, {"", 0}};
  static const struct tidings_span servers[] = {{"", 0}, {"github", 6}, {"db", 2}};
  enum { PATHS = sizeof paths / sizeof *paths };
  struct facts facts = {.server = servers[random_below(random, 3)],
                        .provider = servers[random_below(random, 3)],
                        .change = (uint8_t)random_below(random, 4),
                        .retry_after_ms = (int64_t)random_below(random, 5000)};
  if (random_below(random, 3)) {
    size_t first = random_below(random, PATHS), most = PATHS - first;
    facts.paths = paths + first;
    facts.path_count = random_below(random, 2) ? 1 : 1 + random_below(random, most < 3 ? most : 3);
    if (random_below(random, 2)) facts.stamps = stamps + random_below(random, 5);
  }
  return facts;
}

/* Chooses the item's maker and name, as producers set them or as anybody may. */
static void random_maker(struct random *random, struct item *item) {
  static const char *const states[] = {"disconnected", "unresponsive", "reconnected"};
  static const char *const handles[] = {"h_1", "h_2", ""};
  item->note.made_by = (uint8_t)random_below(random, MAKER_COUNT);
  if (random_below(random, 2)) item->note.made_by = MADE_BY_NOTIFICATION;
  if (random_below(random, 3) == 0) item->note.made_by = MADE_BY_FILE_CHANGED;
  item->note.handle = span_text(handles[random_below(random, 3)]);
  item->facts = random_facts(random);
  switch (item->note.made_by) {
  case MADE_BY_MCP_STATE:
    item->note.source = span_text("mcp");
    item->note.name = span_text(states[random_below(random, 3)]);
    break;
  case MADE_BY_FILE_CHANGED:
    item->note.source = span_text("file");
    item->note.name = span_text("changed");
    if (random_below(random, 10)) item->note.level = TIDINGS_LEVEL_INFO;
    if (random_below(random, 8)) item->note.tool = span_of(NULL, 0);
    break;
  default: break;
  }
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
    ITEM(items, .n = n, .source = sources[random_below(random, 4)],
         .name = names[random_below(random, 3)], .message = random_message(random),
         .key = keys[random_below(random, 7)], .tool = tools[random_below(random, 3)],
         .caused_by = random_below(random, 10) ? NULL : "call",
         .time_ms = (int64_t)random_below(random, 5000),
         .ttl_ms = random_below(random, 4) ? 0 : (int64_t)random_below(random, 5000) + 1,
         .level = (uint8_t)random_below(random, 4), .pinned = random_below(random, 16) == 0);
    if (random_below(random, 8) == 0)
      items->items[i].note.occurred_ms = 1 + (int64_t)random_below(random, 5000);
    random_maker(random, &items->items[i]);
    n += 1 + random_below(random, 3);
  }
}

/* The settings with which the block is rendered: any format, with and without the sentences at its
 * beginning. */
static struct render_input random_frame(struct random *random, int64_t now_ms) {
  static const struct tidings_span hosts[] = {{"", 0}, {"JP", 2}};
  static const uint8_t places[] = {TIDINGS_PLACE_PREPEND, TIDINGS_PLACE_APPEND};
  return (struct render_input){
      .host_name = hosts[random_below(random, 2)],
      .nonce = random_below(random, 2) ? span_text("0123456789abcdef") : span_of(NULL, 0),
      .format = (uint8_t)random_below(random, FORMAT_COUNT),
      .place = places[random_below(random, 2)],
      .chat_request = random_below(random, 2),
      .bare = random_below(random, 2),
      .now_ms = now_ms,
      .age_after_ms = random_below(random, 2) ? 1 + (uint32_t)random_below(random, 5000) : 0};
}

/* Chooses exactly the bytes that some of the shown lines need, one byte less, or any number. */
static uint64_t random_room(struct random *random, const struct model *model,
                            const struct items *items, const struct render_input *frame) {
  const struct model_line *lines[MOST_ITEMS];
  size_t most[] = {200, 700, 1500, 4000}, count = 0, all = model->shown + model->deferred;
  if (!model->shown || random_below(random, 2))
    return 1 + random_below(random, most[random_below(random, 4)]);
  size_t wanted = 1 + random_below(random, model->shown);
  for (; count < wanted; count++) lines[count] = &model->lines[count];
  uint64_t bytes = model_block_bytes(items, frame, lines, count, all - count);
  return bytes - random_below(random, 2);
}

static const char *random_truth(struct random *random, size_t chances) {
  return random_below(random, chances) ? "true" : "false";
}

/* Makes rules for all kinds that random_items may make. Most rules are true, because otherwise few
 * items are left. */
static struct settings random_settings(struct random *random, struct arena *arena) {
  static const char *const kinds[] = {"\"tool.a\"",   "\"mcp.b\"", "\"handle.a\"",
                                      "\"handle.b\"", "\"tool\"",  "\"file\""};
  static const char *const values[] = {"true", "true", "true", "true", "false", "\"critical\""};
  struct buffer json = BUFFER_EMPTY;
  const char *separator = "";
  buffer_format(&json, "{\"conversation\":{\"notifications\":{\"enable\":%s,\"kinds\":{",
                random_truth(random, 20));
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (random_below(random, 3)) continue;
    buffer_format(&json, "%s%s:%s", separator, kinds[i],
                  values[random_below(random, sizeof values / sizeof *values)]);
    separator = ",";
  }
  /* The calls are separate statements, because compilers evaluate arguments in any order. */
  const char *truth = random_truth(random, 2), *enabled = random_truth(random, 4);
  if (random_below(random, 2))
    buffer_format(&json, "%s\"mcp\":{\"a\":%s,\"enable\":%s}", separator, truth, enabled);
  buffer_format(&json, "}},\"tools\":{\"git\":{\"notifications\":{\"a\":%s,\"b\":true}}}},",
                random_truth(random, 2));
  static const char *const orders[] = {"level", "time", "newest"}, *const overflows[] = {
                                                                       "defer", "drop_oldest",
                                                                       "drop_lowest"};
  size_t order = random_below(random, 3), overflow = random_below(random, 3);
  size_t most_items = random_below(random, 12);
  size_t most_tokens = random_below(random, 2) ? 0 : random_below(random, 120);
  size_t window_ms = random_below(random, 3) ? 0 : random_below(random, 3000);
  truth = random_truth(random, 2);
  buffer_format(
      &json,
      "\"delivery\":{\"order\":\"%s\",\"overflow\":\"%s\",\"max_items\":%zu,\"max_tokens\":%zu,"
      "\"coalesce_window_ms\":%zu,\"annihilate\":%s},\"limits\":{\"message_bytes\":%zu}}",
      orders[order], overflows[overflow], most_items, most_tokens, window_ms, truth,
      64 + random_below(random, 100));
  buffer_byte(&json, '\0');
  struct settings settings = settings_from(json.bytes, arena);
  buffer_free(&json);
  return settings;
}

static void expect_same_line(const struct items *items, const struct line *line,
                             const struct model_line *expected, long round) {
  cr_assert_eq(line->item->n, items->items[expected->items[0]].n,
               "round %ld: a line is %llu, expected %llu", round, (unsigned long long)line->item->n,
               (unsigned long long)items->items[expected->items[0]].n);
  cr_assert(span_equal(line->message, expected->message), "round %ld: got\n%.*s\nexpected\n%.*s",
            round, SPAN_FORMAT(line->message), SPAN_FORMAT(expected->message));
  cr_assert(line->place == expected->place && line->group == expected->group &&
                line->newest == expected->newest && line->count == expected->count &&
                line->time_ms == expected->time_ms,
            "round %ld", round);
  cr_assert(line->level == expected->level && line->shortened == expected->shortened &&
                line->pinned == expected->pinned,
            "round %ld", round);
}

static void expect_same(const struct items *items, const struct plan *plan,
                        const struct model *model, long round) {
  cr_assert_eq(plan->line_count, model->shown, "round %ld: %zu lines, expected %zu", round,
               plan->line_count, model->shown);
  cr_assert_eq(plan->deferred, model->deferred, "round %ld: %zu lines wait, expected %zu", round,
               plan->deferred, model->deferred);
  cr_assert(
      plan->too_large == model->too_large && plan->too_large_newest == model->too_large_newest,
      "round %ld: %zu lines step aside, expected %zu", round, plan->too_large, model->too_large);
  for (size_t a = 0; a < model->shown; a++)
    expect_same_line(items, &plan->lines[a], &model->lines[a], round);
  size_t f = 0;
  for (size_t i = 0; i < items->count; i++) {
    const struct disposition *expected = &model->dispositions[i];
    if (expected->outcome == OUTCOME_NONE) continue;
    cr_assert_lt(f, plan->disposition_count, "round %ld: no disposition of %llu", round,
                 (unsigned long long)expected->n);
    const struct disposition *got = &plan->dispositions[f++];
    cr_assert(got->n == expected->n && got->outcome == expected->outcome &&
                  got->reason == expected->reason && got->ref == expected->ref,
              "round %ld: got %llu %s/%u>%llu, expected %llu %s/%u>%llu", round,
              (unsigned long long)got->n, outcome_name(got->outcome), got->reason,
              (unsigned long long)got->ref, (unsigned long long)expected->n,
              outcome_name(expected->outcome), expected->reason, (unsigned long long)expected->ref);
  }
  cr_assert_eq(f, plan->disposition_count, "round %ld: more dispositions than items ended", round);
  cr_assert_eq(plan->disposition_count + model->waiting + model->awaited, items->count,
               "round %ld: every item has one disposition or waits", round);
}

struct tried {
  size_t outcomes[OUTCOME_COUNT], waited, shortened, coalesced;
  size_t small, too_large,
      cut; /* rooms too small for all; lines that step aside or are cut there */
};

static void count_plan(struct tried *tried, const struct plan *plan) {
  for (size_t i = 0; i < plan->disposition_count; i++)
    tried->outcomes[plan->dispositions[i].outcome]++;
  for (size_t i = 0; i < plan->line_count; i++) {
    tried->shortened += plan->lines[i].shortened;
    tried->coalesced += plan->lines[i].count > 1;
  }
  tried->waited += plan->deferred;
}

static size_t count_shortened(const struct plan *plan) {
  size_t count = 0;
  for (size_t i = 0; i < plan->line_count; i++) count += plan->lines[i].shortened;
  return count;
}

/* Plans the same items on a carrier with little room. `all`: the plan without a bound; it is used
 * up. */
static void play_in_room(struct random *random, const struct items *items,
                         const struct settings *settings, int64_t now_ms, const struct plan *all,
                         struct model *model, struct tried *tried, long round) {
  struct arena *arena = model->arena;
  struct plan plan;
  const struct render_input frame = random_frame(random, now_ms);
  struct room room = {.frame = &frame, .bytes = random_room(random, model, items, &frame)};
  if (random_below(random, 4) == 0) room.taken = random_below(random, 400);
  if (random_below(random, 2)) room.bytes += room.taken;
  cr_assert_eq(plan_delivery_in(&room, NULL, items->items, items->count, settings, now_ms, NULL,
                                arena, &plan),
               0);
  model_plan(model, items, settings, now_ms, &room, arena);
  expect_same(items, &plan, model, round);
  tried->small += plan.line_count < all->line_count;
  tried->too_large += plan.too_large;
  tried->cut += count_shortened(&plan) > count_shortened(all);
}

static void play(struct random *random, struct tried *tried, long round) {
  static struct model model;
  struct items items;
  struct arena arena = ARENA_EMPTY;
  struct plan plan;
  random_items(random, &items);
  struct settings settings = random_settings(random, &arena);
  int64_t now_ms = (int64_t)random_below(random, random_below(random, 8) ? 7000 : 80000);
  cr_assert_eq(plan_delivery(items.items, items.count, &settings, now_ms, NULL, &arena, &plan), 0);
  model_plan(&model, &items, &settings, now_ms, NULL, &arena);
  expect_same(&items, &plan, &model, round);
  count_plan(tried, &plan);
  if (random_below(random, 2))
    play_in_room(random, &items, &settings, now_ms, &plan, &model, tried, round);
  arena_free(&arena);
}

Test(policy_model, both_plans_are_the_same) {
  const char *given = getenv("TIDINGS_POLICY_ROUNDS");
  long rounds = given ? strtol(given, NULL, 10) : 20000;
  struct random random = {given ? (uint64_t)rounds : 1};
  struct tried tried = {.waited = 0};
  size_t often = (size_t)rounds / 20;
  for (long round = 0; round < rounds; round++) play(&random, &tried, round);
  for (unsigned i = OUTCOME_DELIVERED; i < OUTCOME_CLOSED; i++)
    cr_expect_gt(tried.outcomes[i], often, "%s hardly happened", outcome_name(i));
  cr_expect(tried.waited > often && tried.shortened > often && tried.coalesced > often / 2,
            "%zu %zu %zu", tried.waited, tried.shortened, tried.coalesced);
  cr_expect(tried.small > often && tried.too_large > often && tried.cut > often / 4, "%zu %zu %zu",
            tried.small, tried.too_large, tried.cut);
}
