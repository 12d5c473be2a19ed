/* SPDX-License-Identifier: MIT
 *
 * Reports remove pending notifications: those that cancel out, older states, and the assistant's
 * own changes.
 */
#include "reports.h"

TestSuite(annihilate);
TestSuite(states);
TestSuite(withdraw);

/* -- annihilate -------------------------------------------------------------------------------- */

#define ANNIHILATE "{\"delivery\":{\"annihilate\":true,\"order\":\"time\"}}"

Test(annihilate, gone_and_back_is_no_news, .fini = free_facts) {
  struct items items = {.count = 0};
  MCP(&items, "disconnected", "github");
  MCP(&items, "disconnected", "db");
  MCP(&items, "reconnected", "github");
  EXPECT_PLAN(items, ANNIHILATE, 0, "2 | 1:annihilated/17>3 3:annihilated/17>1 | 0");
  EXPECT_PLAN(items, "", 0, "3 2 | 1:superseded/19>3 | 0");
}

Test(annihilate, only_what_reports_made, .fini = free_facts) {
  struct items items = {.count = 0};
  DATA(&items, "{\"server\":\"github\"}", .source = "mcp", .name = "disconnected");
  DATA(&items, "{\"server\":\"github\"}", .source = "mcp", .name = "reconnected");
  EXPECT_PLAN(items, ANNIHILATE, 0, "1 2 | | 0");
}

Test(annihilate, what_is_critical_only_with_what_is_critical, .fini = free_facts) {
  struct items items = {.count = 0};
  MCP(&items, "disconnected", "github");
  MCP(&items, "reconnected", "github");
  items.items[0].note.level = TIDINGS_LEVEL_CRITICAL;
  EXPECT_PLAN(items, ANNIHILATE, 0, "1 2 | | 0");
  items.items[1].note.level = TIDINGS_LEVEL_CRITICAL;
  EXPECT_PLAN(items, ANNIHILATE, 0, " | 1:annihilated/17>2 2:annihilated/17>1 | 0");
}

Test(annihilate, between_gone_and_back_it_did_not_respond, .fini = free_facts) {
  struct items items = {.count = 0};
  MCP(&items, "disconnected", "db");
  MCP(&items, "unresponsive", "db");
  MCP(&items, "reconnected", "db");
  EXPECT_PLAN(items, ANNIHILATE, 0,
              " | 1:annihilated/17>3 2:annihilated/17>3 3:annihilated/17>1 | 0");
}

Test(annihilate, a_file_that_came_and_went, .fini = free_facts) {
  struct items items = {.count = 0};
  FILE_IS(&items, "tmp", "created", .time_ms = 1);
  FILE_IS(&items, "old", "deleted", .time_ms = 1);
  FILE_IS(&items, "tmp", "deleted", .time_ms = 99999);
  EXPECT_PLAN(items, ANNIHILATE, 0, "2 | 1:annihilated/17>3 3:annihilated/17>1 | 0");
  EXPECT_PLAN(items, "{\"delivery\":{\"order\":\"time\"}}", 0, "1 2 3 | | 0");
}

Test(annihilate, a_rate_limit_that_is_over, .fini = free_facts) {
  struct items items = {.count = 0};
  DATA(&items, "{\"retry_after_ms\":500}", .source = "rate", .name = "limited", .time_ms = 1000,
       .made_by = MADE_BY_RATE_LIMITED);
  EXPECT_PLAN(items, ANNIHILATE, 1499, "1 | | 0");
  EXPECT_PLAN(items, ANNIHILATE, 1500, " | 1:annihilated/21 | 0");
  EXPECT_PLAN(items, "", 1500, "1 | | 0");
  items.items[0].note.level = TIDINGS_LEVEL_CRITICAL;
  EXPECT_PLAN(items, ANNIHILATE, 1500, "1 | | 0");
}

