/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/fuzz_subscribe.c: a server that sends anything. Each line of the input is one thing
 * that happens: "t" and a number: time passes; "f" and a number: a failure with that status; "s":
 * bytes of an event stream; any other line: a message, in which @ stands for the id of the open
 * request. Checks that requests are JSON, that at most one is open and has a new id, that no empty
 * cursor is handed out, that null is not sent twice after there was a cursor, and that nothing
 * follows the end.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "subscribe/events.h"
#include "subscribe/plain.h"

static const struct json_rules lenient = {
    .max_depth = 512, .nul = true, .halves = true, .repeats = true, .large = true};

struct trial {
  struct events *events;
  struct plain *plain;
  struct sse sse;
  uint64_t request, last;
  bool had_cursor, ended;
  bool null; /* there was a cursor, and the last request did not send it */
  int64_t now;
};

static void check_request(struct trial *trial, const struct output *output) {
  struct arena arena = ARENA_EMPTY;
  const struct json *root = NULL;
  MUST(!memchr(output->text.ptr, '\n', output->text.len), "more than a line");
  MUST(!json_read_by(&lenient, output->text, "request", &arena, &root, NULL), "%.*s",
       SPAN_FORMAT(output->text));
  const struct json *cursor = json_member(json_member(root, "params"), "cursor");
  bool list = output->method && strcmp(output->method, "events/list") == 0;
  if (!list && cursor) {
    bool null = trial->had_cursor && cursor->kind != JSON_IS_STRING;
    MUST(!null || !trial->null, "null is sent again");
    trial->null = null;
  }
  MUST(!output->id || output->id > trial->last, "an old id");
  if (output->id) trial->last = trial->request = output->id;
  arena_free(&arena);
}

static void check(struct trial *trial, const struct outputs *outputs) {
  MUST(!outputs->failed, "no memory");
  for (size_t i = 0; i < outputs->count; i++) {
    const struct output *row = &outputs->rows[i];
    MUST(!trial->ended, "something after the end");
    if (row->kind == OUTPUT_SEND && trial->events) check_request(trial, row);
    if (row->kind == OUTPUT_SEND && trial->plain) trial->request = row->id;
    if (row->kind == OUTPUT_PUSH) {
      MUST(row->document, "nothing to push");
      MUST(trial->plain || row->text.len, "a push without an id");
    }
    if (row->kind == OUTPUT_CURSOR) {
      MUST(row->text.len, "an empty cursor");
      trial->had_cursor = true;
    }
    if (row->kind == OUTPUT_NOTICE) MUST(row->notice.len && row->text.len, "an empty notice");
    if (row->kind == OUTPUT_END) trial->ended = true;
  }
}

static void fail(struct trial *trial, int status) {
  const struct events_failure failure = {.status = status, .reason = "fuzz"};
  if (trial->events) events_note_date(trial->events, trial->now * status, trial->now);
  if (trial->events) events_failed(trial->events, trial->request, &failure, trial->now);
  else plain_failed(trial->plain, trial->request, &failure, 0, trial->now);
}

static void pass_time(struct trial *trial, int64_t ms) {
  trial->now += ms;
  if (trial->events) events_tick(trial->events, trial->now);
  else plain_tick(trial->plain, trial->now);
}

static void hear(struct trial *trial, struct tidings_span text) {
  struct buffer message = BUFFER_EMPTY;
  for (size_t i = 0; i < text.len; i++) {
    if (text.ptr[i] == '@') buffer_format(&message, "%llu", (unsigned long long)trial->request);
    else buffer_byte(&message, text.ptr[i]);
  }
  if (trial->events) events_message(trial->events, buffer_view(&message), trial->now, trial->now);
  else plain_alive(trial->plain, trial->now);
  if (trial->events) check(trial, events_outputs(trial->events));
  buffer_free(&message);
}

static void hear_stream(struct trial *trial, struct tidings_span bytes) {
  struct sse_event event;
  while (sse_next(&trial->sse, &bytes, &event)) {
    if (trial->events) events_message(trial->events, event.data, trial->now, trial->now);
    else plain_event(trial->plain, &event, trial->now);
    check(trial, trial->events ? events_outputs(trial->events) : plain_outputs(trial->plain));
  }
}

static void step(struct trial *trial, struct tidings_span line) {
  char number[16] = "";
  if (line.len > 1) memcpy(number, line.ptr + 1, line.len - 1 < 15 ? line.len - 1 : 15);
  char kind = line.len ? line.ptr[0] : ' ';
  if (kind == 's') {
    hear_stream(trial, span_of(line.ptr + 1, line.len - 1));
    hear_stream(trial, span_text("\n"));
    return;
  }
  if (kind == 't') pass_time(trial, atoi(number) % 1000000 < 0 ? 0 : atoi(number) % 1000000);
  else if (kind == 'f') fail(trial, atoi(number) % 1000);
  else {
    hear(trial, line);
    return;
  }
  check(trial, trial->events ? events_outputs(trial->events) : plain_outputs(trial->plain));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  const char *bytes = (const char *)data, *end = bytes + len;
  uint8_t how = len ? data[0] : 0;
  const struct events_wish wish = {.name = "e",
                                   .server = "s",
                                   .url = "https://h/",
                                   .secret = "whsec_s",
                                   .heartbeat_ms = 30000,
                                   .delivery = (enum events_delivery)(how % 4),
                                   .process = how & 4,
                                   .random = how};
  struct trial trial = {.now = 0};
  if (how & 8) trial.plain = plain_new(&wish);
  else trial.events = events_new(&wish);
  MUST(trial.plain || trial.events, "no memory");
  if (trial.plain) plain_begin(trial.plain, 0);
  else events_begin(trial.events, 0);
  check(&trial, trial.events ? events_outputs(trial.events) : plain_outputs(trial.plain));
  while (bytes < end) {
    const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
    size_t size = (size_t)((newline ? newline : end) - bytes);
    step(&trial, span_of(bytes, size));
    bytes += size + (newline != NULL);
  }
  events_free(trial.events);
  plain_free(trial.plain);
  sse_free(&trial.sse);
  return 0;
}
