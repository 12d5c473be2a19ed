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

/* Sorted aside. */
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
  struct path path = path_member(&event_data_path, "messages");
  if (list->kind == JSON_IS_NULL) return 0;
  if (list->kind != JSON_IS_ARRAY)
    return field_refuse(&path, list, "an array of message ids", input->error);
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

static int read_attempt(const struct path *path, const struct json *value, struct turn_event *turn,
                        struct tidings_error *error) {
  int64_t attempt = 0;
  int code = field_integer(path, value, 1, UINT32_MAX, &attempt, error);
  if (!code) turn->attempt = (uint32_t)attempt;
  return code;
}

static int read_wait_kind(const struct path *path, const struct json *value,
                          struct turn_event *turn, struct tidings_error *error) {
  static const char *const kinds[] = {"approval", "user-input"};
  uint8_t kind = 0;
  int code = field_choice(path, value, kinds, 2, &kind, error);
  if (!code) turn->kind = value->text;
  return code;
}

static int read_field(const struct data_input *input, enum field field, const struct json *value,
                      struct turn_event *turn) {
  struct path path = path_member(&event_data_path, field_names[field]);
  switch (field) {
  case REASON: return field_string(&path, value, SIZE_MAX, &turn->reason, input->error);
  case MESSAGE: return field_string(&path, value, SIZE_MAX, &turn->message, input->error);
  case ATTEMPT: return read_attempt(&path, value, turn, input->error);
  case KIND: return read_wait_kind(&path, value, turn, input->error);
  case AT: return field_integer(&path, value, 1, INT64_MAX, &turn->at_ms, input->error);
  case MESSAGES:
  default: return read_messages(input, value, turn);
  }
}

static int read_fields(const struct data_input *input, const enum field *fields, size_t count,
                       struct turn_event *turn) {
  const char *names[FIELD_COUNT] = {NULL};
  const struct json *slots[FIELD_COUNT];
  for (size_t i = 0; i < count; i++) names[i] = field_names[fields[i]];
  int code = event_data_members(input, names, count, 0, slots);
  for (size_t i = 0; i < count && !code; i++) {
    if (slots[i]) code = read_field(input, fields[i], slots[i], turn);
  }
  return code;
}

int event_read_turn_started(const struct data_input *input, struct event *event) {
  static const enum field fields[] = {MESSAGES, AT};
  return read_fields(input, fields, 2, &event->turn);
}

int event_read_turn_named(const struct data_input *input, struct event *event) {
  static const enum field fields[] = {MESSAGES};
  return read_fields(input, fields, 1, &event->turn);
}

int event_read_turn_reasoned(const struct data_input *input, struct event *event) {
  static const enum field fields[] = {MESSAGES, REASON};
  return read_fields(input, fields, 2, &event->turn);
}

int event_read_turn_aborted(const struct data_input *input, struct event *event) {
  static const enum field fields[] = {MESSAGES, REASON, AT};
  return read_fields(input, fields, 3, &event->turn);
}

int event_read_turn_failed(const struct data_input *input, struct event *event) {
  static const enum field fields[] = {MESSAGES, REASON, MESSAGE};
  return read_fields(input, fields, 3, &event->turn);
}

int event_read_turn_retrying(const struct data_input *input, struct event *event) {
  static const enum field fields[] = {MESSAGES, ATTEMPT, MESSAGE};
  return read_fields(input, fields, 3, &event->turn);
}

int event_read_turn_waiting(const struct data_input *input, struct event *event) {
  static const enum field fields[] = {MESSAGES, KIND, MESSAGE};
  return read_fields(input, fields, 3, &event->turn);
}

/* The call of a tool that the event is about. */
static int read_call(const struct data_input *input, bool starts, struct event *event) {
  static const char *const names[] = {"tool", "call_id"};
  struct path tool = path_member(&event_data_path, "tool");
  struct path call_id = path_member(&event_data_path, "call_id");
  const struct json *slots[2] = {NULL};
  int code = event_data_members(input, names, 2, 0, slots);
  if (code) return code;
  if (slots[0] && !slots[1])
    return field_missing(&call_id, "the id of the tool's call", input->error);
  if (starts && slots[1] && !slots[0])
    return field_missing(&tool, "the name of the tool that is called", input->error);
  if (slots[0]) code = field_clean_string(&tool, slots[0], false, &event->call.tool, input->error);
  if (!code && slots[1])
    code = field_clean_string(&call_id, slots[1], false, &event->call.call_id, input->error);
  return code;
}

int event_read_tools_started(const struct data_input *input, struct event *event) {
  return read_call(input, true, event);
}

int event_read_tools_finished(const struct data_input *input, struct event *event) {
  return read_call(input, false, event);
}