Test(annihilate, flapping_leaves_where_it_stands, .fini = free_facts) {
  struct items items = {.count = 0};
  for (int i = 0; i < 2; i++) {
    MCP(&items, "disconnected", "github");
    MCP(&items, "reconnected", "github");
  }
  EXPECT_PLAN(items, ANNIHILATE, 0,
              " | 1:annihilated/17>2 2:annihilated/17>1 3:annihilated/17>4 4:annihilated/17>3 | 0");
  MCP(&items, "disconnected", "github");
  EXPECT_PLAN(
      items, ANNIHILATE, 0,
      "5 | 1:annihilated/17>2 2:annihilated/17>1 3:annihilated/17>4 4:annihilated/17>3 | 0");
}

Test(annihilate, a_return_ends_every_loss_before_it, .fini = free_facts) {
  struct items items = {.count = 0};
  MCP(&items, "disconnected", "github");
  MCP(&items, "disconnected", "github");
  MCP(&items, "reconnected", "github");
  MCP(&items, "reconnected", "github");
  EXPECT_PLAN(items, ANNIHILATE, 0,
              "4 | 1:annihilated/17>3 2:annihilated/17>3 3:annihilated/17>2 | 0");
}

Test(annihilate, a_loss_that_was_told_needs_its_return, .fini = free_facts) {
  struct items items = {.count = 0};
  MCP(&items, "reconnected", "github");
  MCP(&items, "disconnected", "github");
  MCP(&items, "unresponsive", "db");
  MCP(&items, "reconnected", "db");
  EXPECT_PLAN(items, ANNIHILATE, 0, "2 4 | 1:superseded/19>2 3:superseded/19>4 | 0");
}

/* -- states ------------------------------------------------------------------------------------ */

Test(states, of_the_budget_and_of_each_limit, .fini = free_facts) {
  struct items items = {.count = 0};
  ITEM(&items, .source = "budget", .made_by = MADE_BY_BUDGET_USAGE, .level = TIDINGS_LEVEL_ERROR);
  DATA(&items, "{\"retry_after_ms\":60000,\"provider\":\"p\"}", .made_by = MADE_BY_RATE_LIMITED);
  DATA(&items, "{\"retry_after_ms\":1}", .made_by = MADE_BY_RATE_LIMITED);
  DATA(&items, "{\"retry_after_ms\":1,\"provider\":\"any\"}", .made_by = MADE_BY_RATE_LIMITED);
  DATA(&items, "{\"retry_after_ms\":5000,\"provider\":\"p\"}", .made_by = MADE_BY_RATE_LIMITED);
  ITEM(&items, .source = "budget", .made_by = MADE_BY_BUDGET_USAGE);
  ITEM(&items, .source = "budget");
  EXPECT_PLAN(items, "{\"delivery\":{\"order\":\"time\"}}", 0,
              "6 5 3 4 7 | 1:superseded/19>6 2:superseded/19>5 | 0");
  DATA(&items, "{\"retry_after_ms\":2}", .made_by = MADE_BY_RATE_LIMITED);
  EXPECT_PLAN(items, "{\"delivery\":{\"order\":\"time\"}}", 0,
              "6 5 8 4 7 | 1:superseded/19>6 2:superseded/19>5 3:superseded/19>8 | 0");
}

/* `tidings run` reports the waiting as a state and the end as an end. */
Test(states, a_command_that_ended_does_not_wait, .fini = free_facts) {
  struct items items = {.count = 0};
  HANDLE(&items, "waiting", .handle = "make-1", .level = TIDINGS_LEVEL_WARNING);
  HANDLE(&items, "waiting", .handle = "npm-1", .level = TIDINGS_LEVEL_WARNING);
  ITEM(&items, .source = "run", .name = "finished", .message = "made", .handle = "make-1",
       .made_by = MADE_BY_RUN_FINISHED);
  ITEM(&items, .source = "run", .name = "failed", .message = "tests", .handle = "npm-1",
       .level = TIDINGS_LEVEL_ERROR, .made_by = MADE_BY_RUN_FAILED);
  DATA(&items, "{\"server\":\"npm-1\"}", .source = "mcp", .name = "disconnected",
       .message = "another thing", .made_by = MADE_BY_MCP_STATE);
  EXPECT_PLAN(items, "{\"delivery\":{\"order\":\"time\"}}", 0,
              "3 4 5 | 1:superseded/19>3 2:superseded/19>4 | 0");
}

