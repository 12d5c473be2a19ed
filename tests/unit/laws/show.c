/* SPDX-License-Identifier: MIT
 *
 * tests/unit/laws/show.c: the plan, the bytes, and the lines that a reader finds in them. An item's
 * line follows only from its disposition and the plan's order.
 */
#include "laws.h"

/* Markdown that is grouped by level shows the plan's lines level by level. */
static bool is_grouped(uint8_t format) {
  return format == FORMAT_MARKDOWN || format == FORMAT_OPENAI || format == FORMAT_ANTHROPIC;
}

/* The plan's line that stands at a place of the reading. */
static size_t line_at(const struct round *round, size_t place) {
  if (!is_grouped(round->settings.format)) return place;
  for (unsigned level = LEVEL_COUNT; level-- > 0;) {
    for (size_t l = 0; l < round->plan.line_count; l++) {
      if (round->plan.lines[l].level == level && place-- == 0) return l;
    }
  }
  return NO_LINE;
}

static size_t index_of(const struct round *round, uint64_t n) {
  size_t i = 0;
  while (i < round->items.count && round->items.items[i].n != n) i++;
  return i;
}

/* A waiting report of files also gives way, and keeps no place. */
static bool leaves_its_place(const struct round *round, size_t i) {
  bool waited = is_file(round, i) && round->dispositions[i] &&
                round->dispositions[i]->reason == REASON_NEWER_STATE;
  return ended_as(round, i, OUTCOME_SUPERSEDED) && !waited;
}

static void follow_dispositions(struct round *round) {
  for (size_t i = 0; i < round->items.count; i++) {
    round->lines[i] = NO_LINE;
    round->places[i] = round->items.items[i].n;
  }
  for (size_t f = 0; f < round->plan.disposition_count; f++)
    round->dispositions[index_of(round, round->plan.dispositions[f].n)] =
        &round->plan.dispositions[f];
  for (size_t i = 0; i < round->items.count; i++) {
    size_t winner = i;
    while (leaves_its_place(round, winner))
      winner = index_of(round, round->dispositions[winner]->ref);
    if (round->items.items[i].n < round->places[winner])
      round->places[winner] = round->items.items[i].n;
  }
  for (size_t place = 0; place < round->plan.line_count; place++) {
    uint64_t first = round->plan.lines[line_at(round, place)].item->n;
    for (size_t i = 0; i < round->items.count; i++) {
      if (!ended_as(round, i, OUTCOME_DELIVERED)) continue;
      if (round->items.items[i].n == first || round->dispositions[i]->ref == first)
        round->lines[i] = place;
    }
  }
}

static int plan_with(struct round *round, const struct room *room, const struct settings *settings,
                     struct plan *ret_plan) {
  return plan_delivery_in(room, NULL, round->items.items, round->items.count, settings,
                          round->now_ms, NULL, &round->arena, ret_plan);
}

static uint64_t steered_bytes(const struct round *round) {
  struct buffer scratch = BUFFER_EMPTY;
  uint64_t bytes;
  cr_assert_eq(render_bytes(&round->input, &scratch, &bytes), 0);
  buffer_free(&scratch);
  return bytes;
}

/* Returns exactly the room that the first lines need, or one byte less. */
static uint64_t exact_room(struct round *round) {
  struct plan plan;
  cr_assert_eq(plan_with(round, NULL, &round->settings, &plan), 0);
  size_t count = round->aims_at < plan.line_count ? round->aims_at : plan.line_count;
  struct render_input input = round->input;
  struct buffer scratch = BUFFER_EMPTY;
  uint64_t bytes;
  input.lines = plan.lines;
  input.line_count = count;
  input.deferred = plan.deferred + plan.line_count - count;
  cr_assert_eq(render_bytes(&input, &scratch, &bytes), 0);
  buffer_free(&scratch);
  return bytes > 1 ? bytes - (uint64_t)(round->number % 2) : 1;
}

/* The user's words go first; words without room wait for another carrier. */
static void take_room(struct round *round) {
  round->taken = steered_bytes(round);
  while (round->room && round->taken > round->room) {
    round->steered_count--;
    round->input.steered_count--;
    round->taken = steered_bytes(round);
  }
}

/* The bytes as they are handed out, and what a reader makes of them. */
static void read_back(struct round *round, const struct rendered *messages, size_t count) {
  struct buffer all = BUFFER_EMPTY;
  struct reading_part *parts = arena_array(&round->arena, count + 1, sizeof *parts);
  cr_assert_not_null(parts);
  for (size_t i = 0; i < count; i++) {
    parts[i] = (struct reading_part){messages[i].role, messages[i].place, messages[i].text};
    buffer_span(&all, messages[i].text);
  }
  cr_assert(!all.failed && !arena_copy(&round->arena, buffer_view(&all), &round->bytes));
  buffer_free(&all);
  cr_assert_eq(reading_of_parts(round->format, round->input.nonce, parts, count, &round->arena,
                                &round->reading),
               0);
  LAW(round, !round->reading.problem, round->reading.problem, 0);
  LAW(round, round->reading.bytes == round->bytes.len, "a part was not read", count);
}

void laws_show(struct round *round) {
  struct settings roomy = round->settings;
  const struct rendered *messages;
  size_t count;
  if (round->aims_at) round->room = exact_room(round);
  take_room(round);
  const struct room room = {.frame = &round->input, .bytes = round->room, .taken = round->taken};
  roomy.max_items = roomy.max_tokens = 0;
  cr_assert_eq(plan_with(round, NULL, &roomy, &round->roomy), 0);
  cr_assert_eq(plan_with(round, round->room ? &room : NULL, &round->settings, &round->plan), 0);
  round->input.lines = round->plan.lines;
  round->input.line_count = round->plan.line_count;
  round->input.deferred = round->plan.deferred;
  follow_dispositions(round);
  cr_assert_eq(render_messages(&round->input, &round->arena, &messages, &count), 0);
  read_back(round, messages, count);
}
