/* SPDX-License-Identifier: MIT
 *
 * The cost of a block, frame included, in tokens of four bytes; bench/bench_tokens.c prints it for
 * every preset, with the same reports.
 */
#include <tidings/reply.h>

#include "bench/reports.h"
#include "items.h"
#include "render/render.h"
#include "render/report.h"
#include "values/event.h"

TestSuite(cost);

static uint8_t level_of(const char *name) {
  uint8_t level = 0;
  while (level < LEVEL_COUNT && strcmp(level_name(level), name) != 0) level++;
  cr_assert_lt(level, LEVEL_COUNT, "no level is called %s", name);
  return level;
}

static void add_report(struct items *items, struct tidings_span *path, struct arena *arena) {
  struct sample_report report = sample_report_at(items->count);
  struct tidings_span text;
  struct buffer words = BUFFER_EMPTY;
  cr_assert_eq(arena_copy(arena, span_text(report.text), path), 0);
  if (report.is_file) render_file_change(*path, FILE_MODIFIED, span_of(NULL, 0), false, &words);
  else buffer_span(&words, *path);
  cr_assert_eq(arena_copy(arena, buffer_view(&words), &text), 0);
  buffer_free(&words);
  ITEM(items, .source = report.source, .name = report.name, .level = level_of(report.level));
  struct item *item = &items->items[items->count - 1];
  item->note.message = text;
  if (!report.is_file) return;
  item->note.made_by = MADE_BY_FILE_CHANGED;
  item->facts = (struct facts){.paths = path, .path_count = 1, .change = FILE_MODIFIED};
}

/* `bare`: not the session's first block. */
static size_t cost_of(const char *preset, size_t count, bool bare) {
  struct arena arena = ARENA_EMPTY;
  struct items items = {.count = 0};
  struct tidings_span paths[MOST_ITEMS];
  struct buffer out = BUFFER_EMPTY;
  struct plan plan;
  char configuration[64];
  (void)snprintf(configuration, sizeof configuration, "{\"delivery\":{\"preset\":\"%s\"}}", preset);
  struct settings settings = settings_from(configuration, &arena);
  while (items.count < count) add_report(&items, &paths[items.count], &arena);
  cr_assert_eq(plan_delivery(items.items, count, &settings, 0, NULL, &arena, &plan), 0);
  const struct render_input input = {
      .lines = plan.lines,
      .line_count = plan.line_count,
      .deferred = plan.deferred,
      .host_name = span_text("hostsim"),
      .nonce = settings.fence == FENCE_NONCE ? span_text("5f1d3c2b9a8e7061") : span_of(NULL, 0),
      .format = settings.format,
      .place = settings.place,
      .bare = bare && settings.preamble != PREAMBLE_ALWAYS,
      .age_after_ms = settings.age_after_ms};
  render_carrier_text(&input, &out);
  cr_assert(!out.failed);
  size_t tokens = (out.len + 3) / 4;
  buffer_free(&out);
  arena_free(&arena);
  return tokens;
}

Test(cost, of_five_reports_balanced_needs_half_of_grouped_after_its_first_block) {
  size_t grouped = cost_of("grouped", 5, true), first = cost_of("balanced", 5, false),
         later = cost_of("balanced", 5, true), plain = cost_of("plain", 5, true);
  cr_expect_leq(2 * later, grouped, "balanced: %zu tokens, grouped: %zu", later, grouped);
  cr_expect_leq(first, grouped, "the first of balanced: %zu tokens, grouped: %zu", first, grouped);
  cr_expect_leq(plain, later, "plain: %zu tokens, balanced: %zu", plain, later);
}

Test(cost, of_one_report_the_frame_is_most) {
  size_t grouped = cost_of("grouped", 1, true), later = cost_of("balanced", 1, true),
         plain = cost_of("plain", 1, true);
  cr_expect_leq(2 * later, grouped, "balanced: %zu tokens, grouped: %zu", later, grouped);
  cr_expect_leq(3 * plain, grouped, "plain: %zu tokens, grouped: %zu", plain, grouped);
}