Test(states, the_newest_of_a_handle_stands, .fini = free_facts) {
  struct items items = {.count = 0};
  HANDLE(&items, "waiting", .handle = "h_1", .level = TIDINGS_LEVEL_WARNING);
  HANDLE(&items, "waiting", .handle = "h_2", .level = TIDINGS_LEVEL_WARNING);
  HANDLE(&items, "stopped", .handle = "h_1");
  ITEM(&items, .handle = "h_1", .name = "waiting");
  EXPECT_PLAN(items, "", 0, "2 3 4 | 1:superseded/19>3 | 0");
}

Test(states, what_is_critical_gives_way_to_what_is_critical_alone, .fini = free_facts) {
  struct items items = {.count = 0};
  HANDLE(&items, "waiting", .handle = "h_1");
  HANDLE(&items, "failed", .handle = "h_1", .level = TIDINGS_LEVEL_CRITICAL);
  HANDLE(&items, "stopped", .handle = "h_1");
  EXPECT_PLAN(items, "", 0, "2 3 | 1:superseded/19>3 | 0");
  HANDLE(&items, "failed", .handle = "h_1", .level = TIDINGS_LEVEL_CRITICAL);
  EXPECT_PLAN(items, "", 0, "4 | 1:superseded/19>4 2:superseded/19>4 3:superseded/19>4 | 0");
}

Test(states, only_what_is_shown_stands, .fini = free_facts) {
  struct items items = {.count = 0};
  HANDLE(&items, "waiting", .handle = "h_1");
  HANDLE(&items, "stopped", .handle = "h_1");
  EXPECT_PLAN(items, "{\"conversation\":{\"notifications\":{\"kinds\":{\"tool.stopped\":false}}}}",
              0, "1 | 2:filtered/8 | 0");
}

/* -- withdraw ---------------------------------------------------------------------------------- */

Test(withdraw, a_watcher_saw_what_the_assistant_did, .fini = free_facts) {
  struct items items = {.count = 0};
  FILE_CHANGED(&items, "a", .time_ms = 1000);
  FILE_CHANGED(&items, "b", .time_ms = 1000);
  FILE_CHANGED(&items, "a", .time_ms = 3000, .caused_by = "call_1");
  FILE_CHANGED(&items, "a", .time_ms = 5000);
  FILE_CHANGED(&items, "a", .time_ms = 5001);
  EXPECT_PLAN(items, "", 5001, "2 5 | 1:withdrawn/16>3 3:withdrawn/3 4:withdrawn/16>3 | 0");
}

Test(withdraw, an_edit_waits_unseen_for_watchers_that_are_late, .fini = free_facts) {
  struct items items = {.count = 0};
  FILE_CHANGED(&items, "a", .time_ms = 3000, .caused_by = "call_1");
  ITEM(&items, .time_ms = 3000, .caused_by = "call_1");
  EXPECT_PLAN(items, "", 3000, " | 2:withdrawn/3 | 0");
  EXPECT_PLAN(items, "", 5000, " | 2:withdrawn/3 | 0");
  EXPECT_PLAN(items, "", 5001, " | 1:withdrawn/3 2:withdrawn/3 | 0");
  EXPECT_PLAN(items, "", 999, " | 1:withdrawn/3 2:withdrawn/3 | 0"); /* the clock was set back */
}

Test(withdraw, every_path_must_be_its_own, .fini = free_facts) {
  struct items items = {.count = 0};
  DATA(&items, "{\"paths\":[\"a\",\"b\"]}", .source = "file", .name = "changed",
       .made_by = MADE_BY_FILE_CHANGED);
  FILE_CHANGED(&items, "a", .caused_by = "call_1");
  EXPECT_PLAN(items, "", 2001, "1 | 2:withdrawn/3 | 0");
  FILE_CHANGED(&items, "b", .caused_by = "call_2");
  EXPECT_PLAN(items, "", 2001, " | 1:withdrawn/16>3 2:withdrawn/3 3:withdrawn/3 | 0");
}

