/* SPDX-License-Identifier: MIT
 *
 * Every allocation of the pure modules fails in turn: each time the failure is reported, nothing is
 * written, and nothing leaks; with memory the same call gives its usual result. The linker sends
 * the modules' calls of malloc here (see CMakeLists.txt).
 */
#include <stdio.h>
#include <stdlib.h>
#include <tidings/reply.h>

#include "config/config.h"
#include "event/event.h"
#include "event/facts.h"
#include "items.h"
#include "render/render.h"
#include "rules/producers/producers.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
/* Visible, because a linker of musl programs also hands the calls of shared libraries to them. */
#pragma GCC visibility push(default)
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
#pragma GCC visibility pop

/* The allocation to fail, counted from now; 0: none. */
static size_t failing, asked;

static bool must_fail(void) { return ++asked == failing; }

void *__wrap_malloc(size_t size) { return must_fail() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) {
  return must_fail() ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size) {
  return must_fail() ? NULL : __real_realloc(old, size);
}

/* Runs `attempt` with the first, second, … allocation failing until none is left to fail.
 * `attempt` returns true if it succeeded. */
static void fail_in_turn(bool (*attempt)(void), size_t at_least) {
  size_t turn = 0;
  bool done = false;
  while (!done && turn < 1000) {
    failing = ++turn;
    asked = 0;
    done = attempt();
    bool reached = asked >= failing;
    failing = 0;
    cr_assert_eq(done, !reached, "allocation %zu failed, and the attempt %s", turn,
                 done ? "succeeded" : "failed without need");
  }
  cr_expect_gt(turn, at_least, "only %zu allocations were tried: is malloc still sent here?",
               turn - 1);
}

/* The size of the inputs: it decides which allocation is the first to need a new chunk. */
static size_t scale;

static void fail_at_all_scales(bool (*attempt)(void), void (*prepare)(void), size_t at_least) {
  for (scale = 10; scale < 400; scale += 13) {
    prepare();
    fail_in_turn(attempt, at_least);
  }
}

/* Enough members to need several chunks, a long message to cut, data to keep. */
static struct buffer json = BUFFER_EMPTY;

static void make_event(void) {
  json.len = 0;
  buffer_text(&json, "{\"type\":\"notification\",\"session\":\"s\",\"id\":\"1\",\"data\":{\"kind\":"
                     "\"tool.x\",\"message\":\"");
  for (int i = 0; i < 20000; i++) buffer_byte(&json, 'm');
  buffer_text(&json, "\",\"data\":{");
  for (size_t i = 0; i < scale; i++)
    buffer_format(&json, "%s\"key%zu\":[%zu,\"\\u0041\"]", i ? "," : "", i, i);
  buffer_text(&json, "}}}");
  cr_assert(!json.failed);
}

static bool try_event(void) {
  struct arena arena = ARENA_EMPTY;
  struct event event = {.type = EVENT_SESSION_CLOSED};
  struct tidings_error error = new_error();
  struct settings settings = {.event_bytes = 262144, .message_bytes = 16384};
  int code = event_parse(buffer_view(&json), &settings, &arena, &event, &error);
  if (code) {
    cr_assert_eq(code, TIDINGS_E_NOMEM, "%s", error.text);
    cr_assert_eq(error.code, TIDINGS_E_NOMEM);
    cr_assert(error.text[0]);
    cr_assert_eq(event.type, EVENT_SESSION_CLOSED, "the result was written");
  } else {
    cr_assert(span_is(event.notification.source, "tool") &&
              event.notification.message.len == 16384 + strlen("… (3616 more bytes)"));
    cr_assert(event.notification.data.len > scale * 10);
  }
  arena_free(&arena);
  return code == 0;
}

Test(memory, of_an_event) {
  fail_at_all_scales(try_event, make_event, 4);
  buffer_free(&json);
}

static bool try_resumed(void) {
  struct arena arena = ARENA_EMPTY;
  struct event event;
  struct buffer text = BUFFER_EMPTY;
  struct settings settings = {.event_bytes = 262144, .message_bytes = 16384};
  bool done = false;
  buffer_text(&text, "{\"type\":\"session.resumed\",\"session\":\"s\",\"data\":{\"deliveries\":[1");
  for (int i = 2; i <= 2000; i++) buffer_format(&text, ",%d", i);
  buffer_text(&text, "]}}");
  if (!text.failed) {
    int code = event_parse(buffer_view(&text), &settings, &arena, &event, NULL);
    cr_assert(code == 0 || code == TIDINGS_E_NOMEM);
    done = code == 0;
    if (done)
      cr_assert(event.opening.delivery_count == 2000 && event.opening.deliveries[1999] == 2000);
  }
  buffer_free(&text);
  arena_free(&arena);
  return done;
}

Test(memory, of_a_resumed_session) { fail_in_turn(try_resumed, 6); }

