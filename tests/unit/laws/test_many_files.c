/* SPDX-License-Identifier: MIT
 *
 * If ten thousand files change at once, one line names ten of them and counts all; a line with less
 * room names fewer. All items are delivered, and the outcome of each says how.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tidings/reply.h>

#include "laws.h"

TestSuite(many_files);

enum { FILES = 10000, LISTED = 10, FOLDERS = 7 };

struct burst {
  struct arena arena;
  struct item *items;
  struct settings settings;
  struct plan plan;
  struct reading reading;
};

static void change_files(struct burst *burst) {
  struct tidings_span *paths = arena_array(&burst->arena, FILES, sizeof *paths);
  burst->items = arena_zalloc(&burst->arena, FILES, sizeof *burst->items);
  cr_assert(paths && burst->items);
  for (size_t i = 0; i < FILES; i++) {
    char path[32];
    int len = snprintf(path, sizeof path, "d%zu/file-%05zu", i % FOLDERS, i);
    cr_assert_eq(arena_copy(&burst->arena, span_of(path, (size_t)len), &paths[i]), 0);
    burst->items[i] = (struct item){.n = i + 1,
                                    .note = {.source = span_text("file"),
                                             .name = span_text("changed"),
                                             .message = paths[i],
                                             .made_by = MADE_BY_FILE_CHANGED},
                                    .facts = {.paths = &paths[i], .path_count = 1}};
  }
}

static void deliver(struct burst *burst, uint64_t room_bytes) {
  const struct rendered *messages;
  struct reading_part part;
  struct render_input input = {.format = FORMAT_MARKDOWN, .place = TIDINGS_PLACE_PREPEND};
  struct room room = {.frame = &input, .bytes = room_bytes};
  size_t count;
  *burst = (struct burst){.arena = ARENA_EMPTY};
  burst->settings = settings_from("{\"delivery\":{\"coalesce_window_ms\":1000}}", &burst->arena);
  change_files(burst);
  cr_assert_eq(plan_delivery_in(&room, NULL, burst->items, FILES, &burst->settings, 0, NULL,
                                &burst->arena, &burst->plan),
               0);
  input.lines = burst->plan.lines;
  input.line_count = burst->plan.line_count;
  cr_assert_eq(render_messages(&input, &burst->arena, &messages, &count), 0);
  cr_assert_eq(count, 1);
  part = (struct reading_part){messages[0].role, messages[0].place, messages[0].text};
  cr_assert_eq(
      reading_of_parts("markdown", span_of(NULL, 0), &part, 1, &burst->arena, &burst->reading), 0);
  cr_assert_null(burst->reading.problem);
  cr_assert_eq(burst->reading.line_count, 1);
}

static void expect_outcomes(const struct burst *burst, size_t named) {
  size_t counted = 0;
  cr_assert_eq(burst->plan.disposition_count, FILES);
  for (size_t f = 0; f < FILES; f++) {
    cr_assert_eq(burst->plan.dispositions[f].outcome, OUTCOME_DELIVERED);
    counted += burst->plan.dispositions[f].reason == REASON_COUNTED;
  }
  cr_expect_eq(counted, FILES - named);
}

Test(many_files, ten_are_named_and_all_counted) {
  struct burst burst;
  static const char begin[] = "10000 files modified: d0/file-00000, d1/file-00001, ";
  static const char end[] = ", d2/file-00009, …";
  deliver(&burst, 100000);
  const char *text = text_of(burst.reading.lines[0].text);
  cr_expect(strncmp(text, begin, strlen(begin)) == 0, "%s", text);
  cr_expect(strstr(text, end), "%s", text);
  expect_outcomes(&burst, LISTED);
  arena_free(&burst.arena);
}

Test(many_files, a_small_room_names_fewer) {
  struct burst burst;
  deliver(&burst, 430);
  const char *text = text_of(burst.reading.lines[0].text);
  size_t named = 0;
  for (const char *at = text; (at = strstr(at, "/file-")); at++) named++;
  cr_expect(named > 0 && named < LISTED, "%s", text);
  cr_expect(strncmp(text, "10000 files modified: ", 22) == 0, "%s", text);
  cr_expect_leq(burst.reading.bytes, 430);
  expect_outcomes(&burst, named);
  arena_free(&burst.arena);
}
