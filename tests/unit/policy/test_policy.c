/* SPDX-License-Identifier: MIT
 *
 * Tests which notifications are shown, and why others are not: all steps of a plan except the cap.
 * In the expected texts a disposition is n:outcome/reason>ref, and a reason is a number of
 * values/notification.h.
 */
#include "items.h"

TestSuite(policy);

#define KINDS(text) "{\"conversation\":{\"notifications\":{\"kinds\":" text "}}}"

Test(policy, of_nothing_nothing_is_planned) {
  struct items items = {.count = 0};
  EXPECT_PLAN(items, "", 0, " | | 0");
}

Test(policy, what_is_shown_is_delivered) {
  struct items items = {.count = 0};
  struct arena arena = ARENA_EMPTY;
  struct settings settings = settings_from("", &arena);
  struct plan plan;
  ITEM(&items, .n = 7, .level = TIDINGS_LEVEL_INFO);
  ITEM(&items, .n = 9, .level = TIDINGS_LEVEL_CRITICAL);
  cr_assert_eq(plan_delivery(items.items, items.count, &settings, 0, NULL, &arena, &plan), 0);
  cr_assert_eq(plan.line_count, 2);
  cr_expect_eq(plan.lines[0].item, &items.items[1]);
  cr_expect_eq(plan.lines[0].place, 9);
  cr_expect_eq(plan.lines[0].count, 1);
  cr_expect(span_is(plan.lines[0].message, "m"));
  cr_assert_eq(plan.disposition_count, 2);
  for (size_t i = 0; i < 2; i++) {
    cr_expect_eq(plan.dispositions[i].n, items.items[i].n, "dispositions are sorted by n");
    cr_expect_eq(plan.dispositions[i].outcome, OUTCOME_DELIVERED);
    cr_expect_eq(plan.dispositions[i].reason, REASON_SHOWN);
    cr_expect_eq(plan.dispositions[i].ref, 0);
  }
  arena_free(&arena);
}

/* ---- expire ---- */

Test(policy, expires_at_the_end_of_its_time) {
  struct items items = {.count = 0};
  ITEM(&items, .time_ms = 1000, .ttl_ms = 500);
  ITEM(&items, .time_ms = 1000);
  EXPECT_PLAN(items, "", 1499, "1 2 | | 0");
  EXPECT_PLAN(items, "", 1500, "2 | 1:expired/2 | 0");
  EXPECT_PLAN(items, "", INT64_MAX, "2 | 1:expired/2 | 0");
}

Test(policy, a_clock_that_went_back_expires_nothing) {
  struct items items = {.count = 0};
  ITEM(&items, .time_ms = 1000, .ttl_ms = 500);
  EXPECT_PLAN(items, "", 0, "1 | | 0");
  EXPECT_PLAN(items, "", INT64_MIN, "1 | | 0");
}

Test(policy, a_time_beyond_all_times_never_ends) {
  struct items items = {.count = 0};
  ITEM(&items, .time_ms = 1000, .ttl_ms = INT64_MAX);
  ITEM(&items, .time_ms = INT64_MIN, .ttl_ms = 1);
  EXPECT_PLAN(items, "", INT64_MAX, "1 | 2:expired/2 | 0");
}

/* ---- withdraw ---- */

Test(policy, the_models_own_doing_is_withdrawn) {
  struct items items = {.count = 0};
  ITEM(&items, .caused_by = "call_1");
  ITEM(&items, .message = "other");
  ITEM(&items, .caused_by = "call_1", .ttl_ms = 1);
  EXPECT_PLAN(items, "", 5, "2 | 1:withdrawn/3 3:withdrawn/3 | 0");
}

/* ---- supersede ---- */

Test(policy, the_newest_of_a_key_stays_at_the_oldest_place) {
  struct items items = {.count = 0};
  ITEM(&items, .key = "a");
  ITEM(&items, .message = "between");
  ITEM(&items, .key = "a");
  ITEM(&items, .key = "b");
  ITEM(&items, .key = "a");
  EXPECT_PLAN(items, "", 0, "5 2 4 | 1:superseded/4>5 3:superseded/4>5 | 0");
}

Test(policy, no_key_supersedes_nothing) {
  struct items items = {.count = 0};
  ITEM(&items, .message = "same");
  ITEM(&items, .message = "same");
  EXPECT_PLAN(items, "", 0, "1 2 | | 0");
}

