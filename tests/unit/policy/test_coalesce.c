/* SPDX-License-Identifier: MIT
 *
 * Equal messages, and changed files, that are pushed within a window share a line.
 */
#include <stdio.h>

#include "reports.h"

TestSuite(coalesce);

/* The messages of the lines, each with its count and level. */
static const char *lines_of(const struct items *items, const char *configuration) {
  struct arena arena = ARENA_EMPTY;
  struct settings settings = settings_from(configuration, &arena);
  struct plan plan;
  struct buffer text = BUFFER_EMPTY;
  cr_assert_eq(plan_delivery(items->items, items->count, &settings, 0, NULL, &arena, &plan), 0);
  for (size_t i = 0; i < plan.line_count; i++) {
    const struct line *line = &plan.lines[i];
    buffer_format(&text, "%s%.*s|%u|%s", i ? "\n" : "", SPAN_FORMAT(line->message), line->count,
                  level_name(line->level));
  }
  const char *copy = text_of(buffer_view(&text));
  buffer_free(&text);
  arena_free(&arena);
  return copy;
}

#define WINDOW "{\"delivery\":{\"coalesce_window_ms\":2000,\"order\":\"time\"}}"
#define EXPECT_LINES(items, expected) cr_expect_str_eq(lines_of(&(items), WINDOW), (expected))

Test(coalesce, files_become_a_list, .fini = free_facts) {
  struct items items = {.count = 0};
  FILE_CHANGED(&items, "src/lib.rs", .time_ms = 1);
  FILE_CHANGED(&items, "src/main.rs", .time_ms = 2);
  FILE_CHANGED(&items, "src/lib.rs", .time_ms = 3);
  DATA(&items, "{\"paths\":[\"src/main.rs\",\"c\"]}", .source = "file", .name = "changed",
       .message = "x", .made_by = MADE_BY_FILE_CHANGED);
  EXPECT_LINES(items, "Multiple files modified: src/lib.rs, src/main.rs, c|4|info");
}

Test(coalesce, the_last_change_of_a_file_counts, .fini = free_facts) {
  struct items items = {.count = 0};
  FILE_CHANGED(&items, "a", .time_ms = 1);
  FILE_IS(&items, "gone", "deleted", .time_ms = 1);
  FILE_IS(&items, "new", "created", .time_ms = 1);
  FILE_CHANGED(&items, "b", .time_ms = 1);
  FILE_CHANGED(&items, "new", .time_ms = 1);
  FILE_CHANGED(&items, "other", .time_ms = 1);
  FILE_IS(&items, "other", "deleted", .time_ms = 1);
  EXPECT_LINES(items, "Files changed: modified a, b; created new; deleted gone, other|7|info");
}

Test(coalesce, what_the_assistant_has_edited_is_said_first, .fini = free_facts) {
  struct items items = {.count = 0};
  FILE_CHANGED(&items, "a", .time_ms = 1);
  DATA(&items, "{\"path\":\"b\",\"edited\":[\"b\"]}", .source = "file", .name = "changed",
       .made_by = MADE_BY_FILE_CHANGED, .time_ms = 1);
  FILE_CHANGED(&items, "b", .time_ms = 1);
  EXPECT_LINES(items, "Multiple files modified: b (since your edit; read it again), a|3|info");
  FILE_IS(&items, "b", "deleted", .time_ms = 1);
  EXPECT_LINES(items, "Files changed: modified a; deleted b (since your edit)|4|info");
  DATA(
      &items,
      "{\"paths\":[\"dir/0\",\"dir/1\",\"dir/2\",\"dir/3\",\"dir/4\",\"dir/5\",\"dir/6\",\"dir/7\","
      "\"dir/8\",\"dir/9\",\"dir/10\",\"dir/11\",\"dir/12\",\"dir/13\",\"dir/14\",\"dir/15\","
      "\"dir/16\",\"dir/17\",\"dir/18\",\"dir/19\"],\"edited\":[\"dir/17\",\"dir/19\"]}",
      .source = "file", .name = "changed", .made_by = MADE_BY_FILE_CHANGED, .time_ms = 1);
  EXPECT_LINES(items,
               "22 files changed: 1 deleted (b (since your edit)), 21 modified (dir/17 (since your "
               "edit; read it again), dir/19 (since your edit; read it again), a, dir/0, dir/1, "
               "dir/2, dir/3, dir/4, dir/5, …)|5|info");
}

