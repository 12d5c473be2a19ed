/* SPDX-License-Identifier: MIT
 *
 * A plan of the items that a backlog chooses equals the plan of all pending items. The test makes
 * 1,000 rounds with random items and settings, or as many as TIDINGS_POLICY_ROUNDS says.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <tidings/reply.h>

#include "kit.h"
#include "rules/policy/backlog.h"

enum { MOST = 1500, TEXTS = 12, STEP_MS = 150, SPECIAL_ONE_IN = 150 };

struct round {
  struct arena arena;
  struct item items[MOST]; /* all that were pushed */
  size_t count;
  struct backlog_range ranges[8];
  size_t range_count;
  struct item pending[MOST];
  size_t pending_count;
  struct settings settings;
  int64_t now_ms;
  uint64_t pinned;
  struct render_input frame;
  struct room room;
  bool has_room, any_late;
};

struct outcomes {
  size_t same, all, short_of, joined, capped;
};

static const char *random_text(struct random *random, struct arena *arena, bool different) {
  char *text = arena_alloc(arena, 400);
  static const char tail[] = ": a text that is so long that it needs more room than the others, "
                             "and goes on\nin a second line, and further on in it";
  size_t n = different ? random_below(random, 1000000) : random_below(random, TEXTS);
  snprintf(text, 400, "message %zu%s", n, random_below(random, 8) ? "" : tail);
  return text;
}

static void make_special(struct random *random, struct item *item) {
  static const char *const keys[] = {"k1", "k2"};
  switch (random_below(random, 4)) {
  case 0: item->note.key = span_text(keys[random_below(random, 2)]); break;
  case 1: item->note.caused_by = span_text("call"); break;
  case 2:
    item->note.handle = span_text("h_1");
    item->note.made_by = MADE_BY_HANDLE_STATE;
    break;
  default: item->note.made_by = MADE_BY_BUDGET_USAGE; break;
  }
}

/* Mostly for later; else of another session. */
static void make_late(struct random *random, struct item *item) {
  item->late = true;
  item->copied = random_below(random, 100) == 0;
  if (!item->copied) item->note.due_ms = 1;
  item->time_ms += (int64_t)random_below(random, 20000) * (item->copied ? -1 : 1);
}

static void push_items(struct random *random, struct round *round) {
  static const char *const sources[] = {"ci", "mail", "tool", "cron", "web"};
  static const char *const names[] = {"", "a", "b"}, *const tools[] = {"", "", "git"};
  size_t source_count = 1 + random_below(random, 5), levels = 1 + random_below(random, 4);
  size_t specials = random_below(random, 3) ? SPECIAL_ONE_IN : MOST * MOST;
  bool different = random_below(random, 2), kinds_vary = random_below(random, 2);
  size_t backward = random_below(random, 2) ? 40 : MOST * MOST;
  size_t step_ms = random_below(random, 3) ? STEP_MS : 3; /* in a burst a window has many lines */
  int64_t time_ms = 1000000;
  uint64_t n = random_below(random, 100);
  bool has_late = random_below(random, 2);
  round->any_late = false;
  round->count = 400 + random_below(random, MOST - 400);
  for (size_t i = 0; i < round->count; i++) {
    struct item *item = &round->items[i];
    size_t way = random_below(random, backward);
    time_ms += way ? (int64_t)random_below(random, step_ms) : -(int64_t)random_below(random, 3000);
    n++;
    *item = (struct item){.n = n, .time_ms = time_ms};
    item->note.source = span_text(sources[random_below(random, source_count)]);
    item->note.name = span_text(kinds_vary ? names[random_below(random, 3)] : "");
    item->note.tool = span_text(tools[random_below(random, 3)]);
    item->note.message = span_text(random_text(random, &round->arena, different));
    item->note.level = random_below(random, 3) ? 0 : (uint8_t)random_below(random, levels);
    if (random_below(random, 30) == 0)
      item->note.ttl_ms = 1 + (int64_t)random_below(random, 400000);
    if (random_below(random, specials) == 0) make_special(random, item);
    if (has_late && random_below(random, specials) == 0) make_late(random, item);
    round->any_late = round->any_late || item->late;
  }
  round->now_ms = time_ms + (int64_t)random_below(random, 1000);
}

