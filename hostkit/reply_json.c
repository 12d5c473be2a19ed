/* SPDX-License-Identifier: MIT
 *
 * reply_json.c: the JSON form of a reply. It has the same facts as the structs; numbers that stand
 * for words are written as words.
 */
#include "reply_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "copy_reply.h"
#include "errors.h"
#include "json.h"

#define WORD(words, number) word((words), sizeof(words) / sizeof((words)[0]), (number))

static const char *const levels[] = {"info", "warning", "error", "critical"};
static const char *const roles[] = {"carrier", "block", "developer", "user", "tool"};
static const char *const places[] = {"prepend", "append", "before", "after", "pair"};
static const char *const action_types[] = {NULL, "start_turn", "abort_stream"};
static const char *const causes[] = {NULL, "critical"};
static const char *const sources[] = {"user", "system"};
static const char *const states[] = {"idle", "starting", "busy", "retrying", "waiting", "error"};
static const char *const phases[] = {NULL, "streaming", "tools"};

/* The word for a number; null for none, and "17" for one that a later minor has added. */
static json_t *word(const char *const *words, size_t count, uint32_t number) {
  char digits[16];
  if (number < count) return words[number] ? json_string(words[number]) : json_null();
  (void)snprintf(digits, sizeof digits, "%" PRIu32, number);
  return json_string(digits);
}

static json_t *time_or_null(int64_t ms) { return ms ? json_integer(ms) : json_null(); }

static json_t *finished(json_t *value, int failed) {
  if (!failed) return value;
  json_decref(value);
  return NULL;
}

static json_t *ids(const struct tidings_span *const *list, size_t count) {
  json_t *array = json_array();
  int failed = 0;
  for (size_t i = 0; i < count; i++) failed |= hk_json_add(array, hk_json_text(*list[i]));
  return finished(array, failed);
}

static json_t *notification(const struct tidings_notification *from) {
  json_t *kind = json_object();
  int failed = hk_json_put(kind, "source", hk_json_text(from->kind_source));
  failed |= hk_json_put(kind, "name", hk_json_text(from->kind_name));
  json_t *object = json_object();
  failed |= hk_json_put(object, "kind", kind);
  failed |= hk_json_put(object, "level", WORD(levels, from->level));
  failed |= hk_json_put(object, "message", hk_json_text(from->text));
  if (from->data.len) failed |= hk_json_put(object, "data", hk_json_value(from->data));
  if (from->count > 1) failed |= hk_json_put(object, "count", json_integer(from->count));
  return finished(object, failed);
}

static json_t *message(const struct tidings_part *from) {
  json_t *object = json_object();
  int failed = hk_json_put(object, "role", WORD(roles, from->voice));
  failed |= hk_json_put(object, "place", WORD(places, from->place));
  failed |= hk_json_put(object, "text", hk_json_text(from->text));
  if (from->voice == TIDINGS_VOICE_TOOL) {
    failed |= hk_json_put(object, "call_id", hk_json_text(from->call_id));
    failed |= hk_json_put(object, "tool", hk_json_text(from->tool));
  }
  return finished(object, failed);
}

static json_t *turn_message(const struct tidings_message *from) {
  json_t *object = json_object();
  int failed = hk_json_put(object, "id", hk_json_text(from->id));
  failed |= hk_json_put(object, "content", hk_json_text(from->content));
  failed |= hk_json_put(object, "queued_at", time_or_null(from->queued_at_ms));
  failed |= hk_json_put(object, "trigger", hk_json_value(from->trigger));
  return finished(object, failed);
}

static json_t *action(const struct tidings_action *from) {
  json_t *object = json_object();
  int failed = hk_json_put(object, "type", WORD(action_types, from->type));
  if (from->cause != TIDINGS_CAUSE_NONE)
    failed |= hk_json_put(object, "cause", WORD(causes, from->cause));
  if (from->type == TIDINGS_ACTION_START_TURN) {
    json_t *messages = json_array();
    for (size_t i = 0; i < from->message_count; i++)
      failed |= hk_json_add(messages, turn_message(from->messages[i]));
    failed |= hk_json_put(object, "source", WORD(sources, from->origin));
    failed |= hk_json_put(object, "messages", messages);
  }
  return finished(object, failed);
}