Test(coalesce, a_file_of_a_moment_is_not_worth_a_line, .fini = free_facts) {
  struct items items = {.count = 0};
  FILE_IS(&items, "tmp", "created", .time_ms = 1);
  FILE_CHANGED(&items, "tmp", .time_ms = 1);
  FILE_CHANGED(&items, "a", .time_ms = 1);
  FILE_IS(&items, "tmp", "deleted", .time_ms = 1);
  EXPECT_PLAN(items, WINDOW, 0, "3 | 1:annihilated/17>4 2:annihilated/17>4 4:annihilated/17>1 | 0");
  FILE_IS(&items, "was", "deleted", .time_ms = 1);
  FILE_IS(&items, "was", "created", .time_ms = 1);
  EXPECT_LINES(items, "Files changed: modified a; created was|3|info");
  FILE_IS(&items, "was", "deleted", .time_ms = 1);
  EXPECT_LINES(items, "Files changed: modified a; deleted was|4|info");
}

Test(coalesce, of_one_report_what_was_undone_is_not_said, .fini = free_facts) {
  struct items items = {.count = 0};
  DATA(&items, "{\"paths\":[\"a\",\"tmp\"],\"change\":\"created\"}", .source = "file",
       .name = "changed", .message = "Multiple files created: a, tmp",
       .made_by = MADE_BY_FILE_CHANGED);
  FILE_IS(&items, "tmp", "deleted", .time_ms = 1);
  EXPECT_LINES(items, "`a` was created externally.|1|info");
}

Test(coalesce, equal_messages_are_counted, .fini = free_facts) {
  struct items items = {.count = 0};
  for (int i = 0; i < 3; i++) FILE_CHANGED(&items, "a", .time_ms = i);
  ITEM(&items, .message = "Rate limited.\n");
  ITEM(&items, .message = "Rate limited.\n");
  EXPECT_LINES(items,
               "`a` was modified externally. (3 times)|3|info\nRate limited. (2 times)|2|info");
}

Test(coalesce, different_messages_keep_their_lines_side_by_side, .fini = free_facts) {
  struct items items = {.count = 0};
  ITEM(&items, .name = "stopped", .message = "one");
  ITEM(&items, .name = "waiting", .message = "another kind");
  ITEM(&items, .name = "stopped", .message = "two");
  ITEM(&items, .name = "stopped", .message = "one");
  EXPECT_LINES(items, "one (2 times)|2|info\ntwo|1|info\nanother kind|1|info");
}

Test(coalesce, a_level_is_not_joined_with_another, .fini = free_facts) {
  struct items items = {.count = 0};
  ITEM(&items, .message = "same");
  ITEM(&items, .message = "same", .level = TIDINGS_LEVEL_CRITICAL);
  ITEM(&items, .message = "same");
  EXPECT_LINES(items, "same (2 times)|2|info\nsame|1|critical");
}

Test(coalesce, a_path_in_somebodys_data_means_nothing, .fini = free_facts) {
  struct items items = {.count = 0};
  DATA(&items, "{\"path\":\"a.c\"}", .source = "ide", .name = "diagnostic", .message = "a: wrong");
  DATA(&items, "{\"path\":\"b.c\"}", .source = "ide", .name = "diagnostic", .message = "b: wrong");
  DATA(&items, "{\"path\":\"c\"}", .source = "file", .name = "changed", .message = "c, it seems");
  FILE_CHANGED(&items, "d", .time_ms = 0);
  FILE_CHANGED(&items, "e", .time_ms = 0);
  EXPECT_LINES(items, "a: wrong|1|info\nb: wrong|1|info\nc, it seems|1|info\n"
                      "Multiple files modified: d, e|2|info");
}

Test(coalesce, kinds_that_only_read_alike_do_not_share_a_line, .fini = free_facts) {
  struct items items = {.count = 0};
  ITEM(&items, .source = "ax", .name = "b", .message = "one");
  ITEM(&items, .source = "a", .name = "xb", .message = "two");
  ITEM(&items, .source = "axb", .name = "", .message = "three");
  EXPECT_LINES(items, "one|1|info\ntwo|1|info\nthree|1|info");
}

Test(coalesce, the_window_is_anchored_at_the_first, .fini = free_facts) {
  struct items items = {.count = 0};
  static const int64_t times[] = {0, 1500, 2000, 2001, 4001, 4002};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    ITEM(&items, .message = "a", .time_ms = times[i]);
  EXPECT_LINES(items, "a (3 times)|3|info\na (2 times)|2|info\na|1|info");
}