/* Some were leased, as the head says. */
static void find_pending(struct random *random, struct round *round) {
  uint64_t first = round->items[0].n, last = round->items[round->count - 1].n;
  round->range_count = round->pending_count = 0;
  for (size_t gaps = random_below(random, 6); gaps && first < last; gaps--) {
    uint64_t end = first + random_below(random, (size_t)(last - first));
    round->ranges[round->range_count++] = (struct backlog_range){first, end};
    first = end + 2 + random_below(random, 5);
  }
  if (first <= last) round->ranges[round->range_count++] = (struct backlog_range){first, last};
  for (size_t i = 0, r = 0; i < round->count; i++) {
    while (r < round->range_count && round->ranges[r].last < round->items[i].n) r++;
    if (r < round->range_count && round->items[i].n >= round->ranges[r].first)
      round->pending[round->pending_count++] = round->items[i];
  }
}

static void choose_settings(struct random *random, struct round *round) {
  static const char *const orders[] = {"level", "time", "newest"};
  struct buffer json = BUFFER_EMPTY;
  const char *annihilates = random_below(random, 2) ? "true" : "false";
  const char *cron = random_below(random, 4) ? "true" : "false";
  const char *git = random_below(random, 4) ? "true" : "false";
  size_t most_items = random_below(random, 12);
  size_t most_tokens = random_below(random, 2) ? random_below(random, 200) : 0;
  size_t window_ms = random_below(random, 3) ? random_below(random, 3000) : 0;
  buffer_format(&json,
                "{\"delivery\":{\"order\":\"%s\",\"max_items\":%zu,\"max_tokens\":%zu,"
                "\"coalesce_window_ms\":%zu,\"annihilate\":%s},"
                "\"conversation\":{\"notifications\":{\"kinds\":{\"cron\":{\"enable\":%s}}},"
                "\"tools\":{\"git\":{\"notifications\":{\"a\":%s}}}}}",
                orders[random_below(random, 3)], most_items, most_tokens, window_ms, annihilates,
                cron, git);
  buffer_byte(&json, '\0');
  round->settings = settings_from(json.bytes, &round->arena);
  buffer_free(&json);
  round->frame = (struct render_input){.format = (uint8_t)random_below(random, FORMAT_COUNT),
                                       .place = TIDINGS_PLACE_APPEND,
                                       .now_ms = round->now_ms};
  round->room = (struct room){.frame = &round->frame, .bytes = 200 + random_below(random, 8000)};
  round->has_room = random_below(random, 3) > 0;
  size_t pinned = random_below(random, 12 * round->count);
  round->pinned = pinned < round->count ? round->items[pinned].n : 0;
}

static struct plan plan_of(struct round *round, const struct rest *rest, struct item *items,
                           size_t count) {
  struct plan plan;
  for (size_t i = 0; i < count; i++) items[i].pinned = items[i].n == round->pinned;
  cr_assert_eq(plan_delivery_in(round->has_room ? &round->room : NULL, rest, items, count,
                                &round->settings, round->now_ms, NULL, &round->arena, &plan),
               0);
  return plan;
}

static int note_item(struct backlog *backlog, const struct item *item) {
  struct outline_kind kind;
  const struct outline outline = outline_of(item, &kind);
  return backlog_add(backlog, &outline);
}

static struct backlog *note_items(struct random *random, const struct round *round) {
  struct backlog *backlog = backlog_make();
  size_t first = random_below(random, round->count);
  cr_assert(backlog);
  for (size_t i = 0; i < round->count; i++) {
    if (i == first && round->range_count) backlog_forget_below(backlog, round->ranges[0].first);
    cr_assert_eq(note_item(backlog, &round->items[i]), 0);
  }
  cr_assert_eq(backlog_newest(backlog), round->items[round->count - 1].n);
  return backlog;
}

/* The places of late items are those in the plan, which has fewer items. */
static void expect_same_lines(const struct plan *got, const struct plan *expected, bool any_late,
                              long number) {
  cr_assert_eq(got->line_count, expected->line_count, "round %ld: %zu lines, expected %zu", number,
               got->line_count, expected->line_count);
  for (size_t i = 0; i < got->line_count; i++) {
    const struct line *a = &got->lines[i], *b = &expected->lines[i];
    cr_assert_eq(a->item->n, b->item->n, "round %ld: line %zu is %llu, expected %llu", number, i,
                 (unsigned long long)a->item->n, (unsigned long long)b->item->n);
    bool same = a->newest == b->newest && a->place == b->place && a->group == b->group;
    cr_assert((any_late || same) && a->count == b->count && a->shortened == b->shortened &&
                  span_equal(a->message, b->message),
              "round %ld: line %zu", number, i);
  }
}

