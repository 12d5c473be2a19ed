/* SPDX-License-Identifier: MIT
 *
 * The cap is fair between sources if the other lines wait, and goes by age or level if they are
 * dropped.
 */
#include "items.h"

TestSuite(cap);

#define CAP(max, overflow, order)                                                                  \
  "{\"delivery\":{\"max_items\":" max ",\"overflow\":\"" overflow "\",\"order\":\"" order "\"}}"

/* Six of a chatty source, then one each of two others. */
static struct items chatty(void) {
  struct items items = {.count = 0};
  for (int i = 0; i < 6; i++) ITEM(&items, .source = "chatty");
  ITEM(&items, .source = "b");
  ITEM(&items, .source = "c");
  return items;
}

Test(cap, nothing_waits_below_it) {
  struct items items = chatty();
  EXPECT_PLAN(items, CAP("0", "defer", "time"), 0, "1 2 3 4 5 6 7 8 | | 0");
  EXPECT_PLAN(items, CAP("8", "drop_oldest", "time"), 0, "1 2 3 4 5 6 7 8 | | 0");
  EXPECT_PLAN(items, CAP("9", "drop_lowest", "time"), 0, "1 2 3 4 5 6 7 8 | | 0");
}

Test(cap, each_source_has_its_turn_and_the_rest_waits) {
  struct items items = chatty();
  EXPECT_PLAN(items, CAP("1", "defer", "time"), 0, "1 | | 7");
  EXPECT_PLAN(items, CAP("3", "defer", "time"), 0, "1 7 8 | | 5");
  EXPECT_PLAN(items, CAP("5", "defer", "time"), 0, "1 2 3 7 8 | | 3");
  EXPECT_PLAN(items, CAP("3", "defer", "newest"), 0, "8 7 6 | | 5");
  EXPECT_PLAN(items, CAP("4", "defer", "newest"), 0, "8 7 6 5 | | 4");
}

Test(cap, delivery_after_delivery_everything_is_shown_once) {
  struct items items = chatty();
  static const char *const expected[] = {"1 7 8 | | 5", "2 3 4 | | 2", "5 6 | | 0"};
  for (size_t round = 0; round < sizeof expected / sizeof *expected; round++) {
    EXPECT_PLAN(items, CAP("3", "defer", "level"), 0, expected[round]);
    struct arena arena = ARENA_EMPTY;
    struct settings settings = settings_from(CAP("3", "defer", "level"), &arena);
    struct plan plan;
    cr_assert_eq(plan_delivery(items.items, items.count, &settings, 0, NULL, &arena, &plan), 0);
    size_t left = 0;
    for (size_t i = 0, f = 0; i < items.count; i++) {
      if (f < plan.disposition_count && plan.dispositions[f].n == items.items[i].n) f++;
      else items.items[left++] = items.items[i];
    }
    items.count = left;
    arena_free(&arena);
  }
}

Test(cap, what_is_more_important_goes_first_and_sources_take_turns_within_a_level) {
  struct items items = {.count = 0};
  ITEM(&items, .source = "a");
  ITEM(&items, .source = "b");
  ITEM(&items, .source = "a", .level = TIDINGS_LEVEL_CRITICAL);
  ITEM(&items, .source = "a", .level = TIDINGS_LEVEL_CRITICAL);
  ITEM(&items, .source = "b");
  ITEM(&items, .source = "b");
  EXPECT_PLAN(items, CAP("2", "defer", "level"), 0, "3 4 | | 4");
  EXPECT_PLAN(items, CAP("2", "defer", "time"), 0, "3 4 | | 4");
  EXPECT_PLAN(items, CAP("4", "defer", "time"), 0, "1 2 3 4 | | 2");
  EXPECT_PLAN(items, CAP("5", "defer", "level"), 0, "3 4 1 2 5 | | 1");
}

Test(cap, two_errors_of_one_source_go_before_infos_of_others) {
  struct items items = {.count = 0};
  ITEM(&items, .source = "a", .level = TIDINGS_LEVEL_ERROR);
  ITEM(&items, .source = "b");
  ITEM(&items, .source = "c");
  ITEM(&items, .source = "a", .level = TIDINGS_LEVEL_ERROR);
  EXPECT_PLAN(items, CAP("3", "defer", "level"), 0, "1 4 2 | | 1");
  EXPECT_PLAN(items, "{\"delivery\":{\"max_tokens\":2}}", 0, "1 4 | | 2");
}