Test(coalesce, a_clock_that_jumps_back_breaks_nothing, .fini = free_facts) {
  struct items items = {.count = 0};
  ITEM(&items, .message = "a", .time_ms = INT64_MAX);
  ITEM(&items, .message = "a", .time_ms = INT64_MIN);
  ITEM(&items, .message = "a", .time_ms = INT64_MIN + 1);
  EXPECT_LINES(items, "a|1|info\na (2 times)|2|info");
}

Test(coalesce, is_off_unless_asked_for, .fini = free_facts) {
  struct items items = {.count = 0};
  ITEM(&items, .message = "a");
  ITEM(&items, .message = "a");
  cr_expect_str_eq(lines_of(&items, ""), "a|1|info\na|1|info");
}

static void many_files(struct items *items, int count, const char *folder, bool two) {
  static char messages[MOST_ITEMS][64], data[MOST_ITEMS][64];
  for (int i = 0; i < count; i++) {
    (void)snprintf(messages[i], sizeof *messages, "%s%d", folder, i);
    (void)snprintf(data[i], sizeof *data, "{\"path\":\"%s%sf%02d\"}", folder,
                   two && i % 2 ? "x/" : "", i);
    DATA(items, data[i], .source = "file", .name = "changed", .message = messages[i],
         .made_by = MADE_BY_FILE_CHANGED);
  }
}

/* The reasons of all items, by n, as digits from REASON_SHOWN on: s, or c for counted. */
static const char *reasons_of(const struct items *items, const char *configuration) {
  struct arena arena = ARENA_EMPTY;
  struct settings settings = settings_from(configuration, &arena);
  struct plan plan;
  static char text[MOST_ITEMS + 1];
  cr_assert_eq(plan_delivery(items->items, items->count, &settings, 0, NULL, &arena, &plan), 0);
  for (size_t i = 0; i < plan.disposition_count; i++) {
    cr_expect_eq(plan.dispositions[i].outcome, OUTCOME_DELIVERED);
    text[i] = '?';
    if (plan.dispositions[i].reason == REASON_SHOWN) text[i] = 's';
    if (plan.dispositions[i].reason == REASON_COUNTED) text[i] = 'c';
  }
  text[plan.disposition_count] = '\0';
  arena_free(&arena);
  return text;
}

Test(coalesce, of_more_than_twenty_files_some_are_named_and_all_counted, .fini = free_facts) {
  struct items items = {.count = 0};
  many_files(&items, 20, "src/deep/", false);
  const char *lines = lines_of(&items, WINDOW);
  cr_expect(strstr(lines, "src/deep/f18, src/deep/f19|20|info"), "%s", lines);
  items = (struct items){.count = 0};
  many_files(&items, 23, "src/deep/", false);
  EXPECT_LINES(items,
               "23 files modified in src/deep/: f00, f01, f02, f03, f04, f05, f06, f07, f08, "
               "f09, …|23|info");
  cr_expect_str_eq(reasons_of(&items, WINDOW), "ssssssssssccccccccccccc");
  items = (struct items){.count = 0};
  many_files(&items, 23, "", true);
  EXPECT_LINES(items, "23 files modified: f00, x/f01, f02, x/f03, f04, x/f05, f06, x/f07, f08, "
                      "x/f09, …|23|info");
}

Test(coalesce, what_is_gone_comes_first_and_each_change_has_its_number, .fini = free_facts) {
  struct items items = {.count = 0};
  many_files(&items, 40, "src/", false);
  FILE_IS(&items, "src/a", "deleted", .time_ms = 1);
  FILE_IS(&items, "src/b", "deleted", .time_ms = 1);
  FILE_IS(&items, "src/c", "deleted", .time_ms = 1);
  FILE_IS(&items, "src/d", "deleted", .time_ms = 1);
  FILE_IS(&items, "src/e", "deleted", .time_ms = 1);
  EXPECT_LINES(items, "45 files changed in src/: 5 deleted (a, b, c, d, e), 40 modified (f00, f01, "
                      "f02, f03, f04, …)|45|info");
  FILE_IS(&items, "src/new", "created", .time_ms = 1);
  FILE_IS(&items, "src/f39", "deleted", .time_ms = 1);
  EXPECT_LINES(items, "46 files changed in src/: 6 deleted (f39, a, b, …), 1 created (new), 39 "
                      "modified (f00, f01, f02, f03, f04, f05, …)|47|info");
}