/* So many ids that neither their list nor its sorted copy fits into an existing chunk. */
static void make_turn(void) {
  json.len = 0;
  buffer_text(&json, "{\"type\":\"turn.started\",\"session\":\"s\",\"data\":{\"messages\":[\"m\"");
  for (size_t i = 0; i < scale * 10; i++) buffer_format(&json, ",\"m%zu\"", i);
  buffer_text(&json, "]}}");
  cr_assert(!json.failed);
}

static bool try_turn(void) {
  struct arena arena = ARENA_EMPTY;
  struct event event = {.type = EVENT_WAKE};
  struct tidings_error error = new_error();
  struct settings settings = {.event_bytes = 262144, .message_bytes = 16384};
  int code = event_parse(buffer_view(&json), &settings, &arena, &event, &error);
  cr_assert(code == 0 || (code == TIDINGS_E_NOMEM && event.type == EVENT_WAKE && error.text[0]),
            "%s", error.text);
  if (!code)
    cr_assert(event.turn.message_count == scale * 10 + 1 && span_is(event.turn.messages[1], "m0"));
  arena_free(&arena);
  return code == 0;
}

Test(memory, of_a_turn) {
  fail_at_all_scales(try_turn, make_turn, 2);
  buffer_free(&json);
}

static void make_message(void) {
  json.len = 0;
  buffer_text(&json, "{\"type\":\"message.submitted\",\"session\":\"s\",\"data\":{\"id\":\"m1\","
                     "\"content\":\"hi\",\"trigger\":{");
  for (size_t i = 0; i < scale; i++)
    buffer_format(&json, "%s\"key%zu\":[%zu,\"\\u0041\"]", i ? "," : "", i, i);
  buffer_text(&json, "}}}");
  cr_assert(!json.failed);
}

static bool try_message(void) {
  struct arena arena = ARENA_EMPTY;
  struct event event = {.type = EVENT_WAKE};
  struct tidings_error error = new_error();
  struct settings settings = {.event_bytes = 262144, .message_bytes = 16384};
  int code = event_parse(buffer_view(&json), &settings, &arena, &event, &error);
  cr_assert(code == 0 || (code == TIDINGS_E_NOMEM && event.type == EVENT_WAKE && error.text[0]),
            "%s", error.text);
  if (!code) cr_assert(span_is(event.message.id, "m1") && event.message.trigger.len > scale * 10);
  arena_free(&arena);
  return code == 0;
}

Test(memory, of_a_message) {
  fail_at_all_scales(try_message, make_message, 2);
  buffer_free(&json);
}

static const char configuration[] =
    "{\"conversation\":{\"notifications\":{\"kinds\":{\"mcp\":{\"enable\":true,\"a\":false},\"tool."
    "stopped\":true}},"
    "\"tools\":{\"git\":{\"notifications\":{\"a\":false}}}},\"delivery\":{\"max_items\":7}}";

static bool try_configuration(void) {
  struct arena arena = ARENA_EMPTY;
  struct settings settings = {.max_items = 99};
  struct tidings_error error = new_error();
  struct buffer out = BUFFER_EMPTY;
  int code = config_parse(span_text(configuration), &arena, &settings, &error);
  if (code) {
    cr_assert_eq(code, TIDINGS_E_NOMEM, "%s", error.text);
    cr_assert_eq(settings.max_items, 99, "the result was written");
  } else {
    cr_assert_eq(settings.max_items, 7);
    config_write(&settings, &out);
    if (!out.failed) cr_assert_eq(out.bytes[out.len - 1], '}');
  }
  bool done = code == 0 && !out.failed;
  buffer_free(&out);
  arena_free(&arena);
  return done;
}

Test(memory, of_the_configuration) { fail_in_turn(try_configuration, 4); }

static struct item plenty[600];

static bool try_plan(void) {
  struct arena arena = ARENA_EMPTY;
  struct plan plan = {.deferred = 77};
  struct settings settings = {.notifications_enabled = true,
                              .order = ORDER_LEVEL,
                              .max_items = (uint32_t)scale / 2,
                              .overflow = OVERFLOW_DEFER};
  int code = plan_delivery(plenty, scale, &settings, 0, NULL, &arena, &plan);
  if (code) {
    cr_assert_eq(code, -1);
    cr_assert(plan.deferred == 77 && !plan.lines, "the result was written");
  } else {
    cr_assert_eq(plan.line_count, scale / 2);
  }
  arena_free(&arena);
  return code == 0;
}

static void fill_plenty(void) {
  static char keys[sizeof plenty / sizeof *plenty][8];
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    (void)snprintf(keys[i], sizeof keys[i], "k%zu", i % 150);
  for (size_t i = 0; i < sizeof plenty / sizeof *plenty; i++) {
    plenty[i] = (struct item){.n = i + 1,
                              .note = {.source = span_text("tool"),
                                       .message = span_text("a message\n---"),
                                       .key = span_text(i % 3 ? "" : keys[i / 3])}};
  }
}

