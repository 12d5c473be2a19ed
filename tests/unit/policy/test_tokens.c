/* SPDX-License-Identifier: MIT
 *
 * The token budget: a message is shown whole, or only its first line, or waits; and no message
 * waits for ever.
 */
#include <stdio.h>

#include "items.h"

TestSuite(tokens);

static uint64_t one_a_letter(void *context, struct tidings_span message) {
  (void)context;
  return message.len;
}

struct shown {
  const char *text; /* the lines' messages, with " | " between */
  size_t deferred;
};

static struct shown show(const struct items *items, const char *configuration,
                         const struct token_counter *counter) {
  struct arena arena = ARENA_EMPTY;
  struct settings settings = settings_from(configuration, &arena);
  struct plan plan;
  struct buffer text = BUFFER_EMPTY;
  cr_assert_eq(plan_delivery(items->items, items->count, &settings, 0, counter, &arena, &plan), 0);
  for (size_t i = 0; i < plan.line_count; i++)
    buffer_format(&text, "%s%.*s", i ? " | " : "", SPAN_FORMAT(plan.lines[i].message));
  struct shown shown = {text_of(buffer_view(&text)), plan.deferred};
  buffer_free(&text);
  arena_free(&arena);
  return shown;
}

#define TOKENS(n) "{\"delivery\":{\"order\":\"time\",\"max_tokens\":" n "}}"

static void expect_shown(const struct items *items, const char *configuration, const char *text,
                         size_t deferred) {
  struct shown shown = show(items, configuration, NULL);
  cr_expect_str_eq(shown.text, text);
  cr_expect_eq(shown.deferred, deferred);
}

Test(tokens, are_bytes_by_four_rounded_up) {
  struct items items = {.count = 0};
  ITEM(&items, .message = "12345");
  ITEM(&items, .message = "1234");
  expect_shown(&items, TOKENS("3"), "12345 | 1234", 0);
  expect_shown(&items, TOKENS("2"), "12345", 1);
}

Test(tokens, are_what_the_host_counts) {
  struct items items = {.count = 0};
  const struct token_counter counter = {one_a_letter, NULL};
  ITEM(&items, .message = "12345");
  ITEM(&items, .message = "1234");
  cr_expect_str_eq(show(&items, TOKENS("8"), &counter).text, "12345");
  cr_expect_str_eq(show(&items, TOKENS("9"), &counter).text, "12345 | 1234");
}

Test(tokens, first_whole_then_the_first_line_then_later) {
  struct items items = {.count = 0};
  ITEM(&items, .message = "whole\nand its end");
  ITEM(&items, .source = "b",
       .message = "first\na rest that is much longer than a few tokens can hold");
  ITEM(&items, .source = "c", .message = "too late");
  expect_shown(&items, TOKENS("11"), "whole\nand its end | first… (54 more bytes)", 1);
  expect_shown(&items, TOKENS("10"), "whole\nand its end", 2);
  expect_shown(&items, TOKENS("100"),
               "whole\nand its end | first\na rest that is much longer than a few tokens can hold "
               "| too late",
               0);
}

#define FIFTY "01234567890123456789012345678901234567890123456789"

Test(tokens, what_comes_first_is_always_shown) {
  struct items items = {.count = 0};
  ITEM(&items, .message = FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY);
  ITEM(&items, .message = "next");
  expect_shown(&items, TOKENS("70"), FIFTY FIFTY FIFTY FIFTY FIFTY "… (250 more bytes) | next", 0);
  expect_shown(&items, TOKENS("1"), FIFTY FIFTY FIFTY FIFTY "012… (297 more bytes)", 1);
  struct items small = {.count = 0};
  ITEM(&small, .message = FIFTY FIFTY FIFTY FIFTY "and a little");
  expect_shown(&small, TOKENS("1"), FIFTY FIFTY FIFTY FIFTY "and a little", 0);
}

Test(tokens, a_critical_keeps_its_first_line) {
  struct items items = {.count = 0};
  ITEM(&items, .message = FIFTY FIFTY FIFTY FIFTY FIFTY "\n" FIFTY,
       .level = TIDINGS_LEVEL_CRITICAL);
  expect_shown(&items, TOKENS("1"), FIFTY FIFTY FIFTY FIFTY FIFTY "… (51 more bytes)", 0);
}

/* The blanks before a text do not count as what has to be shown of it. */
Test(tokens, a_cut_shows_more_than_blanks) {
  struct items items = {.count = 0};
  static char blanks[1001];
  memset(blanks, ' ', sizeof blanks - 1);
  struct buffer message = BUFFER_EMPTY, wanted = BUFFER_EMPTY;
  buffer_format(&message, "%s" FIFTY FIFTY FIFTY FIFTY FIFTY, blanks);
  buffer_format(&wanted, "%s" FIFTY FIFTY FIFTY FIFTY "012… (47 more bytes)", blanks);
  ITEM(&items, .message = text_of(buffer_view(&message)));
  expect_shown(&items, TOKENS("1"), text_of(buffer_view(&wanted)), 0);
  buffer_free(&message);
  buffer_free(&wanted);
}

