/* SPDX-License-Identifier: MIT
 *
 * Many become one line, what cancels out becomes none, and what the assistant did itself is no
 * news.
 */
#include <stdio.h>

#include "event/facts.h"
#include "items.h"

TestSuite(coalesce);

static struct arena facts_arena = ARENA_EMPTY;
static void free_facts(void) { arena_free(&facts_arena); }

/* An item with `data`, whose facts are read as a delivery reads them. */
static void add_with_data(struct items *items, struct item_spec spec, const char *data) {
  add_item(items, spec);
  struct item *item = &items->items[items->count - 1];
  item->note.data = span_text(data);
  cr_assert_eq(facts_read(item, 1, &facts_arena), 0);
}

#define DATA(items, data, ...) add_with_data((items), (struct item_spec){__VA_ARGS__}, (data))
#define FILE_CHANGED(items, path, ...)                                                             \
  DATA((items), "{\"path\":\"" path "\"}", .source = "file", .name = "changed",                    \
       .message = "`" path "` was modified externally.", __VA_ARGS__)

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
       .message = "x");
  EXPECT_LINES(items, "Multiple files modified: src/lib.rs, src/main.rs, c|4|info");
}

Test(coalesce, equal_messages_are_counted, .fini = free_facts) {
  struct items items = {.count = 0};
  for (int i = 0; i < 3; i++) FILE_CHANGED(&items, "a", .time_ms = i);
  ITEM(&items, .message = "Rate limited.\n");
  ITEM(&items, .message = "Rate limited.\n");
  EXPECT_LINES(items,
               "`a` was modified externally. (3 times)|3|info\nRate limited. (2 times)|2|info");
}

Test(coalesce, others_stand_one_behind_the_other, .fini = free_facts) {
  struct items items = {.count = 0};
  ITEM(&items, .name = "stopped", .message = "one");
  ITEM(&items, .name = "stopped", .message = "two", .level = TIDINGS_LEVEL_ERROR);
  ITEM(&items, .name = "stopped", .message = "one");
  ITEM(&items, .name = "waiting", .message = "another kind");
  EXPECT_LINES(items, "one (2 times); two|3|error\nanother kind|1|info");
}

Test(coalesce, files_and_others_of_one_kind_share_a_line, .fini = free_facts) {
  struct items items = {.count = 0};
  ITEM(&items, .source = "file", .name = "changed", .message = "The tree was moved.");
  FILE_CHANGED(&items, "a", .time_ms = 0);
  FILE_CHANGED(&items, "b", .time_ms = 0);
  EXPECT_LINES(items, "The tree was moved.; Multiple files modified: a, b|3|info");
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
  ITEM(&items, .message = "a", .time_ms = 0);
  ITEM(&items, .message = "b", .time_ms = 1500);
  ITEM(&items, .message = "c", .time_ms = 2000);
  ITEM(&items, .message = "d", .time_ms = 2001);
  ITEM(&items, .message = "e", .time_ms = 4001);
  ITEM(&items, .message = "f", .time_ms = 4002);
  EXPECT_LINES(items, "a; b; c|3|info\nd; e|2|info\nf|1|info");
}

Test(coalesce, a_clock_that_jumps_back_breaks_nothing, .fini = free_facts) {
  struct items items = {.count = 0};
  ITEM(&items, .message = "a", .time_ms = INT64_MAX);
  ITEM(&items, .message = "b", .time_ms = INT64_MIN);
  ITEM(&items, .message = "c", .time_ms = INT64_MIN + 1);
  EXPECT_LINES(items, "a|1|info\nb; c|2|info");
}

Test(coalesce, is_off_unless_asked_for, .fini = free_facts) {
  struct items items = {.count = 0};
  ITEM(&items, .message = "a");
  ITEM(&items, .message = "a");
  cr_expect_str_eq(lines_of(&items, ""), "a|1|info\na|1|info");
}

Test(coalesce, a_line_stays_within_the_limit_of_a_message, .fini = free_facts) {
  struct items items = {.count = 0};
  static char names[40][32], data[40][64];
  for (int i = 0; i < 40; i++) {
    (void)snprintf(names[i], sizeof names[i], "file-%02d", i);
    (void)snprintf(data[i], sizeof data[i], "{\"path\":\"file-%02d\"}", i);
    DATA(&items, data[i], .source = "file", .name = "changed", .message = names[i]);
  }
  cr_expect_str_eq(
      lines_of(&items,
               "{\"delivery\":{\"coalesce_window_ms\":1},\"limits\":{\"message_bytes\":64}}"),
      "Multiple files modified: file-00, file-01, file-02, file-03… (36 more files)|40|info");
  for (size_t i = 0; i < items.count; i++) items.items[i].facts = (struct facts){.paths = NULL};
  cr_expect_str_eq(
      lines_of(&items,
               "{\"delivery\":{\"coalesce_window_ms\":1},\"limits\":{\"message_bytes\":64}}"),
      "file-00; file-01; file-02; file-03; file-04; file-05; file-06; … (33 more)|40|info");
}

