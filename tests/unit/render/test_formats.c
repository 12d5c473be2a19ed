/* SPDX-License-Identifier: MIT
 *
 * Tests every format with golden files, among them the examples of the document from which the XML
 * formats come, with a list of known attacks, and with arbitrary bytes in every field.
 */
#include <stdio.h>
#include <tidings/reply.h>

#include "attacks.h"
#include "block_check.h"
#include "items.h"

TestSuite(formats);

static const char *const names[FORMAT_COUNT] = {
    "markdown",        "markdown-flat", "xml",       "xml-batch",      "json",
    "system-reminder", "openai",        "anthropic", "synthetic-call", "plain"};

static const char nonce[] = "5f1d3c2b9a8e7061";

/* A line for each item, in order. */
static struct render_input input_of(const struct items *items, struct line *lines, uint8_t format) {
  static struct tidings_span ids[MOST_ITEMS];
  for (size_t i = 0; i < items->count; i++) {
    const struct item *item = &items->items[i];
    lines[i] = (struct line){.item = item,
                             .message = item->note.message,
                             .place = item->n,
                             .count = 1,
                             .level = item->note.level};
    ids[i] = span_text("notif_00000000-0000-4000-8000-000000000000");
  }
  return (struct render_input){.lines = lines,
                               .line_count = items->count,
                               .host_name = span_text("JP"),
                               .format = format,
                               .place = TIDINGS_PLACE_APPEND,
                               .call_ids = ids};
}

/* Writes the carrier's text with the block in it, or each message after a line that says whose it
 * is. */
static void write_sent(const struct rendered *messages, size_t count, const char *content,
                       struct buffer *out) {
  static const char *const roles[] = {"carrier", "block", "developer", "user", "tool"},
                           *const places[] = {"prepend", "append", "before", "after", "pair"};
  if (count == 1 && messages[0].role == TIDINGS_VOICE_CARRIER) {
    if (messages[0].place == TIDINGS_PLACE_APPEND) buffer_text(out, content);
    buffer_span(out, messages[0].text);
    if (messages[0].place == TIDINGS_PLACE_PREPEND) buffer_text(out, content);
    return;
  }
  for (size_t i = 0; i < count; i++)
    buffer_format(out, "== %s %s %.*s\n%.*s\n", roles[messages[i].role], places[messages[i].place],
                  SPAN_FORMAT(messages[i].call_id), SPAN_FORMAT(messages[i].text));
}

static void expect_sent(const struct render_input *input, const char *content, const char *golden) {
  struct arena arena = ARENA_EMPTY;
  struct buffer out = BUFFER_EMPTY;
  const struct rendered *messages;
  size_t count;
  cr_assert_eq(render_messages(input, &arena, &messages, &count), 0);
  const char *problem = block_problem(input, messages, count);
  cr_expect_null(problem, "%s: %s", golden, problem);
  write_sent(messages, count, content, &out);
  expect_golden(golden, buffer_view(&out));
  buffer_free(&out);
  arena_free(&arena);
}

static void file_watcher(struct items *items, const char *message) {
  ITEM(items, .source = "file_watcher", .message = message);
}

Test(formats, xml_is_the_documents_example) {
  struct items items = {.count = 0};
  struct line lines[MOST_ITEMS];
  file_watcher(&items, "src/lib.rs was modified externally");
  struct render_input input = input_of(&items, lines, FORMAT_XML);
  expect_sent(&input, "File updated successfully", "003-xml-one.txt");
  items.count = 0;
  file_watcher(&items, "src/lib.rs modified externally");
  file_watcher(&items, "src/main.rs modified externally");
  ITEM(&items, .source = "background_task", .message = "Build completed: 2 warnings");
  input = input_of(&items, lines, FORMAT_XML);
  expect_sent(&input, "File updated successfully", "003-xml-all.txt");
  input = input_of(&items, lines, FORMAT_XML_BATCH);
  expect_sent(&input, "File updated successfully", "003-xml-batch.txt");
}

Test(formats, xml_batch_with_a_cap_is_the_documents_example) {
  struct items items = {.count = 0};
  struct line lines[MOST_ITEMS];
  file_watcher(&items, "src/lib.rs modified");
  file_watcher(&items, "src/main.rs modified");
  ITEM(&items, .source = "background_task", .message = "Build completed");
  struct render_input input = input_of(&items, lines, FORMAT_XML_BATCH);
  input.deferred = 4;
  expect_sent(&input, "File updated successfully", "003-xml-batch-capped.txt");
}

