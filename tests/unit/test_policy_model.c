/* SPDX-License-Identifier: MIT
 *
 * The plan against a second, naive one that follows the words of the documentation step by step, on random items and settings.
 */
#include "items.h"

#include <stdlib.h>

struct model {
  struct fate fates[MOST_ITEMS];
  uint64_t places[MOST_ITEMS];
  size_t order[MOST_ITEMS]; /* indices of what is shown */
  size_t shown, deferred;
};

static bool left(const struct model *model, size_t i) { return model->fates[i].outcome == OUTCOME_NONE; }

static void end(struct model *model, size_t i, enum outcome outcome, enum reason reason, uint64_t ref) {
  model->fates[i].outcome = (uint8_t)outcome;
  model->fates[i].reason = (uint8_t)reason;
  model->fates[i].ref = ref;
}

static bool same_key(const struct item *a, const struct item *b) { return a->note.key.len && span_equal(a->note.key, b->note.key); }

static void model_supersede(struct model *model, const struct items *items) {
  bool was_left[MOST_ITEMS];
  for (size_t i = 0; i < items->count; i++) was_left[i] = left(model, i);
  for (size_t i = 0; i < items->count; i++) {
    if (!was_left[i]) continue;
    for (size_t j = i + 1; j < items->count; j++) {
      if (was_left[j] && same_key(&items->items[i], &items->items[j]))
        end(model, i, OUTCOME_SUPERSEDED, REASON_NEWER_KEY, items->items[j].n);
    }
    for (size_t j = i; j-- > 0;) {
      if (was_left[j] && same_key(&items->items[i], &items->items[j])) model->places[i] = items->items[j].n;
    }
  }
}

/* Is there a rule that says false? */
static bool forbidden(const struct settings *settings, const struct notification *note, enum reason reason) {
  if (reason == REASON_MASTER_SWITCH) return !settings->notifications_enabled;
  for (size_t i = 0; reason == REASON_TOOL && i < settings->tool_count; i++) {
    const struct tool_rule *rule = &settings->tools[i];
    if (note->tool.len && span_equal(rule->tool, note->tool) && span_equal(rule->name, note->name) && !rule->enabled) return true;
  }
  for (size_t i = 0; reason != REASON_TOOL && i < settings->kind_count; i++) {
    const struct kind_rule *rule = &settings->kinds[i];
    bool source = span_equal(rule->source, note->source) || (span_is(note->source, "tool") && span_is(rule->source, "handle"));
    enum reason of_rule = rule->whole_source ? REASON_SOURCE : rule->flat ? REASON_FLAT_KIND : REASON_KIND;
    if (source && of_rule == reason && (rule->whole_source || span_equal(rule->name, note->name)) && !rule->enabled) return true;
  }
  return false;
}

static void model_filter(struct model *model, const struct items *items, const struct settings *settings) {
  static const enum reason reasons[] = {REASON_MASTER_SWITCH, REASON_SOURCE, REASON_KIND, REASON_FLAT_KIND, REASON_TOOL};
  for (size_t i = 0; i < items->count; i++) {
    for (size_t r = 0; r < sizeof reasons / sizeof *reasons && left(model, i); r++) {
      if (forbidden(settings, &items->items[i].note, reasons[r])) end(model, i, OUTCOME_FILTERED, reasons[r], 0);
    }
  }
}

static bool goes_before(const struct model *model, const struct items *items, const struct settings *settings, size_t a, size_t b) {
  uint8_t level_a = items->items[a].note.level, level_b = items->items[b].note.level;
  if (settings->order == ORDER_LEVEL && level_a != level_b) return level_a > level_b;
  return settings->order == ORDER_NEWEST ? model->places[a] > model->places[b] : model->places[a] < model->places[b];
}

static void model_rank(struct model *model, const struct items *items, const struct settings *settings) {
  for (size_t i = 0; i < items->count; i++) {
    if (!left(model, i)) continue;
    size_t at = model->shown++;
    for (; at && goes_before(model, items, settings, i, model->order[at - 1]); at--) model->order[at] = model->order[at - 1];
    model->order[at] = i;
  }
}

static bool critical(const struct items *items, size_t i) { return items->items[i].note.level == TIDINGS_LEVEL_CRITICAL; }

