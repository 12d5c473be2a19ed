/* SPDX-License-Identifier: MIT
 *
 * reply_json.c: the JSON form of a reply. It has the same facts as the structs; numbers that stand
 * for words are written as words.
 */
#include "reply_json.h"

#include "copy_reply.h"
#include "errors.h"
#include "json.h"

#define PUT_WORD(writer, key, words, number)                                                       \
  put_word((writer), (key), (words), sizeof(words) / sizeof((words)[0]), (number))

static const char *const levels[] = {"info", "warning", "error", "critical"};
static const char *const roles[] = {"carrier", "block", "developer", "user", "tool"};
static const char *const places[] = {"prepend", "append", "before", "after", "pair"};
static const char *const action_types[] = {NULL, "start_turn", "abort_stream", "stop_turn"};
static const char *const causes[] = {NULL, "critical", "requested"};
static const char *const sources[] = {"user", "system"};
static const char *const states[] = {"idle", "starting", "busy", "retrying", "waiting", "error"};
static const char *const phases[] = {NULL, "streaming", "tools"};

/* Writes the word for a number; null if there is none, and "17" for a number that a later minor
 * version has added. */
static void put_word(struct json_writer *writer, const char *key, const char *const *words,
                     size_t count, uint32_t number) {
  if (number < count) json_put_text(writer, key, words[number]);
  else json_put_id(writer, key, number);
}

static void put_time(struct json_writer *writer, const char *key, int64_t ms) {
  if (ms) json_put_i64(writer, key, ms);
  else json_put_text(writer, key, NULL);
}

static void put_ids(struct json_writer *writer, const char *key,
                    const struct tidings_span *const *list, size_t count) {
  json_open(writer, key, '[');
  for (size_t i = 0; i < count; i++) json_put_string(writer, NULL, *list[i]);
  json_close(writer, ']');
}

static void write_notification(struct json_writer *writer,
                               const struct tidings_notification *from) {
  json_open(writer, NULL, '{');
  json_open(writer, "kind", '{');
  json_put_string(writer, "source", from->kind_source);
  json_put_string(writer, "name", from->kind_name);
  json_close(writer, '}');
  PUT_WORD(writer, "level", levels, from->level);
  json_put_string(writer, "message", from->text);
  if (from->data.len) hk_json_put_value(writer, "data", from->data);
  if (from->count > 1) json_put_u64(writer, "count", from->count);
  json_close(writer, '}');
}

static void write_part(struct json_writer *writer, const struct tidings_part *from) {
  json_open(writer, NULL, '{');
  PUT_WORD(writer, "role", roles, from->voice);
  PUT_WORD(writer, "place", places, from->place);
  json_put_string(writer, "text", from->text);
  if (from->voice == TIDINGS_VOICE_TOOL) {
    json_put_string(writer, "call_id", from->call_id);
    json_put_string(writer, "tool", from->tool);
  }
  json_close(writer, '}');
}

static void put_turn_message(struct json_writer *writer, const struct tidings_message *from) {
  json_open(writer, NULL, '{');
  json_put_string(writer, "id", from->id);
  json_put_string(writer, "content", from->content);
  put_time(writer, "queued_at", from->queued_at_ms);
  hk_json_put_value(writer, "trigger", from->trigger);
  json_close(writer, '}');
}

static void write_action(struct json_writer *writer, const struct tidings_action *from) {
  json_open(writer, NULL, '{');
  PUT_WORD(writer, "type", action_types, from->type);
  if (from->cause != TIDINGS_CAUSE_NONE) PUT_WORD(writer, "cause", causes, from->cause);
  if (from->type == TIDINGS_ACTION_START_TURN) {
    PUT_WORD(writer, "source", sources, from->origin);
    json_open(writer, "messages", '[');
    for (size_t i = 0; i < from->message_count; i++) put_turn_message(writer, from->messages[i]);
    json_close(writer, ']');
  }
  json_close(writer, '}');
}

static void write_status(struct json_writer *writer, const struct tidings_status *from) {
  if (!from) {
    json_put_text(writer, "status", NULL);
    return;
  }
  json_open(writer, "status", '{');
  PUT_WORD(writer, "state", states, from->state);
  if (from->phase != TIDINGS_PHASE_UNKNOWN) PUT_WORD(writer, "phase", phases, from->phase);
  put_ids(writer, "messages", from->messages, from->message_count);
  put_time(writer, "started_at", from->started_at_ms);
  json_put_u64(writer, "attempt", from->attempt);
  hk_json_put_text_or_null(writer, "message", from->detail);
  put_ids(writer, "orphaned", from->orphaned, from->orphaned_count);
  json_close(writer, '}');
}

void hk_put_reply(struct json_writer *writer, const char *key, const struct tidings_reply *reply) {
  static const struct tidings_reply none = {.size = sizeof none};
  const struct tidings_reply *from = reply ? reply : &none;
  json_open(writer, key, '{');
  if (from->delivery_id) json_put_id(writer, "delivery", from->delivery_id);
  else json_put_text(writer, "delivery", NULL);
  json_open(writer, "notifications", '[');
  for (size_t i = 0; i < from->notification_count; i++)
    write_notification(writer, from->notifications[i]);
  json_close(writer, ']');
  json_open(writer, "messages", '[');
  for (size_t i = 0; i < from->part_count; i++) write_part(writer, from->parts[i]);
  json_close(writer, ']');
  json_open(writer, "actions", '[');
  for (size_t i = 0; i < from->action_count; i++) write_action(writer, from->actions[i]);
  json_close(writer, ']');
  put_ids(writer, "steered", from->steered, from->steered_count);
  write_status(writer, from->status);
  json_put_bool(writer, "duplicate", from->flags & TIDINGS_REPLY_DUPLICATE);
  put_time(writer, "wake_at", from->wake_at_ms);
  if (from->ledger.len) json_put_string(writer, "ledger", from->ledger);
  json_close(writer, '}');
}

static void put_outgoing_part(struct json_writer *writer, const struct hostkit_part *from) {
  json_open(writer, NULL, '{');
  PUT_WORD(writer, "role", roles, from->voice);
  json_put_bool(writer, "carrier", from->is_carrier);
  json_put_string(writer, "text", span_of(from->text, from->text_len));
  if (from->call_id) json_put_text(writer, "call_id", from->call_id);
  if (from->tool) json_put_text(writer, "tool", from->tool);
  json_close(writer, '}');
}

void hk_put_outgoing(struct json_writer *writer, const char *key,
                     const struct hostkit_outgoing *outgoing) {
  json_open(writer, key, '[');
  for (size_t i = 0; i < outgoing->part_count; i++) put_outgoing_part(writer, outgoing->parts[i]);
  json_close(writer, ']');
}

int32_t hostkit_reply_json(const struct tidings_reply *theirs, char **ret_json,
                           struct tidings_error *error) {
  if (!ret_json) return hk_error(error, TIDINGS_E_INVAL, "ret_json is a null pointer");
  struct tidings_reply *reply =
      theirs ? hk_reply_copy(theirs) : NULL; /* brings every struct to today's length */
  struct buffer out = BUFFER_EMPTY;
  out.failed = theirs && !reply;
  hk_put_reply(&(struct json_writer){.out = &out}, NULL, reply);
  char *json = buffer_take(&out);
  hostkit_reply_free(reply);
  if (!json) return hk_error(error, TIDINGS_E_NOMEM, "out of memory while writing a reply as JSON");
  *ret_json = json;
  return TIDINGS_OK;
}