Test(formats, coalesced_is_the_documents_example) {
  struct items items = {.count = 0};
  struct line lines[MOST_ITEMS];
  file_watcher(&items, "Multiple files modified: src/lib.rs, src/main.rs");
  ITEM(&items, .source = "background_task", .message = "Build completed: 2 warnings");
  struct render_input input = input_of(&items, lines, FORMAT_XML);
  expect_sent(&input, "File updated successfully", "003-xml-coalesced.txt");
}

/* All levels, several lines, markup, more that waits. */
static struct items sample(void) {
  struct items items = {.count = 0};
  ITEM(&items, .name = "failed", .message = "Tool `cargo_check` failed with exit code 101.",
       .level = TIDINGS_LEVEL_CRITICAL);
  ITEM(&items, .source = "mcp", .name = "disconnected",
       .message = "MCP server `github` has disconnected.", .level = TIDINGS_LEVEL_ERROR);
  ITEM(&items, .name = "waiting", .message = "Tool `git` (handle `h_1`) is waiting for input.",
       .level = TIDINGS_LEVEL_WARNING);
  ITEM(&items, .source = "subagent", .name = "finished",
       .message = "[Subagent 'research' finished]\nFound <three> & more:\n- one\n- \"two\"");
  ITEM(&items, .source = "news", .message = "---");
  return items;
}

/* The ages of the sample's lines: not old enough, minutes, hours, days, and from a clock that ran
 * ahead. */
static const int64_t ages_ms[] = {60000, INT64_C(12) * 60000 + 59999, INT64_C(3) * 3600000,
                                  INT64_C(50) * 3600000, -1};

Test(formats, each_is_its_golden_file) {
  struct items items = sample();
  struct line lines[MOST_ITEMS];
  for (unsigned format = 0; format < FORMAT_COUNT; format++) {
    char golden[64];
    struct render_input input = input_of(&items, lines, (uint8_t)format);
    (void)snprintf(golden, sizeof golden, "format-%s.txt", names[format]);
    expect_sent(&input, "The result.", golden);
    input.deferred = 4;
    input.nonce = span_text(nonce);
    input.place = TIDINGS_PLACE_PREPEND;
    input.chat_request = true;
    input.host_name = span_of(NULL, 0);
    (void)snprintf(golden, sizeof golden, "format-%s-nonce.txt", names[format]);
    expect_sent(&input, "The result.", golden);
    input.place = TIDINGS_PLACE_APPEND;
    input.bare = true;
    input.age_after_ms = 60000;
    input.now_ms = 1000000000;
    for (size_t i = 0; i < items.count; i++) lines[i].time_ms = input.now_ms - ages_ms[i];
    (void)snprintf(golden, sizeof golden, "format-%s-bare.txt", names[format]);
    expect_sent(&input, "The result.", golden);
  }
}

static const char traceback[] = "Traceback (most recent call last):\n"
                                "  File \"/w/app.py\", line 3, in <module>\n"
                                "    main()\n"
                                "    ~~~~^^\n"
                                "\n"
                                "ValueError: 7";
static const char diff[] = "The hook changed src/app.c:\n"
                           "--- a/src/app.c\n"
                           "+++ b/src/app.c\n"
                           "@@ -1,3 +1,3 @@\n"
                           " int main(void) {\n"
                           "-\treturn 1;\n"
                           "+\treturn 0;\n"
                           " }\n";
static const char yaml[] = "The job needs:\n"
                           "steps:\n"
                           "  - run: make\n"
                           "    env:\n"
                           "      CC: gcc\n"
                           "\n"
                           "  - run: make test\n";

Test(formats, several_lines_keep_their_indentation_and_empty_lines) {
  static const uint8_t some[] = {FORMAT_MARKDOWN, FORMAT_XML, FORMAT_PLAIN};
  struct items items = {.count = 0};
  struct line lines[MOST_ITEMS];
  ITEM(&items, .message = traceback, .level = TIDINGS_LEVEL_ERROR);
  ITEM(&items, .message = diff);
  ITEM(&items, .message = yaml);
  for (size_t i = 0; i < sizeof some; i++) {
    char golden[64];
    struct render_input input = input_of(&items, lines, some[i]);
    input.bare = true;
    input.age_after_ms = 60000;
    input.now_ms = 180000;
    (void)snprintf(golden, sizeof golden, "several-lines-%s.txt", names[some[i]]);
    expect_sent(&input, "The result.", golden);
  }
}