/* Everything that a plan can do at once: facts, edits, pairs that cancel out, common lines, a
 * budget, little room. */
static bool try_whole_plan(void) {
  static const char *const names[] = {"changed", "disconnected", "reconnected"};
  struct arena arena = ARENA_EMPTY;
  struct plan plan = {.deferred = 77};
  struct item items[300];
  struct settings settings = {.notifications_enabled = true,
                              .order = ORDER_LEVEL,
                              .max_items = 5,
                              .max_tokens = 100,
                              .coalesce_window_ms = 40,
                              .annihilate = true,
                              .message_bytes = 2000};
  size_t count = scale < 300 ? scale : 300;
  for (size_t i = 0; i < count; i++) {
    items[i] = (struct item){.n = i + 1, .time_ms = (int64_t)i};
    items[i].note =
        (struct notification){.source = span_text(i % 3 ? "mcp" : "file"),
                              .name = span_text(names[i % 3]),
                              .message = span_text(i % 2 ? "a line\nand another one" : "one"),
                              .data = span_text(i % 3   ? "{\"server\":\"s\"}"
                                                : i % 2 ? "{\"path\":\"a\"}"
                                                        : "{\"paths\":[\"b\",\"c\"]}"),
                              .caused_by = span_text(i % 30 ? "" : "call")};
  }
  const struct render_input frame = {.host_name = span_text("a host")};
  const struct room room = {.frame = &frame, .bytes = 600};
  int code = facts_read(items, count, &arena);
  if (!code) code = plan_delivery_in(&room, NULL, items, count, &settings, 0, NULL, &arena, &plan);
  if (code) cr_assert(plan.deferred == 77 && !plan.lines, "the result was written");
  else cr_assert_gt(plan.line_count, 0);
  arena_free(&arena);
  return code == 0;
}

static void prepare_nothing(void) {}

Test(memory, of_a_plan_with_everything) { fail_at_all_scales(try_whole_plan, prepare_nothing, 1); }

static bool try_report(void) {
  struct arena arena = ARENA_EMPTY;
  struct settings settings = {.event_bytes = 262144, .message_bytes = 64};
  static const struct memory memory = {0};
  static const char report[] = "{\"type\":\"file.changed\",\"session\":\"s\",\"data\":{\"paths\":["
                               "\"src/one.c\",\"src/two.c\",\"src/three.c\",\"src/four.c\"]}}";
  struct produced produced = {.has_note = false};
  struct event event;
  struct tidings_error error = new_error();
  int code = event_parse(span_text(report), &settings, &arena, &event, &error);
  if (code) cr_assert_eq(code, TIDINGS_E_NOMEM, "%s", error.text);
  else code = produce(&event, &settings, &memory, &arena, &produced);
  if (code) cr_assert(!produced.has_note, "the result was written");
  else cr_assert(produced.note.message.len > 64);
  arena_free(&arena);
  return code == 0;
}

Test(memory, of_a_report) { fail_in_turn(try_report, 2); }

static bool try_formats(void) {
  struct arena arena = ARENA_EMPTY;
  struct line lines[40];
  struct tidings_span ids[40];
  bool done = true;
  for (size_t i = 0; i < 40; i++) {
    lines[i] = (struct line){
        .item = &plenty[i], .message = plenty[i].note.message, .place = i, .count = 1};
    ids[i] = span_text("notif_1");
  }
  for (unsigned format = 0; format < FORMAT_COUNT && done; format++) {
    const struct rendered *messages = NULL;
    size_t count = 77;
    struct render_input input = {.lines = lines,
                                 .line_count = 40,
                                 .deferred = 2,
                                 .format = (uint8_t)format,
                                 .call_ids = ids,
                                 .now_ms = 120000,
                                 .age_after_ms = 60000,
                                 .steered = &plenty[0].note.message,
                                 .steered_count = 1};
    done = render_messages(&input, &arena, &messages, &count) == 0;
    if (!done) cr_assert(!messages && count == 77, "the result was written");
  }
  arena_free(&arena);
  return done;
}

Test(memory, of_every_format) {
  fill_plenty();
  fail_in_turn(try_formats, 10);
}

Test(memory, of_a_plan) { fail_at_all_scales(try_plan, fill_plenty, 1); }

static bool try_render(void) {
  struct line lines[100];
  struct buffer out = BUFFER_EMPTY;
  for (size_t i = 0; i < 100; i++)
    lines[i] = (struct line){
        .item = &plenty[i], .message = plenty[i].note.message, .place = i, .count = 1};
  struct render_input input = {.lines = lines, .line_count = 100, .host_name = span_text("JP")};
  render_carrier_text(&input, &out);
  bool done = !out.failed;
  if (done) cr_assert(out.len > 2000 && memcmp(out.bytes + out.len - 5, "---\n\n", 5) == 0);
  buffer_free(&out);
  return done;
}

Test(memory, of_a_block) {
  fill_plenty();
  fail_in_turn(try_render, 3);
}
