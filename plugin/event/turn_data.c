/* SPDX-License-Identifier: MIT
 *
 * event/turn_data.c: the data of turn events. It does not know whether a turn's state allows an
 * event.
 */
#include "common/error.h"
#include "event/event_data.h"

enum field { MESSAGES, REASON, MESSAGE, ATTEMPT, KIND, AT, FIELD_COUNT };
static const char *const field_names[FIELD_COUNT] = {"messages", "reason", "message",
                                                     "attempt",  "kind",   "at"};

/* Refuses an id that is listed twice; it compares a sorted copy. */
static int check_distinct(const struct data_input *input, const struct tidings_span *ids,
                          size_t count) {
  struct tidings_span *sorted = arena_zalloc(input->arena, count, sizeof *sorted);
  if (!sorted) return fail(input->error, TIDINGS_E_NOMEM, "event: no memory to keep it");
  memcpy(sorted, ids, count * sizeof *sorted);
  const struct tidings_span *twice = message_ids_twice(sorted, count);
  return twice ? fail(input->error, TIDINGS_E_SCHEMA, "data.messages: %s appears twice",
                      quote(*twice).text)
               : 0;
}

static int read_messages(const struct data_input *input, const struct json *list,
                         struct turn_event *turn) {
  struct path path = field_place(&event_data, list);
  if (list->kind == JSON_IS_NULL) return 0;
  if (list->kind != JSON_IS_ARRAY)
    return field_refuse(&event_data, list, "an array of message ids", input->error);
  if (!list->count)
    return fail(input->error, TIDINGS_E_SCHEMA,
                "data.messages: an empty array; expected at least one message id, or no such field "
                "for the current turn");
  struct tidings_span *ids = arena_zalloc(input->arena, list->count, sizeof *ids);
  if (!ids) return fail(input->error, TIDINGS_E_NOMEM, "event: no memory to keep it");
  size_t count = 0;
  for (const struct json *one = list->members; one; one = one->next) {
    int code = field_message_id(&path, one, &ids[count++], input->error);
    if (code) return code;
  }
  int code = check_distinct(input, ids, count);
  if (code) return code;
  turn->messages = ids;
  turn->message_count = count;
  turn->has_messages = true;
  return 0;
}

static int read_attempt(const struct json *value, struct turn_event *turn,
                        struct tidings_error *error) {
  int64_t attempt = 0;
  int code = field_integer(&event_data, value, 1, UINT32_MAX, &attempt, error);
  if (!code) turn->attempt = (uint32_t)attempt;
  return code;
}

static int read_wait_kind(const struct json *value, struct turn_event *turn,
                          struct tidings_error *error) {
  static const char *const kinds[] = {"approval", "user-input"};
  uint8_t kind = 0;
  int code = field_choice(&event_data, value, kinds, 2, &kind, error);
  if (!code) turn->kind = value->text;
  return code;
}

static int read_field(const struct data_input *input, enum field field, const struct json *value,
                      struct turn_event *turn) {
  const struct path *data = &event_data;
  switch (field) {
  case REASON: return field_string(data, value, SIZE_MAX, &turn->reason, input->error);
  case MESSAGE: return field_string(data, value, SIZE_MAX, &turn->message, input->error);
  case ATTEMPT: return read_attempt(value, turn, input->error);
  case KIND: return read_wait_kind(value, turn, input->error);
  case AT: return field_integer(data, value, 1, INT64_MAX, &turn->at_ms, input->error);
  case MESSAGES:
  default: return read_messages(input, value, turn);
  }
}

int event_read_turn(const struct data_input *input, struct event *event) {
  static const struct {
    size_t count;
    enum field fields[3];
  } types[] = {[EVENT_TURN_STOP] = {1, {MESSAGES}},
               [EVENT_TURN_STARTED] = {2, {MESSAGES, AT}},
               [EVENT_TURN_DECLINED] = {2, {MESSAGES, REASON}},
               [EVENT_TURN_FINISHED] = {1, {MESSAGES}},
               [EVENT_TURN_ABORTED] = {3, {MESSAGES, REASON, AT}},
               [EVENT_TURN_FAILED] = {3, {MESSAGES, REASON, MESSAGE}},
               [EVENT_TURN_RETRYING] = {3, {MESSAGES, ATTEMPT, MESSAGE}},
               [EVENT_TURN_WAITING] = {3, {MESSAGES, KIND, MESSAGE}}};
  const char *names[FIELD_COUNT] = {NULL};
  const struct json *slots[FIELD_COUNT];
  size_t count = types[event->type].count;
  const enum field *fields = types[event->type].fields;
  for (size_t i = 0; i < count; i++) names[i] = field_names[fields[i]];
  int code = event_data_members(input, names, count, 0, slots);
  for (size_t i = 0; i < count && !code; i++) {
    if (slots[i]) code = read_field(input, fields[i], slots[i], &event->turn);
  }
  return code;
}

int event_read_call(const struct data_input *input, struct event *event) {
  static const char *const names[] = {"tool", "call_id"};
  const struct path *data = &event_data;
  const struct json *slots[2] = {NULL};
  int code = event_data_members(input, names, 2, 0, slots);
  if (code) return code;
  if (slots[0] && !slots[1])
    return field_missing(data, names[1], "the id of the tool's call", input->error);
  if (event->type == EVENT_TOOLS_STARTED && slots[1] && !slots[0])
    return field_missing(data, names[0], "the name of the tool that is called", input->error);
  if (slots[0]) code = field_clean_string(data, slots[0], false, &event->call.tool, input->error);
  if (!code && slots[1])
    code = field_clean_string(data, slots[1], false, &event->call.call_id, input->error);
  return code;
}