#define IN_FORMAT(format, n)                                                                       \
  "{\"delivery\":{\"order\":\"time\",\"format\":\"" format "\",\"max_tokens\":" n "}}"

Test(tokens, count_the_names_that_a_format_shows) {
  struct items items = {.count = 0};
  ITEM(&items, .source = "12345678", .name = "1234", .message = "first");
  ITEM(&items, .source = "1234", .name = "1234", .message = "next");
  expect_shown(&items, IN_FORMAT("markdown", "3"), "first | next", 0);
  expect_shown(&items, IN_FORMAT("plain", "5"), "first", 1);
  expect_shown(&items, IN_FORMAT("plain", "6"), "first | next", 0);
  expect_shown(&items, IN_FORMAT("xml-batch", "5"), "first", 1);
  expect_shown(&items, IN_FORMAT("xml", "7"), "first", 1);
  expect_shown(&items, IN_FORMAT("xml", "8"), "first | next", 0);
  items.items[0].note.made_by = items.items[1].note.made_by = MADE_BY_CONFIG_CHANGED;
  expect_shown(&items, IN_FORMAT("plain", "3"), "first | next", 0);
}

Test(tokens, an_empty_line_is_no_first_line) {
  struct items items = {.count = 0};
  ITEM(&items, .message = "\n \t\r\nfirst of all\n" FIFTY, .level = TIDINGS_LEVEL_CRITICAL);
  expect_shown(&items, TOKENS("1"), "\n \t\r\nfirst of all… (51 more bytes)", 0);
}

Test(tokens, a_cut_splits_no_character) {
  struct items items = {.count = 0};
  static char message[512] = "x";
  for (size_t i = 1; i + 2 < sizeof message; i += 2) memcpy(message + i, "é", 2);
  ITEM(&items, .message = message);
  struct shown shown = show(&items, TOKENS("1"), NULL);
  cr_expect(strstr(shown.text, "é… (") != NULL, "%s", shown.text);
}

Test(tokens, and_a_cap_go_together) {
  struct items items = {.count = 0};
  for (int i = 0; i < 6; i++) ITEM(&items, .source = "chatty", .message = "1234");
  ITEM(&items, .source = "quiet", .message = "1234");
  EXPECT_PLAN(items, "{\"delivery\":{\"max_items\":5,\"max_tokens\":3}}", 0, "1 2 7 | | 4");
  EXPECT_PLAN(items, "{\"delivery\":{\"max_items\":2,\"max_tokens\":3}}", 0, "1 7 | | 5");
}

/* With any settings, repeated deliveries empty the queue, each item delivered once, and while a
 * source waits it has its turn. */
Test(tokens, delivery_after_delivery_the_queue_empties) {
  static const char *const orders[] = {"level", "time", "newest"};
  struct random random = {9};
  for (int round = 0; round < 600; round++) {
    struct items items = {.count = 0};
    struct arena arena = ARENA_EMPTY;
    char configuration[256];
    bool delivered[MOST_ITEMS + 1] = {false};
    size_t count = 1 + random_below(&random, 50);
    for (size_t i = 0; i < count; i++) {
      static const char *const sources[] = {"a", "a", "a", "b", "c"};
      ITEM(&items, .n = i + 1, .source = sources[random_below(&random, 5)],
           .level = (uint8_t)random_below(&random, 4), .time_ms = (int64_t)i,
           .message = random_below(&random, 3) ? "some text of a few words"
                                               : "first line\nsecond line, longer than the first");
    }
    (void)snprintf(configuration, sizeof configuration,
                   "{\"delivery\":{\"max_items\":%zu,\"max_tokens\":%zu,\"order\":\"%s\","
                   "\"coalesce_window_ms\":%zu}}",
                   random_below(&random, 5), 1 + random_below(&random, 40), orders[round % 3],
                   random_below(&random, 2) * 3);
    struct settings settings = settings_from(configuration, &arena);
    size_t deliveries = 0;
    while (items.count) {
      struct plan plan;
      size_t left = 0, f = 0;
      cr_assert_eq(plan_delivery(items.items, items.count, &settings, 0, NULL, &arena, &plan), 0);
      cr_assert(plan.line_count > 0 && deliveries++ < 50, "%s: nothing moves", configuration);
      for (size_t i = 0; i < items.count; i++) {
        if (f < plan.disposition_count && plan.dispositions[f].n == items.items[i].n) {
          cr_assert(plan.dispositions[f].outcome == OUTCOME_DELIVERED &&
                    !delivered[plan.dispositions[f].n]);
          delivered[plan.dispositions[f++].n] = true;
        } else {
          items.items[left++] = items.items[i];
        }
      }
      cr_assert(f == plan.disposition_count && (left > 0) == (plan.deferred > 0));
      items.count = left;
    }
    for (size_t i = 1; i <= count; i++) cr_assert(delivered[i], "item %zu never came", i);
    arena_free(&arena);
  }
}