Test(policy, what_was_withdrawn_supersedes_nothing) {
  struct items items = {.count = 0};
  ITEM(&items, .message = "between");
  ITEM(&items, .key = "a");
  ITEM(&items, .key = "a", .caused_by = "call");
  EXPECT_PLAN(items, "", 10, "1 2 | 3:withdrawn/3 | 0");
}

Test(policy, an_older_state_is_not_shown_in_place_of_the_newest_that_has_expired) {
  struct items keys = {.count = 0};
  ITEM(&keys, .key = "a");
  ITEM(&keys, .key = "a", .ttl_ms = 1);
  ITEM(&keys, .key = "b", .ttl_ms = 1);
  ITEM(&keys, .key = "b");
  EXPECT_PLAN(keys, "", 10, "4 | 1:superseded/4>2 2:expired/2 3:superseded/4>4 | 0");
  struct items states = {.count = 0};
  ITEM(&states, .handle = "h", .made_by = MADE_BY_HANDLE_STATE, .name = "waiting");
  ITEM(&states, .handle = "h", .made_by = MADE_BY_HANDLE_STATE, .ttl_ms = 1);
  EXPECT_PLAN(states, "", 10, " | 1:superseded/19>2 2:expired/2 | 0");
}

Test(policy, only_what_would_be_shown_supersedes) {
  struct items items = {.count = 0};
  ITEM(&items, .key = "server", .source = "mcp", .name = "disconnected");
  ITEM(&items, .key = "server", .source = "mcp", .name = "reconnected");
  EXPECT_PLAN(items, KINDS("{\"mcp.reconnected\":false}"), 0, "1 | 2:filtered/8 | 0");
  EXPECT_PLAN(items, "", 0, "2 | 1:superseded/4>2 | 0");
}

Test(policy, a_key_is_its_sources_own) {
  struct items items = {.count = 0};
  ITEM(&items, .key = "k", .source = "a");
  ITEM(&items, .key = "k", .source = "b");
  EXPECT_PLAN(items, "", 0, "1 2 | | 0");
}

Test(policy, what_is_critical_gives_way_to_what_is_critical_alone) {
  struct items items = {.count = 0};
  ITEM(&items, .key = "k");
  ITEM(&items, .key = "k", .level = TIDINGS_LEVEL_CRITICAL);
  ITEM(&items, .key = "k");
  EXPECT_PLAN(items, "", 0, "2 3 | 1:superseded/4>3 | 0");
  ITEM(&items, .key = "k", .level = TIDINGS_LEVEL_CRITICAL);
  EXPECT_PLAN(items, "", 0, "4 | 1:superseded/4>4 2:superseded/4>4 3:superseded/4>4 | 0");
}

/* ---- filter ---- */

Test(policy, every_setting_that_applies_must_be_true) {
  static const struct {
    const char *configuration, *expected;
  } cases[] = {
      {"", "1 2 3 4 | | 0"},
      {"{\"conversation\":{\"notifications\":{\"enable\":false}}}",
       " | 1:filtered/5 2:filtered/5 3:filtered/5 4:filtered/5 | 0"},
      {"{\"conversation\":{\"notifications\":{\"enable\":false,\"kinds\":{\"mcp\":{\"enable\":true}"
       "}}}}",
       " | 1:filtered/5 2:filtered/5 3:filtered/5 4:filtered/5 | 0"},
      {KINDS("{\"mcp\":{\"enable\":false}}"), "1 2 | 3:filtered/6 4:filtered/6 | 0"},
      {KINDS("{\"mcp\":false}"), "1 2 | 3:filtered/6 4:filtered/6 | 0"},
      {KINDS("{\"mcp\":{\"enable\":true,\"reconnected\":false}}"), "1 2 3 | 4:filtered/7 | 0"},
      {KINDS("{\"mcp\":{\"enable\":false,\"reconnected\":true}}"),
       "1 2 | 3:filtered/6 4:filtered/6 | 0"},
      {KINDS("{\"mcp.reconnected\":false}"), "1 2 3 | 4:filtered/8 | 0"},
      {KINDS("{\"mcp.reconnected\":true,\"mcp\":{\"reconnected\":false}}"),
       "1 2 3 | 4:filtered/7 | 0"},
      {KINDS("{\"mcp.reconnected\":false,\"mcp\":{\"reconnected\":false,\"enable\":false}}"),
       "1 2 | 3:filtered/6 4:filtered/6 | 0"},
      {KINDS("{\"mcp.re\":false,\"mc\":false,\"mcp.reconnected.x\":false}"), "1 2 3 4 | | 0"},
      {KINDS("{\"tool.waiting\":false}"), "1 3 4 | 2:filtered/8 | 0"},
  };
  struct items items = {.count = 0};
  ITEM(&items, .source = "tool", .name = "stopped");
  ITEM(&items, .source = "tool", .name = "waiting");
  ITEM(&items, .source = "mcp", .name = "disconnected");
  ITEM(&items, .source = "mcp", .name = "reconnected");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    EXPECT_PLAN(items, cases[i].configuration, 0, cases[i].expected);
}

