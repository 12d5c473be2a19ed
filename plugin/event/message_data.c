/* SPDX-License-Identifier: MIT
 *
 * event/message_data.c: the data of message events. It does not look at the text of a content or a
 * trigger.
 */
#include "common/error.h"
#include "event/event_data.h"

enum field { ID, CONTENT, DELIVERY, TRIGGER, RESUME, DUE_AT, FIELD_COUNT };
static const char *const field_names[FIELD_COUNT] = {"id",      "content", "delivery",
                                                     "trigger", "resume",  "due_at"};

static int read_id(const struct data_input *input, const struct json *value,
                   struct message_event *message) {
  if (!value) return field_missing(&event_data, "id", "the id of a message", input->error);
  return field_message_id(&event_data, value, &message->id, input->error);
}

static int read_content(const struct data_input *input, const struct json *value,
                        struct message_event *message) {
  if (!value) return field_missing(&event_data, "content", "a string", input->error);
  int code = field_string(&event_data, value, SIZE_MAX, &message->content, input->error);
  if (!code && !message->content.len)
    code = fail(input->error, TIDINGS_E_SCHEMA, "data.content: must not be empty");
  return code;
}

static int read_trigger(const struct data_input *input, const struct json *value,
                        struct message_event *message) {
  int code = field_object(&event_data, value, input->error);
  if (!code && json_compact(value, input->arena, &message->trigger))
    code = fail(input->error, TIDINGS_E_NOMEM, "event: no memory to keep it");
  return code;
}

static int read_delivery(const struct data_input *input, const struct json *value,
                         struct message_event *message) {
  static const char *const deliveries[] = {"queue", "steer"};
  uint8_t delivery = 0;
  if (!value) return field_missing(&event_data, "delivery", "queue or steer", input->error);
  int code = field_choice(&event_data, value, deliveries, 2, &delivery, input->error);
  if (!code) message->steer = delivery == 1;
  return code;
}

int event_read_message_submitted(const struct data_input *input, struct event *event) {
  struct message_event *message = &event->message;
  const struct json *slots[FIELD_COUNT];
  int code = event_data_members(input, field_names, FIELD_COUNT, 0, slots);
  if (!code) code = read_id(input, slots[ID], message);
  if (!code && message_id_is_system(message->id))
    code = fail(input->error, TIDINGS_E_SCHEMA,
                "data.id: %s starts with \"tidings:\", as only the ids of system turns do; "
                "expected another id",
                quote(message->id).text);
  if (!code) code = read_content(input, slots[CONTENT], message);
  message->steer = input->settings->steer_by_default;
  if (!code && slots[DELIVERY]) code = read_delivery(input, slots[DELIVERY], message);
  if (!code && slots[TRIGGER]) code = read_trigger(input, slots[TRIGGER], message);
  if (!code && slots[RESUME])
    code = field_bool(&event_data, slots[RESUME], &message->resume, input->error);
  if (!code) code = event_read_due(slots[DUE_AT], &message->due_ms, input->error);
  if (!code && message->due_ms && slots[DELIVERY] && message->steer)
    code = fail(input->error, TIDINGS_E_SCHEMA,
                "data.due_at: a message with delivery steer goes to the turn that runs now; "
                "expected delivery queue, or no due_at");
  return code;
}

int event_read_message_cancelled(const struct data_input *input, struct event *event) {
  const struct json *slots[1];
  int code = event_data_members(input, field_names, 1, 0, slots);
  return code ? code : read_id(input, slots[ID], &event->message);
}

int event_read_message_edited(const struct data_input *input, struct event *event) {
  const struct json *slots[2];
  int code = event_data_members(input, field_names, 2, 0, slots);
  if (!code) code = read_id(input, slots[ID], &event->message);
  return code ? code : read_content(input, slots[CONTENT], &event->message);
}

int event_read_message_redirected(const struct data_input *input, struct event *event) {
  static const char *const names[] = {"id", "delivery"};
  const struct json *slots[2];
  int code = event_data_members(input, names, 2, 0, slots);
  if (!code) code = read_id(input, slots[0], &event->message);
  return code ? code : read_delivery(input, slots[1], &event->message);
}

int event_read_message_moved(const struct data_input *input, struct event *event) {
  enum { MOVED, BEFORE, COUNT };
  static const char *const names[COUNT] = {"id", "before"};
  static const char expected[] = "the id of another message, or null for the last place";
  struct message_event *message = &event->message;
  const struct json *slots[COUNT];
  int code = event_data_members(input, names, COUNT, 0, slots);
  if (!code) code = read_id(input, slots[MOVED], message);
  if (code) return code;
  const struct json *before = slots[BEFORE];
  if (!before) return field_missing(&event_data, names[BEFORE], expected, input->error);
  message->last = before->kind == JSON_IS_NULL;
  if (message->last) return 0;
  if (before->kind != JSON_IS_STRING)
    return field_refuse(&event_data, before, expected, input->error);
  code = field_message_id(&event_data, before, &message->before, input->error);
  if (!code && span_equal(message->before, message->id))
    code =
        fail(input->error, TIDINGS_E_SCHEMA, "data.before: %s is the message itself; expected %s",
             quote(message->id).text, expected);
  return code;
}