Test(coalesce, all_of_a_line_is_delivered_and_names_its_first, .fini = free_facts) {
  struct items items = {.count = 0};
  ITEM(&items, .message = "a");
  ITEM(&items, .source = "mcp", .message = "x");
  ITEM(&items, .message = "b");
  struct arena arena = ARENA_EMPTY;
  struct settings settings = settings_from(WINDOW, &arena);
  struct plan plan;
  cr_assert_eq(plan_delivery(items.items, items.count, &settings, 0, NULL, &arena, &plan), 0);
  static const uint64_t refs[] = {1, 0, 1};
  cr_assert_eq(plan.fate_count, 3);
  for (size_t i = 0; i < 3; i++) {
    cr_expect_eq(plan.fates[i].outcome, OUTCOME_DELIVERED);
    cr_expect_eq(plan.fates[i].reason, REASON_SHOWN);
    cr_expect_eq(plan.fates[i].ref, refs[i]);
  }
  arena_free(&arena);
}

Test(coalesce, a_cap_counts_lines_and_what_waits_in_items, .fini = free_facts) {
  struct items items = {.count = 0};
  ITEM(&items, .source = "mcp", .message = "x", .level = TIDINGS_LEVEL_ERROR);
  for (int i = 0; i < 5; i++) ITEM(&items, .source = "a");
  EXPECT_PLAN(items, "{\"delivery\":{\"coalesce_window_ms\":5,\"max_items\":1}}", 0, "1 | | 5");
  EXPECT_PLAN(
      items,
      "{\"delivery\":{\"coalesce_window_ms\":5,\"max_items\":1,\"overflow\":\"drop_lowest\"}}", 0,
      "1 | 2:dropped/11 3:dropped/11 4:dropped/11 5:dropped/11 6:dropped/11 | 0");
}

/* -- annihilate -------------------------------------------------------------------------------- */

#define MCP(items, state, server)                                                                  \
  DATA((items), "{\"server\":\"" server "\"}", .source = "mcp", .name = (state), .message = (state))
#define ANNIHILATE "{\"delivery\":{\"annihilate\":true,\"order\":\"time\"}}"

Test(annihilate, gone_and_back_is_no_news, .fini = free_facts) {
  struct items items = {.count = 0};
  MCP(&items, "disconnected", "github");
  MCP(&items, "disconnected", "db");
  MCP(&items, "reconnected", "github");
  EXPECT_PLAN(items, ANNIHILATE, 0, "2 | 1:annihilated/17>3 3:annihilated/17>1 | 0");
  EXPECT_PLAN(items, "", 0, "1 2 3 | | 0");
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
  EXPECT_PLAN(items, ANNIHILATE, 0, "1 2 3 4 | | 0");
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
  DATA(&items, "{\"paths\":[\"a\",\"b\"]}", .source = "file", .name = "changed");
  FILE_CHANGED(&items, "a", .caused_by = "call_1");
  EXPECT_PLAN(items, "", 2001, "1 | 2:withdrawn/3 | 0");
  FILE_CHANGED(&items, "b", .caused_by = "call_2");
  EXPECT_PLAN(items, "", 2001, " | 1:withdrawn/16>3 2:withdrawn/3 3:withdrawn/3 | 0");
}

Test(withdraw, a_poll_ends_all_of_a_handle_and_running_its_waiting) {
  struct items items = {.count = 0};
  struct fate fates[MOST_ITEMS];
  ITEM(&items, .name = "waiting");
  ITEM(&items, .name = "stopped");
  ITEM(&items, .name = "waiting");
  items.items[0].note.handle = items.items[1].note.handle = span_text("h_1");
  items.items[2].note.handle = span_text("h_2");
  cr_assert_eq(plan_withdrawal(items.items, 3, span_text("h_1"), REASON_POLLED, fates), 2);
  cr_expect(fates[0].n == 1 && fates[1].n == 2 && fates[1].outcome == OUTCOME_WITHDRAWN &&
            fates[1].reason == REASON_POLLED);
  cr_assert_eq(plan_withdrawal(items.items, 3, span_text("h_1"), REASON_RUNNING, fates), 1);
  cr_expect_eq(fates[0].n, 1);
  cr_expect_eq(plan_withdrawal(items.items, 3, span_text("h_3"), REASON_POLLED, fates), 0);
}

Test(facts, only_what_is_text_in_an_object, .fini = free_facts) {
  static const char *const without[] = {
      "",           "[\"path\"]", "{\"path\":5}", "{\"path\":\"\"}", "{\"paths\":{\"path\":\"a\"}}",
      "{\"path\":", "\"path\""};
  for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
    struct items items = {.count = 0};
    DATA(&items, without[i], .message = "m");
    cr_expect_eq(items.items[0].facts.path_count, 0, "%s", without[i]);
  }
  struct items items = {.count = 0};
  DATA(&items, "{\"paths\":[\"b\",1,\"\",\"c\"],\"path\":\"a\",\"server\":\"s\"}", .message = "m");
  const struct facts *facts = &items.items[0].facts;
  cr_assert_eq(facts->path_count, 3);
  cr_expect(span_is(facts->paths[0], "a") && span_is(facts->paths[1], "b") &&
            span_is(facts->paths[2], "c") && span_is(facts->server, "s"));
}