/* A preset that joins nothing. */
#define ALONE "{\"delivery\":{\"preset\":\"grouped\"}}"

Test(coalesce, single_reports_are_joined_when_there_are_too_many, .fini = free_facts) {
  struct items items = {.count = 0};
  many_files(&items, 20, "d/", false);
  cr_expect_str_eq(strrchr(lines_of(&items, ALONE), '\n'), "\nd/19|1|info");
  ITEM(&items, .message = "another");
  FILE_CHANGED(&items, "d/f20", .time_ms = 90000);
  cr_expect_str_eq(lines_of(&items, ALONE),
                   "21 files modified in d/: f00, f01, f02, f03, f04, f05, f06, f07, f08, f09, "
                   "…|21|info\nanother|1|info");
}

Test(coalesce, a_line_stays_within_the_limit_of_a_message, .fini = free_facts) {
  struct items items = {.count = 0};
  static const char short_lines[] =
      "{\"delivery\":{\"coalesce_window_ms\":1},\"limits\":{\"message_bytes\":64}}";
  many_files(&items, 40, "d/", false);
  cr_expect_str_eq(lines_of(&items, short_lines),
                   "40 files modified in d/: f00, f01, f02, f03, f04, f05, f06, …|40|info");
  cr_expect_str_eq(reasons_of(&items, short_lines), "sssssssccccccccccccccccccccccccccccccccc");
}

Test(coalesce, a_list_without_room_counts_more, .fini = free_facts) {
  struct items items = {.count = 0};
  many_files(&items, 8, "d/", false);
  ITEM(&items, .message = "next");
  cr_expect_str_eq(lines_of(&items, "{\"delivery\":{\"coalesce_window_ms\":1,\"max_tokens\":12}}"),
                   "8 files modified in d/: f00, f01, f02, f03, …|8|info");
  cr_expect_str_eq(lines_of(&items, "{\"delivery\":{\"coalesce_window_ms\":1,\"max_tokens\":1}}"),
                   "8 files modified in d/: f00, …|8|info");
}

Test(coalesce, a_count_stands_after_the_cut, .fini = free_facts) {
  struct items items = {.count = 0};
  for (int i = 0; i < 2; i++)
    ITEM(&items, .message = "the first line\nand much that is not needed for anything at all");
  cr_expect_str_eq(lines_of(&items, "{\"delivery\":{\"coalesce_window_ms\":1,\"max_tokens\":12}}"),
                   "the first line… (48 more bytes) (2 times)|2|info");
}

Test(coalesce, all_of_a_line_is_delivered_and_names_its_first, .fini = free_facts) {
  struct items items = {.count = 0};
  ITEM(&items, .message = "a");
  ITEM(&items, .source = "mcp", .message = "x");
  ITEM(&items, .message = "a");
  struct arena arena = ARENA_EMPTY;
  struct settings settings = settings_from(WINDOW, &arena);
  struct plan plan;
  cr_assert_eq(plan_delivery(items.items, items.count, &settings, 0, NULL, &arena, &plan), 0);
  static const uint64_t refs[] = {1, 0, 1};
  cr_assert_eq(plan.disposition_count, 3);
  for (size_t i = 0; i < 3; i++) {
    cr_expect_eq(plan.dispositions[i].outcome, OUTCOME_DELIVERED);
    cr_expect_eq(plan.dispositions[i].reason, REASON_SHOWN);
    cr_expect_eq(plan.dispositions[i].ref, refs[i]);
  }
  arena_free(&arena);
}

Test(coalesce, a_cap_counts_lines_and_so_does_what_waits, .fini = free_facts) {
  struct items items = {.count = 0};
  ITEM(&items, .source = "mcp", .message = "x", .level = TIDINGS_LEVEL_ERROR);
  for (int i = 0; i < 5; i++) ITEM(&items, .source = "a");
  EXPECT_PLAN(items, "{\"delivery\":{\"coalesce_window_ms\":5,\"max_items\":1}}", 0, "1 | | 1");
  EXPECT_PLAN(
      items,
      "{\"delivery\":{\"coalesce_window_ms\":5,\"max_items\":1,\"overflow\":\"drop_lowest\"}}", 0,
      "1 | 2:dropped/11 3:dropped/11 4:dropped/11 5:dropped/11 6:dropped/11 | 0");
}