static void expect_same_plan(const struct plan *got, const struct plan *expected, bool any_late,
                             long number) {
  expect_same_lines(got, expected, any_late, number);
  cr_assert_eq(got->deferred, expected->deferred, "round %ld: %zu wait, expected %zu", number,
               got->deferred, expected->deferred);
  cr_assert(got->too_large == expected->too_large &&
                got->too_large_newest == expected->too_large_newest,
            "round %ld", number);
  cr_assert_eq(got->disposition_count, expected->disposition_count, "round %ld: %zu end, not %zu",
               number, got->disposition_count, expected->disposition_count);
  for (size_t i = 0; i < got->disposition_count; i++) {
    const struct disposition *a = &got->dispositions[i], *b = &expected->dispositions[i];
    cr_assert(a->n == b->n && a->ref == b->ref && a->outcome == b->outcome &&
                  a->reason == b->reason,
              "round %ld: item %llu", number, (unsigned long long)b->n);
  }
}

static void compare_plans(struct random *random, struct round *round, struct backlog *backlog,
                          struct outcomes *outcomes, long number) {
  static struct item chosen[MOST];
  const struct backlog_wanted wanted = {.pending = round->ranges,
                                        .pending_count = round->range_count,
                                        .settings = &round->settings,
                                        .now_ms = round->now_ms,
                                        .pinned = round->pinned,
                                        .reach = 8 + random_below(random, 64)};
  struct backlog_choice choice;
  size_t count = 0;
  cr_assert_eq(backlog_choose(backlog, &wanted, &round->arena, &choice), 0);
  if (choice.all || (choice.times_mixed && round->any_late)) {
    outcomes->all++;
    return;
  }
  cr_assert_eq(choice.noted, round->pending_count);
  for (size_t i = 0; i < round->pending_count && count < choice.count; i++)
    if (round->pending[i].n == choice.items[count]) chosen[count++] = round->pending[i];
  cr_assert_eq(count, choice.count, "round %ld: what is chosen is pending, and in order", number);
  struct plan got = plan_of(round, &choice.rest, chosen, count);
  if (got.falls_short) {
    outcomes->short_of++;
    return;
  }
  struct plan expected = plan_of(round, NULL, round->pending, round->pending_count);
  expect_same_plan(&got, &expected, round->any_late, number);
  outcomes->same++;
  outcomes->capped += got.line_count == round->settings.max_items;
  for (size_t i = 0; i < got.line_count; i++) outcomes->joined += got.lines[i].count > 1;
}

static void play_backlog(struct random *random, struct outcomes *outcomes, long number) {
  static struct round round;
  round.arena = (struct arena)ARENA_EMPTY;
  push_items(random, &round);
  find_pending(random, &round);
  choose_settings(random, &round);
  struct backlog *backlog = note_items(random, &round);
  compare_plans(random, &round, backlog, outcomes, number);
  compare_plans(random, &round, backlog, outcomes, number);
  backlog_free(backlog);
  arena_free(&round.arena);
}

Test(backlog, a_plan_of_what_is_chosen_is_the_plan_of_all) {
  const char *given = getenv("TIDINGS_POLICY_ROUNDS");
  long rounds = given ? strtol(given, NULL, 10) : 1000;
  struct random random = {given ? (uint64_t)rounds : 1};
  struct outcomes outcomes = {.same = 0};
  for (long number = 0; number < rounds; number++) play_backlog(&random, &outcomes, number);
  size_t often = (size_t)rounds / 10;
  cr_expect(outcomes.same > 4 * often && outcomes.short_of > often / 2 &&
                outcomes.joined > often / 4 && outcomes.capped > often,
            "%zu same, %zu of all, %zu short, %zu joined, %zu capped", outcomes.same, outcomes.all,
            outcomes.short_of, outcomes.joined, outcomes.capped);
}

Test(backlog, what_has_changed_is_not_known) {
  struct item item = {
      .n = 7, .time_ms = 5, .note = {.source = span_text("ci"), .message = span_text("red")}};
  struct backlog *backlog = backlog_make();
  cr_assert_eq(note_item(backlog, &item), 0);
  cr_expect(backlog_knows(backlog, &item));
  item.note.message = span_text("green");
  cr_expect(!backlog_knows(backlog, &item));
  item.note.message = span_text("red");
  item.note.level = TIDINGS_LEVEL_ERROR;
  cr_expect(!backlog_knows(backlog, &item));
  item.note.level = 0;
  item.n = 8;
  cr_expect(!backlog_knows(backlog, &item));
  backlog_free(backlog);
}