/* Stamps prove which change it was, whatever the time between the reports says. */
Test(withdraw, equal_stamps_are_one_change_and_others_are_not, .fini = free_facts) {
  struct items items = {.count = 0};
  STAMPED(&items, "a", "1:5:7", .time_ms = 1000);
  STAMPED(&items, "a", "1:6:8", .time_ms = 30000);
  STAMPED(&items, "a", "1:5:7", .time_ms = 30000, .caused_by = "call_1");
  STAMPED(&items, "a", "1:9:9", .time_ms = 30000);
  STAMPED(&items, "b", "1:5:7", .time_ms = 30000);
  STAMPED(&items, "a", "1:5:7", .time_ms = 89000);
  EXPECT_PLAN(items, "", 89000, "2 4 5 | 1:withdrawn/16>3 6:withdrawn/16>3 | 0");
}

Test(withdraw, without_a_stamp_on_both_sides_the_time_decides, .fini = free_facts) {
  struct items items = {.count = 0};
  STAMPED(&items, "a", "1:5:7", .time_ms = 3000, .caused_by = "call_1");
  FILE_CHANGED(&items, "a", .time_ms = 5000);
  FILE_CHANGED(&items, "a", .time_ms = 5001);
  FILE_CHANGED(&items, "b", .time_ms = 5001, .caused_by = "call_2");
  STAMPED(&items, "b", "1:5:7", .time_ms = 5001);
  STAMPED(&items, "b", "", .time_ms = 7001);
  STAMPED(&items, "b", "1:5:7", .time_ms = 7002);
  EXPECT_PLAN(items, "", 63001,
              "3 7 | 1:withdrawn/3 2:withdrawn/16>1 4:withdrawn/3 5:withdrawn/16>4 "
              "6:withdrawn/16>4 | 0");
}

Test(withdraw, an_edit_with_a_stamp_waits_for_a_minute, .fini = free_facts) {
  struct items items = {.count = 0};
  STAMPED(&items, "a", "1:5:7", .time_ms = 3000, .caused_by = "call_1");
  STAMPED(&items, "a", "", .time_ms = 3000, .caused_by = "call_1");
  EXPECT_PLAN(items, "", 5000, " | | 0");
  EXPECT_PLAN(items, "", 63000, " | 2:withdrawn/3 | 0");
  EXPECT_PLAN(items, "", 63001, " | 1:withdrawn/3 2:withdrawn/3 | 0");
}

Test(withdraw, each_path_has_its_stamp, .fini = free_facts) {
  struct items items = {.count = 0};
  STAMPED_LIST(&items, "[\"a\",\"b\",\"c\"]", "[\"s1\",\"s2\",null]", .caused_by = "call_1");
  STAMPED_LIST(&items, "[\"b\",\"a\"]", "[\"s2\",\"s1\"]", .time_ms = 9000);
  STAMPED_LIST(&items, "[\"b\",\"a\"]", "[\"s1\",\"s2\"]", .time_ms = 0);
  STAMPED_LIST(&items, "[\"c\"]", "[\"s1\"]", .time_ms = 0);
  EXPECT_PLAN(items, "", 9000, "3 | 2:withdrawn/16>1 4:withdrawn/16>1 | 0");
}

Test(withdraw, a_poll_ends_all_of_a_handle_and_running_its_waiting) {
  struct items items = {.count = 0};
  struct disposition dispositions[MOST_ITEMS];
  ITEM(&items, .name = "waiting");
  ITEM(&items, .name = "stopped");
  ITEM(&items, .name = "waiting");
  items.items[0].note.handle = items.items[1].note.handle = span_text("h_1");
  items.items[2].note.handle = span_text("h_2");
  cr_assert_eq(
      plan_withdrawal(items.items, 3, span_text("h_1"), REASON_POLLED, false, dispositions), 2);
  cr_expect(dispositions[0].n == 1 && dispositions[1].n == 2 &&
            dispositions[1].outcome == OUTCOME_WITHDRAWN &&
            dispositions[1].reason == REASON_POLLED);
  cr_assert_eq(
      plan_withdrawal(items.items, 3, span_text("h_1"), REASON_RUNNING, false, dispositions), 1);
  cr_expect_eq(dispositions[0].n, 1);
  cr_expect_eq(
      plan_withdrawal(items.items, 3, span_text("h_3"), REASON_POLLED, false, dispositions), 0);
  items.items[0].note.level = TIDINGS_LEVEL_CRITICAL;
  cr_assert_eq(
      plan_withdrawal(items.items, 3, span_text("h_1"), REASON_POLLED, false, dispositions), 1);
  cr_expect_eq(dispositions[0].n, 2);
  cr_expect_eq(
      plan_withdrawal(items.items, 3, span_text("h_1"), REASON_RUNNING, true, dispositions), 1);
}