static json_t *status(const struct tidings_status *from) {
  if (!from) return json_null();
  json_t *object = json_object();
  int failed = hk_json_put(object, "state", WORD(states, from->state));
  if (from->phase != TIDINGS_PHASE_UNKNOWN)
    failed |= hk_json_put(object, "phase", WORD(phases, from->phase));
  failed |= hk_json_put(object, "messages", ids(from->messages, from->message_count));
  failed |= hk_json_put(object, "started_at", time_or_null(from->started_at_ms));
  failed |= hk_json_put(object, "attempt", json_integer(from->attempt));
  failed |= hk_json_put(object, "message", hk_json_text_or_null(from->detail));
  failed |= hk_json_put(object, "orphaned", ids(from->orphaned, from->orphaned_count));
  return finished(object, failed);
}

/* An id as text: JavaScript's numbers would round it. */
static json_t *delivery(uint64_t id) {
  char digits[24];
  (void)snprintf(digits, sizeof digits, "%" PRIu64, id);
  return id ? json_string(digits) : json_null();
}

json_t *hk_reply_value(const struct tidings_reply *reply) {
  static const struct tidings_reply none = {.size = sizeof none};
  const struct tidings_reply *from = reply ? reply : &none;
  int failed = 0;
  json_t *notifications = json_array();
  for (size_t i = 0; i < from->notification_count; i++)
    failed |= hk_json_add(notifications, notification(from->notifications[i]));
  json_t *messages = json_array();
  for (size_t i = 0; i < from->part_count; i++)
    failed |= hk_json_add(messages, message(from->parts[i]));
  json_t *actions = json_array();
  for (size_t i = 0; i < from->action_count; i++)
    failed |= hk_json_add(actions, action(from->actions[i]));

  json_t *object = json_object();
  failed |= hk_json_put(object, "delivery", delivery(from->delivery_id));
  failed |= hk_json_put(object, "notifications", notifications);
  failed |= hk_json_put(object, "messages", messages);
  failed |= hk_json_put(object, "actions", actions);
  failed |= hk_json_put(object, "steered", ids(from->steered, from->steered_count));
  failed |= hk_json_put(object, "status", status(from->status));
  failed |= hk_json_put(object, "duplicate", json_boolean(from->flags & TIDINGS_REPLY_DUPLICATE));
  failed |= hk_json_put(object, "wake_at", time_or_null(from->wake_at_ms));
  if (from->ledger.len) failed |= hk_json_put(object, "ledger", hk_json_text(from->ledger));
  return finished(object, failed);
}

static json_t *outgoing_message(const struct hostkit_part *from) {
  json_t *object = json_object();
  int failed = hk_json_put(object, "role", WORD(roles, from->voice));
  failed |= hk_json_put(object, "carrier", json_boolean(from->is_carrier));
  failed |=
      hk_json_put(object, "text",
                  hk_json_text((struct tidings_span){.ptr = from->text, .len = from->text_len}));
  if (from->call_id) failed |= hk_json_put(object, "call_id", json_string(from->call_id));
  if (from->tool) failed |= hk_json_put(object, "tool", json_string(from->tool));
  return finished(object, failed);
}

json_t *hk_outgoing_value(const struct hostkit_outgoing *outgoing) {
  json_t *array = json_array();
  int failed = array == NULL;
  for (size_t i = 0; i < outgoing->part_count; i++)
    failed |= hk_json_add(array, outgoing_message(outgoing->parts[i]));
  return finished(array, failed);
}

int32_t hostkit_reply_json(const struct tidings_reply *theirs, char **ret_json,
                           struct tidings_error *error) {
  if (!ret_json) return hk_error(error, TIDINGS_E_INVAL, "ret_json is a null pointer");
  struct tidings_reply *reply = theirs ? hk_reply_copy(theirs) : NULL; /* clamps every struct */
  json_t *value = theirs && !reply ? NULL : hk_reply_value(reply);
  char *json = hk_json_dump(value);
  json_decref(value);
  hostkit_reply_free(reply);
  if (!json) return hk_error(error, TIDINGS_E_NOMEM, "out of memory while writing a reply as JSON");
  *ret_json = json;
  return TIDINGS_OK;
}