/* How many lines of the same source have their turn before line `at`. */
static size_t turn_of(const struct model *model, const struct items *items, size_t at) {
  size_t turn = 0, i = model->order[at];
  for (size_t other = 0; other < model->shown; other++) {
    size_t j = model->order[other];
    if (!span_equal(items->items[i].note.source, items->items[j].note.source)) continue;
    bool before = critical(items, i) == critical(items, j) ? other < at : critical(items, j);
    turn += before;
  }
  return turn;
}

/* Should line b be left out rather than line a? */
static bool outranks(const struct model *model, const struct items *items, uint8_t overflow, size_t a, size_t b) {
  const struct item *item_a = &items->items[model->order[a]], *item_b = &items->items[model->order[b]];
  if (overflow == OVERFLOW_DROP_OLDEST) return item_a->n > item_b->n;
  if (overflow == OVERFLOW_DROP_LOWEST)
    return item_a->note.level != item_b->note.level ? item_a->note.level > item_b->note.level : item_a->n > item_b->n;
  bool critical_a = critical(items, model->order[a]), critical_b = critical(items, model->order[b]);
  if (critical_a != critical_b) return critical_a;
  size_t turn_a = turn_of(model, items, a), turn_b = turn_of(model, items, b);
  return turn_a != turn_b ? turn_a < turn_b : a < b;
}

static void model_cap(struct model *model, const struct items *items, const struct settings *settings) {
  bool kept[MOST_ITEMS];
  for (size_t a = 0; a < model->shown; a++) {
    size_t better = 0;
    for (size_t b = 0; b < model->shown; b++) better += b != a && outranks(model, items, settings->overflow, b, a);
    kept[a] = !settings->max_items || better < settings->max_items;
  }
  size_t shown = 0;
  for (size_t a = 0; a < model->shown; a++) {
    size_t i = model->order[a];
    if (kept[a]) {
      model->order[shown++] = i;
    } else if (settings->overflow == OVERFLOW_DEFER) {
      model->deferred++;
    } else {
      end(model, i, OUTCOME_DROPPED, settings->overflow == OVERFLOW_DROP_OLDEST ? REASON_CAP_OLDEST : REASON_CAP_LOWEST, 0);
    }
  }
  model->shown = shown;
}

static void model_plan(struct model *model, const struct items *items, const struct settings *settings, int64_t now_ms) {
  *model = (struct model){.shown = 0};
  for (size_t i = 0; i < items->count; i++) {
    const struct item *item = &items->items[i];
    model->fates[i].n = model->places[i] = item->n;
    if (item->note.ttl_ms && now_ms - item->time_ms >= item->note.ttl_ms) {
      end(model, i, OUTCOME_EXPIRED, REASON_TTL, 0);
    } else if (item->note.caused_by.len) {
      end(model, i, OUTCOME_WITHDRAWN, REASON_CAUSED_BY, 0);
    }
  }
  model_supersede(model, items);
  model_filter(model, items, settings);
  model_rank(model, items, settings);
  model_cap(model, items, settings);
  for (size_t a = 0; a < model->shown; a++) end(model, model->order[a], OUTCOME_DELIVERED, REASON_SHOWN, 0);
}

static void random_items(struct random *random, struct items *items) {
  static const char *const sources[] = {"tool", "mcp", "handle", "file"}, *const names[] = {"a", "b", ""},
                           *const keys[] = {NULL, NULL, "k1", "k2", "k3"};
  static const char *const tools[] = {NULL, "git", "cargo"};
  items->count = 0;
  size_t count = random_below(random, 40);
  uint64_t n = 1 + random_below(random, 1000);
  for (size_t i = 0; i < count; i++) {
    ITEM(items, .n = n, .source = sources[random_below(random, 4)], .name = names[random_below(random, 3)],
         .key = keys[random_below(random, 5)], .tool = tools[random_below(random, 3)],
         .caused_by = random_below(random, 10) ? NULL : "call", .time_ms = (int64_t)random_below(random, 100),
         .ttl_ms = random_below(random, 4) ? 0 : (int64_t)random_below(random, 100) + 1, .level = (uint8_t)random_below(random, 4));
    n += 1 + random_below(random, 3);
  }
}

