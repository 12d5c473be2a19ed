/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/fuzz_render.c: arbitrary bytes in every rendered field. The first byte of an input
 * chooses the format, and the second the other settings. Then come fields with a NUL between them:
 * the host's name, and for each item its source, name and message. The messages are also steered,
 * and the whole input is also a tool's result.
 */
#include "fuzz.h"

#include <tidings/reply.h>

#include "block_check.h"
#include "neutral_check.h"
#include "render/neutralize.h"

enum {
  MOST_ITEMS = 6,
  HAS_NONCE = 1,
  HAS_MORE = 2,
  IS_APPENDED = 4,
  IS_CHAT = 8,
  IS_BARE = 0x40,
  IS_OLD = 0x80,
  LEVEL_SHIFT = 4
};

static struct tidings_span take_field(struct tidings_span *rest) {
  size_t len = 0;
  while (len < rest->len && rest->ptr[len]) len++;
  struct tidings_span field = span_of(rest->ptr, len);
  if (len < rest->len) len++;
  *rest = span_of(rest->ptr + len, rest->len - len);
  return field;
}

static void check_neutralized(struct tidings_span text) {
  struct buffer once = BUFFER_EMPTY, twice = BUFFER_EMPTY;
  neutralize(text, &once);
  neutralize(buffer_view(&once), &twice);
  MUST(!once.failed && !twice.failed, "no memory");
  const char *problem = change_problem(text, buffer_view(&once));
  if (!problem) problem = lookalike_problem(buffer_view(&once), false);
  MUST(!problem, "neutralized: %s:\n%.*s", problem, SPAN_FORMAT(buffer_view(&once)));
  MUST(span_equal(buffer_view(&once), buffer_view(&twice)),
       "neutralized twice it is something else:\n%.*s", SPAN_FORMAT(buffer_view(&twice)));
  buffer_free(&once);
  buffer_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct item items[MOST_ITEMS] = {{.n = 0}};
  struct line lines[MOST_ITEMS];
  struct tidings_span ids[MOST_ITEMS], steered[MOST_ITEMS];
  struct arena arena = ARENA_EMPTY;
  const struct rendered *messages;
  size_t count = 0;
  if (len < 3) return 0;
  struct tidings_span rest = span_of((const char *)data + 2, len - 2);
  struct render_input input = {
      .lines = lines,
      .host_name = take_field(&rest),
      .format = (uint8_t)(data[0] % FORMAT_COUNT),
      .place = data[1] & IS_APPENDED ? TIDINGS_PLACE_APPEND : TIDINGS_PLACE_PREPEND,
      .deferred = data[1] & HAS_MORE ? 4 : 0,
      .nonce = data[1] & HAS_NONCE ? span_text("5f1d3c2b9a8e7061") : span_of(NULL, 0),
      .chat_request = (data[1] & IS_CHAT) != 0,
      .bare = (data[1] & IS_BARE) != 0,
      .now_ms = data[1] & IS_OLD ? INT64_MAX : 0,
      .age_after_ms = data[1] & IS_OLD ? 60000 : 0,
      .call_ids = ids,
      .steered = steered};
  do {
    struct notification *note = &items[input.line_count].note;
    note->source = take_field(&rest);
    note->name = take_field(&rest);
    note->message = take_field(&rest);
    note->level = (uint8_t)((data[1] >> LEVEL_SHIFT) + input.line_count) % LEVEL_COUNT;
    lines[input.line_count] = (struct line){.item = &items[input.line_count],
                                            .message = note->message,
                                            .count = 1,
                                            .level = note->level};
    steered[input.steered_count++] = note->message;
    ids[input.line_count++] = span_text("notif_1");
  } while (rest.len && input.line_count < MOST_ITEMS);
  MUST(render_messages(&input, &arena, &messages, &count) == 0, "no memory");
  const char *problem = block_problem(&input, messages, count);
  MUST(!problem, "format %u: %s:\n%.*s", input.format, problem, SPAN_FORMAT(messages[0].text));
  arena_free(&arena);
  check_neutralized(span_of((const char *)data, len));
  return 0;
}