Test(policy, a_key_of_the_draft_governs_what_the_revision_calls_tool) {
  struct items items = {.count = 0};
  ITEM(&items, .source = "tool", .name = "stopped");
  ITEM(&items, .source = "handle", .name = "stopped");
  ITEM(&items, .source = "tool", .name = "failed");
  EXPECT_PLAN(items, KINDS("{\"handle.stopped\":false}"), 0, "3 | 1:filtered/8 2:filtered/8 | 0");
  EXPECT_PLAN(items, KINDS("{\"handle\":{\"stopped\":false}}"), 0,
              "3 | 1:filtered/7 2:filtered/7 | 0");
  EXPECT_PLAN(items, KINDS("{\"handle\":{\"enable\":false}}"), 0,
              " | 1:filtered/6 2:filtered/6 3:filtered/6 | 0");
  EXPECT_PLAN(items, KINDS("{\"tool.stopped\":false}"), 0, "2 3 | 1:filtered/8 | 0");
  EXPECT_PLAN(items, KINDS("{\"handle.stopped\":false,\"tool.stopped\":true}"), 0,
              "3 | 1:filtered/8 2:filtered/8 | 0");
}

Test(policy, a_tools_own_settings_apply_to_that_tool) {
  static const char configuration[] = "{\"conversation\":{\"tools\":{\"cargo_check\":{"
                                      "\"notifications\":{\"waiting\":false,\"stopped\":true}}}}}";
  struct items items = {.count = 0};
  ITEM(&items, .tool = "cargo_check", .name = "stopped");
  ITEM(&items, .tool = "cargo_check", .name = "waiting");
  ITEM(&items, .tool = "cargo_check", .name = "waiting", .source = "other");
  ITEM(&items, .tool = "git", .name = "waiting");
  ITEM(&items, .name = "waiting");
  EXPECT_PLAN(items, configuration, 0, "1 4 5 | 2:filtered/9 3:filtered/9 | 0");
#define CARGO(names)                                                                               \
  "{\"conversation\":{\"tools\":{\"cargo_check\":{\"notifications\":" names "}}}}"
  EXPECT_PLAN(items, CARGO("{\"enable\":false}"), 0,
              "4 5 | 1:filtered/9>1 2:filtered/9>1 3:filtered/9>1 | 0");
  EXPECT_PLAN(items, CARGO("{\"waiting\":false,\"enable\":true}"), 0,
              "1 4 5 | 2:filtered/9 3:filtered/9 | 0");
  items.items[0].note.level = TIDINGS_LEVEL_CRITICAL;
  EXPECT_PLAN(items, CARGO("{\"enable\":\"critical\"}"), 0,
              "1 4 5 | 2:filtered/9>3 3:filtered/9>3 | 0");
}

/* ---- rank ---- */

Test(policy, orders_by_level_by_time_or_newest_first) {
  struct items items = {.count = 0};
  ITEM(&items, .level = TIDINGS_LEVEL_INFO);
  ITEM(&items, .level = TIDINGS_LEVEL_CRITICAL);
  ITEM(&items, .level = TIDINGS_LEVEL_WARNING, .key = "k");
  ITEM(&items, .level = TIDINGS_LEVEL_ERROR);
  ITEM(&items, .level = TIDINGS_LEVEL_CRITICAL);
  ITEM(&items, .level = TIDINGS_LEVEL_INFO, .key = "k");
  EXPECT_PLAN(items, "", 0, "2 5 4 1 6 | 3:superseded/4>6 | 0");
  EXPECT_PLAN(items, "{\"delivery\":{\"order\":\"time\"}}", 0, "1 2 6 4 5 | 3:superseded/4>6 | 0");
  EXPECT_PLAN(items, "{\"delivery\":{\"order\":\"newest\"}}", 0,
              "5 4 6 2 1 | 3:superseded/4>6 | 0");
}