Test(cap, what_is_critical_waits_and_is_not_dropped) {
  struct items items = {.count = 0};
  ITEM(&items, .level = TIDINGS_LEVEL_CRITICAL);
  ITEM(&items, .level = TIDINGS_LEVEL_CRITICAL);
  ITEM(&items, .level = TIDINGS_LEVEL_ERROR);
  EXPECT_PLAN(items, CAP("1", "drop_oldest", "time"), 0, "1 | 3:dropped/10 | 1");
  EXPECT_PLAN(items, CAP("1", "drop_lowest", "time"), 0, "1 | 3:dropped/11 | 1");
}

Test(cap, what_its_turn_was_started_for_gives_way_to_criticals_only) {
  struct items items = {.count = 0};
  ITEM(&items, .source = "loud", .level = TIDINGS_LEVEL_CRITICAL);
  ITEM(&items, .source = "quiet", .pinned = true);
  ITEM(&items, .source = "loud", .level = TIDINGS_LEVEL_ERROR);
  ITEM(&items, .source = "loud", .level = TIDINGS_LEVEL_CRITICAL);
  EXPECT_PLAN(items, CAP("1", "defer", "level"), 0, "1 | | 3");
  EXPECT_PLAN(items, CAP("3", "defer", "level"), 0, "1 4 2 | | 1");
  EXPECT_PLAN(items, CAP("1", "drop_oldest", "time"), 0, "1 | 3:dropped/10 | 2");
  EXPECT_PLAN(items, CAP("3", "drop_lowest", "time"), 0, "1 2 4 | 3:dropped/11 | 0");
}

Test(cap, drops_the_oldest) {
  struct items items = chatty();
  EXPECT_PLAN(items, CAP("3", "drop_oldest", "time"), 0,
              "6 7 8 | 1:dropped/10 2:dropped/10 3:dropped/10 4:dropped/10 5:dropped/10 | 0");
  EXPECT_PLAN(items, "{\"delivery\":{\"preset\":\"flat\",\"max_items\":7}}", 0,
              "2 3 4 5 6 7 8 | 1:dropped/10 | 0");
}

Test(cap, what_was_just_pushed_again_under_its_key_is_not_old) {
  struct items items = {.count = 0};
  ITEM(&items, .key = "progress");
  ITEM(&items, .message = "x");
  ITEM(&items, .message = "y");
  ITEM(&items, .key = "progress");
  EXPECT_PLAN(items, CAP("2", "drop_oldest", "time"), 0, "4 3 | 1:superseded/4>4 2:dropped/10 | 0");
}

Test(cap, drops_the_lowest_level_and_of_that_the_oldest) {
  struct items items = {.count = 0};
  ITEM(&items, .level = TIDINGS_LEVEL_ERROR);
  ITEM(&items, .level = TIDINGS_LEVEL_INFO);
  ITEM(&items, .level = TIDINGS_LEVEL_CRITICAL);
  ITEM(&items, .level = TIDINGS_LEVEL_INFO);
  ITEM(&items, .level = TIDINGS_LEVEL_WARNING);
  EXPECT_PLAN(items, CAP("4", "drop_lowest", "level"), 0, "3 1 5 4 | 2:dropped/11 | 0");
  EXPECT_PLAN(items, CAP("3", "drop_lowest", "time"), 0, "1 3 5 | 2:dropped/11 4:dropped/11 | 0");
  EXPECT_PLAN(items, CAP("1", "drop_lowest", "newest"), 0,
              "3 | 1:dropped/11 2:dropped/11 4:dropped/11 5:dropped/11 | 0");
}

Test(cap, counts_only_what_would_be_shown) {
  struct items items = {.count = 0};
  ITEM(&items, .caused_by = "c");
  ITEM(&items, .key = "k");
  ITEM(&items, .key = "k");
  ITEM(&items, .source = "mcp");
  EXPECT_PLAN(items,
              "{\"delivery\":{\"max_items\":1},\"conversation\":{\"notifications\":{\"kinds\":{"
              "\"mcp\":false}}}}",
              0, "3 | 1:withdrawn/3 2:superseded/4>3 4:filtered/6 | 0");
}

Test(cap, what_came_late_counts_by_its_time) {
  struct items items = {.count = 0};
  ITEM(&items, .time_ms = 30, .late = true);
  ITEM(&items, .time_ms = 10);
  ITEM(&items, .time_ms = 20);
  ITEM(&items, .time_ms = 5, .late = true);
  EXPECT_PLAN(items, CAP("0", "defer", "time"), 0, "4 2 3 1 | | 0");
  EXPECT_PLAN(items, CAP("2", "defer", "newest"), 0, "1 3 | | 2");
  EXPECT_PLAN(items, CAP("1", "drop_oldest", "time"), 0,
              "1 | 2:dropped/10 3:dropped/10 4:dropped/10 | 0");
}