Test(formats, instructions_are_their_golden_files) {
  for (unsigned format = 0; format < FORMAT_COUNT; format++) {
    char golden[64];
    struct buffer out = BUFFER_EMPTY;
    struct render_input input = {.format = (uint8_t)format};
    (void)snprintf(golden, sizeof golden, "instructions-%s.txt", names[format]);
    render_instructions(&input, &out);
    buffer_text(&out, "\n\n");
    input.nonce = span_text(nonce);
    render_instructions(&input, &out);
    buffer_byte(&out, '\n');
    expect_golden(golden, buffer_view(&out));
    buffer_free(&out);
  }
}

/* -- hostile text ------------------------------------------------------------------------------ */

static void expect_sound(const struct render_input *input, const char *what, long round) {
  struct arena arena = ARENA_EMPTY;
  const struct rendered *messages;
  size_t count;
  cr_assert_eq(render_messages(input, &arena, &messages, &count), 0);
  const char *problem = block_problem(input, messages, count);
  cr_assert_null(problem, "%s, %s %ld: %s:\n%.*s", names[input->format], what, round, problem,
                 SPAN_FORMAT(messages[0].text));
  arena_free(&arena);
}

Test(formats, no_known_attack_gets_out_of_any) {
  struct line lines[MOST_ITEMS];
  for (size_t a = 0; a < ATTACK_COUNT; a++) {
    for (unsigned variant = 0; variant < FORMAT_COUNT * 16; variant++) {
      struct items items = {.count = 0};
      ITEM(&items, .message = "before");
      ITEM(&items, .source = variant & 1 ? attacks[a] : "tool",
           .name = variant & 1 ? attacks[a] : "x", .message = attacks[a],
           .level = (uint8_t)(a % 4));
      ITEM(&items, .message = "after");
      struct render_input input = input_of(&items, lines, (uint8_t)(variant / 16));
      if (variant & 2) input.host_name = span_text(attacks[a]);
      if (variant & 4) input.deferred = 4;
      if (variant & 8) input.nonce = span_text(nonce);
      input.bare = (variant & 10) == 10;
      input.age_after_ms = variant & 4 ? 90000 : 0;
      input.now_ms = variant & 4 ? 180000 : 0;
      const struct tidings_span steered[] = {span_text("before"), span_text(attacks[a])};
      input.steered = steered;
      input.steered_count = variant & 2 ? 2 : 0;
      expect_sound(&input, "attack", (long)a);
    }
  }
}

Test(formats, arbitrary_bytes_in_every_field_stay_inside) {
  struct random random = {7};
  for (long round = 0; round < 18000; round++) {
    struct items items = {.count = 0};
    struct arena arena = ARENA_EMPTY;
    struct line lines[MOST_ITEMS];
    for (size_t n = 1 + random_below(&random, 4); n; n--) {
      ITEM(&items, .level = (uint8_t)random_below(&random, 4));
      struct notification *note = &items.items[items.count - 1].note;
      note->source = hostile_text(&random, &arena);
      note->name = hostile_text(&random, &arena);
      note->message = hostile_text(&random, &arena);
    }
    struct render_input input = input_of(&items, lines, (uint8_t)(round % FORMAT_COUNT));
    input.host_name = hostile_text(&random, &arena);
    input.deferred = random_below(&random, 3);
    if (random_below(&random, 2)) input.nonce = span_text(nonce);
    input.bare = random_below(&random, 2);
    input.age_after_ms = random_below(&random, 2) ? 1 : 0;
    input.now_ms = (int64_t)(random_next(&random) >> random_below(&random, 64));
    input.place = random_below(&random, 2) ? TIDINGS_PLACE_APPEND : TIDINGS_PLACE_PREPEND;
    const struct tidings_span steered[] = {hostile_text(&random, &arena),
                                           hostile_text(&random, &arena)};
    input.steered = steered;
    input.steered_count = random_below(&random, 3);
    input.chat_request = random_below(&random, 2);
    if (input.steered_count && random_below(&random, 4) == 0) input.line_count = 0;
    expect_sound(&input, "round", round);
    arena_free(&arena);
  }
}