Test(withdraw, what_is_critical_is_said_whoever_caused_it) {
  struct items items = {.count = 0};
  ITEM(&items, .caused_by = "call_1", .level = TIDINGS_LEVEL_CRITICAL);
  ITEM(&items, .caused_by = "call_1", .level = TIDINGS_LEVEL_ERROR);
  EXPECT_PLAN(items, "", 0, "1 | 2:withdrawn/3 | 0");
}

Test(facts, only_what_is_text_in_an_object, .fini = free_facts) {
  static const char *const without[] = {
      "",           "[\"path\"]", "{\"path\":5}", "{\"path\":\"\"}", "{\"paths\":{\"path\":\"a\"}}",
      "{\"path\":", "\"path\""};
  for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
    struct items items = {.count = 0};
    DATA(&items, without[i], .message = "m", .made_by = MADE_BY_FILE_CHANGED);
    cr_expect_eq(items.items[0].facts.path_count, 0, "%s", without[i]);
  }
  struct items items = {.count = 0};
  static const char data[] = "{\"paths\":[\"b\",1,\"\",\"c\"],\"path\":\"a\",\"server\":\"s\","
                             "\"change\":\"deleted\",\"retry_after_ms\":12,\"provider\":\"p\"}";
  DATA(&items, data, .message = "m", .made_by = MADE_BY_FILE_CHANGED);
  DATA(&items, data, .message = "m", .made_by = MADE_BY_MCP_STATE);
  DATA(&items, data, .message = "m", .made_by = MADE_BY_RATE_LIMITED);
  DATA(&items, data, .message = "m");
  const struct facts *facts = &items.items[0].facts;
  cr_assert_eq(facts->path_count, 3);
  cr_expect(span_is(facts->paths[0], "a") && span_is(facts->paths[1], "b") &&
            span_is(facts->paths[2], "c") && facts->change == FILE_DELETED);
  cr_expect(span_is(items.items[1].facts.server, "s") && !items.items[1].facts.path_count);
  cr_expect_eq(items.items[2].facts.retry_after_ms, 12);
  cr_expect(span_is(items.items[2].facts.provider, "p"));
  facts = &items.items[3].facts;
  cr_expect(!facts->path_count && !facts->server.len && !facts->retry_after_ms);
}

/* A stamp belongs only to the path at the same place in its list, whatever data was stored. */
Test(facts, stamps_stand_with_their_paths, .fini = free_facts) {
  struct items items = {.count = 0};
  DATA(&items, "{\"paths\":[\"b\",1,\"c\",\"d\"],\"stamps\":[\"s1\",\"s2\",null]}",
       .made_by = MADE_BY_FILE_CHANGED);
  DATA(&items, "{\"path\":\"a\",\"stamp\":7}", .made_by = MADE_BY_FILE_CHANGED);
  DATA(&items, "{\"path\":\"a\",\"stamp\":\"é\\n\"}", .made_by = MADE_BY_FILE_CHANGED);
  const struct facts *facts = &items.items[0].facts;
  cr_assert_eq(facts->path_count, 3);
  cr_assert(facts->stamps && span_is(facts->stamps[0], "s1"));
  cr_expect(!facts->stamps[1].len && !facts->stamps[2].len);
  cr_expect(!items.items[1].facts.stamps);
  cr_assert(items.items[2].facts.stamps && span_is(items.items[2].facts.stamps[0], "é\n"));
}
