/* SPDX-License-Identifier: MIT
 *
 * Room: bytes of the block as it is rendered. laws/test_room_law.c tests the rules that hold for
 * every block; this file tests which items are shown, cut or left for later.
 */
#include <stdio.h>

#include "items.h"
#include "render/render.h"

TestSuite(room);

#define FIFTY "01234567890123456789012345678901234567890123456789"
#define LONG_LINE FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY

/* Returns the lines' messages with " | " between them, then how many lines wait, and how many of
 * these are too large. */
static const char *shown_in(const struct items *items, const char *configuration, uint64_t bytes,
                            uint64_t taken) {
  struct arena arena = ARENA_EMPTY;
  struct settings settings = settings_from(configuration, &arena);
  const struct render_input frame = {.format = settings.format, .place = settings.place};
  const struct room room = {.frame = &frame, .bytes = bytes, .taken = taken};
  struct plan plan;
  struct buffer text = BUFFER_EMPTY;
  cr_assert_eq(
      plan_delivery_in(&room, NULL, items->items, items->count, &settings, 0, NULL, &arena, &plan),
      0);
  for (size_t i = 0; i < plan.line_count; i++)
    buffer_format(&text, "%s%.*s", i ? " | " : "", SPAN_FORMAT(plan.lines[i].message));
  buffer_format(&text, " + %zu, %zu aside", plan.deferred, plan.too_large);
  for (size_t i = 0; i < plan.disposition_count; i++) {
    if (plan.dispositions[i].outcome != OUTCOME_DELIVERED)
      buffer_format(&text, ", %llu %s", (unsigned long long)plan.dispositions[i].n,
                    outcome_name(plan.dispositions[i].outcome));
  }
  const char *copy = text_of(buffer_view(&text));
  buffer_free(&text);
  arena_free(&arena);
  return copy;
}

#define EXPECT_SHOWN(items, configuration, bytes, taken, expected)                                 \
  do {                                                                                             \
    const char *got = shown_in(&(items), (configuration), (bytes), (taken));                       \
    cr_expect_str_eq(got, (expected));                                                             \
  } while (0)

#define XML "{\"delivery\":{\"preset\":\"xml\",\"format\":\"xml\"}}"
/* An element is "\n\n<notification source="tool">\nm\n</notification>": 47 bytes and the message.
 */
enum { ELEMENT = 47, WAITING = 31 };

/* Both lines have room, but one does not together with the count of the other. */
Test(room, what_has_no_room_beside_the_count_of_what_a_cap_keeps_steps_aside) {
  static const char capped[] =
      "{\"delivery\":{\"preset\":\"xml\",\"format\":\"xml-batch\",\"max_items\":1}}";
  struct items items = {.count = 0};
  ITEM(&items, .message = "one");
  ITEM(&items, .message = "two");
  EXPECT_SHOWN(items, capped, 98, 0, " + 2, 1 aside");
  EXPECT_SHOWN(items, capped, 99, 0, "one + 1, 0 aside");
}

Test(room, is_for_the_block_as_it_is_rendered) {
  struct items items = {.count = 0};
  ITEM(&items, .message = "one");
  ITEM(&items, .message = "t&o"); /* in XML four bytes more */
  EXPECT_SHOWN(items, XML, 2 * (ELEMENT + 3) + 4, 0, "one | t&o + 0, 0 aside");
  EXPECT_SHOWN(items, XML, 2 * (ELEMENT + 3) + 3, 0, "one + 1, 0 aside");
  EXPECT_SHOWN(items, XML, ELEMENT + 7 + WAITING, 0, "one + 1, 0 aside");
  EXPECT_SHOWN(items, XML, ELEMENT + 7 + WAITING - 1, 0, "one + 1, 1 aside");
  EXPECT_SHOWN(items, XML, ELEMENT + 3 + WAITING, 0, "one + 1, 1 aside");
  EXPECT_SHOWN(items, XML, ELEMENT + 3 + WAITING - 1, 0, " + 2, 2 aside");
  EXPECT_SHOWN(items, XML, 1, 0, " + 2, 2 aside");
}

Test(room, critical_comes_first_and_keeps_its_first_line) {
  struct items items = {.count = 0};
  ITEM(&items, .message = "info");
  ITEM(&items, .message = LONG_LINE "\n" FIFTY FIFTY, .level = TIDINGS_LEVEL_CRITICAL);
  EXPECT_SHOWN(items, XML, 618, 0, "info | " LONG_LINE "\n" FIFTY FIFTY " + 0, 0 aside");
  EXPECT_SHOWN(items, XML, 617, 0, LONG_LINE "\n" FIFTY FIFTY " + 1, 0 aside");
  EXPECT_SHOWN(items, XML, 598, 0, LONG_LINE "\n" FIFTY FIFTY " + 1, 0 aside");
  EXPECT_SHOWN(items, XML, 537, 0,
               LONG_LINE "\n"
                         "01234567890123456789… (80 more bytes) + 1, 0 aside");
  EXPECT_SHOWN(items, XML, 515, 0, LONG_LINE "… (101 more bytes) + 1, 0 aside");
  EXPECT_SHOWN(items, XML, 514, 0, "info + 1, 1 aside");
}

Test(room, what_cannot_be_shown_steps_aside) {
  struct items items = {.count = 0};
  ITEM(&items, .message = LONG_LINE "\nmore", .level = TIDINGS_LEVEL_CRITICAL);
  ITEM(&items, .message = "info");
  EXPECT_SHOWN(items, XML, 400, 0, "info + 1, 1 aside");
  EXPECT_SHOWN(items, "{\"delivery\":{\"preset\":\"xml\",\"max_items\":1}}", 400, 0,
               "info + 1, 1 aside");
}

Test(room, what_fits_whole_alone_waits_for_that) {
  struct items items = {.count = 0};
  ITEM(&items, .message = "first");
  ITEM(&items, .message = LONG_LINE);
  ITEM(&items, .message = "last");
  EXPECT_SHOWN(items, XML, 500, 0, "first + 2, 0 aside");
  EXPECT_SHOWN(items, XML, 500, 450, " + 3, 0 aside");
  EXPECT_SHOWN(items, XML, 500, 500, " + 3, 0 aside");
  EXPECT_SHOWN(items, XML, 500, 5000, " + 3, 0 aside");
}

Test(room, where_nothing_is_shown_nothing_is_dropped) {
  struct items items = {.count = 0};
  for (int i = 0; i < 3; i++) ITEM(&items, .message = "m");
#define ONE_ITEM "{\"delivery\":{\"preset\":\"xml\",\"max_items\":1,\"overflow\":\"drop_oldest\"}}"
  EXPECT_SHOWN(items, ONE_ITEM, 100, 0, "m + 0, 0 aside, 1 dropped, 2 dropped");
  EXPECT_SHOWN(items, ONE_ITEM, 100, 90, " + 3, 0 aside");
  EXPECT_SHOWN(items, ONE_ITEM, 20, 0, " + 3, 3 aside");
}

Test(room, no_bound_is_larger_than_the_largest) {
  struct items items = {.count = 0};
  ITEM(&items, .message = LONG_LINE);
  EXPECT_SHOWN(items, XML, UINT64_MAX, 0, LONG_LINE " + 0, 0 aside");
  EXPECT_SHOWN(items, XML, UINT64_MAX, UINT64_MAX, " + 1, 0 aside");
}