/* Rules for all that random_items may make; most of them true, else little is left. */
static struct settings random_settings(struct random *random, struct arena *arena) {
  static const char *const kinds[] = {"\"tool.a\"", "\"mcp.b\"", "\"handle.a\"", "\"handle.b\"", "\"tool\"", "\"file\""};
  struct buffer json = BUFFER_EMPTY;
  const char *separator = "";
  buffer_format(&json, "{\"conversation\":{\"notifications\":{\"enable\":%s,\"kinds\":{", random_below(random, 20) ? "true" : "false");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (random_below(random, 3)) continue;
    buffer_format(&json, "%s%s:%s", separator, kinds[i], random_below(random, 3) ? "true" : "false");
    separator = ",";
  }
  if (random_below(random, 2))
    buffer_format(&json, "%s\"mcp\":{\"a\":%s,\"enable\":%s}", separator, random_below(random, 2) ? "true" : "false",
                  random_below(random, 4) ? "true" : "false");
  buffer_format(&json, "}},\"tools\":{\"git\":{\"notifications\":{\"a\":%s,\"b\":true}}}},", random_below(random, 2) ? "true" : "false");
  static const char *const orders[] = {"level", "time", "newest"}, *const overflows[] = {"defer", "drop_oldest", "drop_lowest"};
  buffer_format(&json, "\"delivery\":{\"order\":\"%s\",\"overflow\":\"%s\",\"max_items\":%zu}}", orders[random_below(random, 3)],
                overflows[random_below(random, 3)], random_below(random, 12));
  buffer_byte(&json, '\0');
  struct settings settings = settings_from(json.bytes, arena);
  buffer_free(&json);
  return settings;
}

static void expect_same(const struct items *items, const struct plan *plan, const struct model *model, int round) {
  cr_assert_eq(plan->line_count, model->shown, "round %d: %zu lines, expected %zu", round, plan->line_count, model->shown);
  cr_assert_eq(plan->deferred, model->deferred, "round %d", round);
  for (size_t a = 0; a < model->shown; a++) {
    cr_assert_eq(plan->lines[a].item, &items->items[model->order[a]], "round %d: line %zu is %llu, expected %llu", round, a,
                 (unsigned long long)plan->lines[a].item->n, (unsigned long long)items->items[model->order[a]].n);
    cr_assert_eq(plan->lines[a].place, model->places[model->order[a]], "round %d: place of line %zu", round, a);
  }
  size_t f = 0;
  for (size_t i = 0; i < items->count; i++) {
    const struct fate *expected = &model->fates[i];
    if (expected->outcome == OUTCOME_NONE) continue;
    cr_assert_lt(f, plan->fate_count, "round %d: no fate of %llu", round, (unsigned long long)expected->n);
    const struct fate *got = &plan->fates[f++];
    cr_assert(got->n == expected->n && got->outcome == expected->outcome && got->reason == expected->reason && got->ref == expected->ref,
              "round %d: got %llu %s/%u>%llu, expected %llu %s/%u>%llu", round, (unsigned long long)got->n, outcome_name(got->outcome),
              got->reason, (unsigned long long)got->ref, (unsigned long long)expected->n, outcome_name(expected->outcome), expected->reason,
              (unsigned long long)expected->ref);
  }
  cr_assert_eq(f, plan->fate_count, "round %d: more fates than items ended", round);
  cr_assert_eq(plan->fate_count + plan->deferred, items->count, "round %d: every item has one fate or waits", round);
}

Test(policy_model, both_plans_are_the_same) {
  struct random random = {1};
  size_t seen[OUTCOME_COUNT] = {0}, waited = 0;
  for (int round = 0; round < 20000; round++) {
    struct items items;
    struct arena arena = ARENA_EMPTY;
    struct model model;
    struct plan plan;
    random_items(&random, &items);
    struct settings settings = random_settings(&random, &arena);
    int64_t now_ms = (int64_t)random_below(&random, 150);
    cr_assert_eq(plan_delivery(items.items, items.count, &settings, now_ms, &arena, &plan), 0);
    model_plan(&model, &items, &settings, now_ms);
    expect_same(&items, &plan, &model, round);
    for (size_t i = 0; i < plan.fate_count; i++) seen[plan.fates[i].outcome]++;
    waited += plan.deferred;
    arena_free(&arena);
  }
  static const enum outcome expected[] = {OUTCOME_DELIVERED, OUTCOME_SUPERSEDED, OUTCOME_WITHDRAWN,
                                          OUTCOME_EXPIRED,   OUTCOME_FILTERED,   OUTCOME_DROPPED};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    cr_expect_gt(seen[expected[i]], 1000, "%s hardly happened", outcome_name(expected[i]));
  cr_expect_gt(waited, 1000);
}
