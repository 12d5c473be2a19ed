/* SPDX-License-Identifier: MIT
 *
 * subscribe/events_read.c: reads the server's messages: which request each answers, and the
 * notifications of a stream.
 */
#include <stdlib.h>

#include "common/fnv.h"
#include "subscribe/events_inner.h"

static const struct json_rules message_rules = {
    .max_depth = 64, .nul = true, .halves = true, .repeats = true, .large = true};

static const struct json *text_member(const struct json *object, const char *key) {
  const struct json *value = json_member(object, key);
  return value && value->kind == JSON_IS_STRING ? value : NULL;
}

/* Pushes an event. Without an id, which breaks the protocol, its content is its id. */
void events_push(struct events *events, const struct json *occurrence) {
  if (occurrence->kind != JSON_IS_OBJECT) return;
  const struct json *id = text_member(occurrence, "eventId");
  struct tidings_span text = id ? id->text : span_of(NULL, 0);
  if (!text.len) {
    struct tidings_span whole =
        span_of(events->message.ptr + occurrence->start, occurrence->end - occurrence->start);
    text = outputs_format(&events->outputs, "fnv:%016llx",
                          (unsigned long long)fnv_span(FNV_START, whole));
  }
  struct output *output = outputs_add(&events->outputs, OUTPUT_PUSH);
  output->document = occurrence;
  output->text = text;
}

/* -- notifications ----------------------------------------------------------------------------- */

static bool is_number(const struct json *value, uint64_t number) {
  int64_t found = 0;
  if (!value) return false;
  if (value->kind == JSON_IS_STRING)
    return value->text.len && strtoull(value->text.ptr, NULL, 10) == number;
  return json_to_integer(value, &found) && found >= 0 && (uint64_t)found == number;
}

/* Does the message belong to the open stream? A stream that was given up may still send
 * messages. */
static bool is_of_stream(const struct events *events, const struct json *params) {
  const struct json *id = json_member(json_member(params, "_meta"), EVENTS_META "subscriptionId");
  if (events->state != STATE_STREAM || !events->request) return false;
  return id ? is_number(id, events->request) : !events->wish.process;
}

static void take_active(struct events *events, const struct json *params) {
  events_accept(events);
  const struct json *truncated = json_member(params, "truncated");
  if (events->cursor && truncated && truncated->kind == JSON_IS_TRUE) events_say_gap(events);
  (void)events_take_cursor(events, json_member(params, "cursor"));
}

static void take_stream_error(struct events *events, const struct json *params) {
  const struct json *message = text_member(json_member(params, "error"), "message");
  struct tidings_span text = message ? message->text : span_text("an error");
  outputs_add(&events->outputs, OUTPUT_SAY)->text = outputs_format(
      &events->outputs, "%s: %.*s; the stream goes on", events->wish.server, SPAN_FORMAT(text));
}

/* Any message proves that the stream lives; events and heartbeats prove that the server is well. */
static void take_stream(struct events *events, struct tidings_span what,
                        const struct json *params) {
  bool brings = span_is(what, "event") || span_is(what, "heartbeat");
  events->due_ms = events->now_ms + events_silence_ms(events);
  if (brings) events_thrive(events);
  if (span_is(what, "event")) events_push(events, params);
  if (brings) (void)events_take_cursor(events, json_member(params, "cursor"));
  else if (span_is(what, "active")) take_active(events, params);
  else if (span_is(what, "error")) take_stream_error(events, params);
  else if (span_is(what, "terminated"))
    events_take_termination(events, json_member(params, "error"));
}

static void take_notification(struct events *events, struct tidings_span method,
                              const struct json *params) {
  static const char prefix[] = "notifications/events/";
  size_t len = sizeof prefix - 1;
  if (method.len <= len || memcmp(method.ptr, prefix, len) != 0) return;
  struct tidings_span what = span_of(method.ptr + len, method.len - len);
  bool listed = events->found && events->state != STATE_LIST;
  if (span_is(what, "list_changed") && listed) events_list_changed(events);
  else if (params && is_of_stream(events, params)) take_stream(events, what, params);
}

/* -- messages ---------------------------------------------------------------------------------- */

static void take_answer(struct events *events, const struct json *id, const struct json *message) {
  const struct json *result = json_member(message, "result"),
                    *error = json_member(message, "error");
  if (events->list_request && is_number(id, events->list_request)) {
    events->list_request = 0;
    if (result) events_take_list(events, result, true);
    else events_list_done(events);
  } else if (events->request && is_number(id, events->request)) {
    if (result) events_take_result(events, result);
    else if (error) events_take_error(events, error);
  }
}

static void take_one(struct events *events, const struct json *message) {
  const struct json *method = text_member(message, "method"), *id = json_member(message, "id");
  if (events->state == STATE_ENDED) return;
  if (method && id)
    events_send_answer(events, span_of(events->message.ptr + id->start, id->end - id->start),
                       span_is(method->text, "ping"));
  else if (method) take_notification(events, method->text, json_member(message, "params"));
  else if (id) take_answer(events, id, message);
}

void events_message(struct events *events, struct tidings_span message, int64_t now_ms,
                    int64_t wall_ms) {
  struct tidings_error error = {.size = sizeof error};
  const struct json *root = NULL;
  outputs_begin(&events->outputs);
  if (events->state == STATE_ENDED) return;
  events->now_ms = now_ms;
  events->wall_ms = wall_ms;
  events->message = message;
  int code =
      json_read_by(&message_rules, message, "a message", &events->outputs.arena, &root, &error);
  if (code == TIDINGS_E_NOMEM) events->outputs.failed = true;
  else if (code)
    outputs_add(&events->outputs, OUTPUT_SAY)->text =
        outputs_format(&events->outputs, "%s: %s", events->wish.server, error.text);
  else if (root->kind == JSON_IS_ARRAY)
    for (const struct json *one = root->members; one; one = one->next) take_one(events, one);
  else take_one(events, root);
}
