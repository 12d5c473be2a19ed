/* SPDX-License-Identifier: MIT
 *
 * flat_call.c: the operations of hostkit_flat_call: each takes a JSON object and returns one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errors.h"
#include "flat.h"
#include "flat_fields.h"
#include "json.h"
#include "reply_json.h"
#include "text.h"

static int32_t no_memory(struct tidings_error *error) {
  return hk_error(error, TIDINGS_E_NOMEM, "out of memory while writing the answer");
}

/* Makes room for the NUL after the written answer, so that nothing can fail any more. */
static int32_t answered(struct buffer *answer, struct tidings_error *error) {
  return buffer_grow(answer, 1) ? TIDINGS_OK : no_memory(error);
}

/* {"reply", "content", "outgoing"}. Errors: those of hostkit_compose. */
static int32_t composed_answer(const struct tidings_span *content,
                               const struct tidings_reply *reply, struct buffer *answer,
                               struct tidings_error *error) {
  struct json_writer writer = {.out = answer};
  struct hostkit_outgoing *outgoing = NULL;
  int32_t code = hostkit_compose(content, reply, &outgoing, error);
  if (code) return code;
  const struct hostkit_part *carrier = outgoing->parts[outgoing->carrier];
  json_open(&writer, NULL, '{');
  hk_put_reply(&writer, "reply", reply);
  json_put_string(&writer, "content", span_of(carrier->text, carrier->text_len));
  hk_put_outgoing(&writer, "outgoing", outgoing);
  json_close(&writer, '}');
  hostkit_outgoing_free(outgoing);
  return answered(answer, error);
}

/* Ends a hook's operation. A delivery that the caller will not get is rolled back. Frees the
 * reply. */
static int32_t answer_hook(struct hostkit *kit, const struct tidings_span *content,
                           struct tidings_reply *reply, struct buffer *answer,
                           struct tidings_error *error) {
  int32_t code = composed_answer(content, reply, answer, error);
  if (code && reply && reply->delivery_id)
    hostkit_settle(kit, reply->delivery_id, TIDINGS_OUTCOME_ROLLED_BACK, NULL, NULL);
  hostkit_reply_free(reply);
  return code;
}

static int32_t answer_reply(struct tidings_reply *reply, struct buffer *answer,
                            struct tidings_error *error) {
  struct json_writer writer = {.out = answer};
  json_open(&writer, NULL, '{');
  hk_put_reply(&writer, "reply", reply);
  json_close(&writer, '}');
  hostkit_reply_free(reply);
  return answered(answer, error);
}

static int32_t tool_result(struct hostkit *kit, struct hk_fields *fields, struct buffer *answer) {
  static const char *const members[] = {"op",      "session", "call_id", "tool",
                                        "content", "room",    NULL};
  hk_fields_only(fields, members);
  struct tidings_tool_result result = {
      .size = sizeof result,
      .session = hk_field_text(fields, "session", HK_REQUIRED),
      .call_id = hk_field_text(fields, "call_id", HK_OPTIONAL),
      .tool = hk_field_text(fields, "tool", HK_OPTIONAL),
      .content = hk_field_text(fields, "content", HK_OPTIONAL),
      .room_bytes = hk_field_number64(fields, "room"),
  };
  if (fields->code) return fields->code;
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_tool_result(kit, &result, &reply, fields->error);
  return code ? code : answer_hook(kit, &result.content, reply, answer, fields->error);
}

/* NULL without an error: the request names no messages. */
static const struct tidings_span **message_ids(struct hk_fields *fields, const struct json *array) {
  if (!array || !array->count) return NULL;
  const struct tidings_span **ids = arena_array(fields->arena, array->count, sizeof *ids);
  if (!ids) {
    fields->code =
        hk_error(fields->error, TIDINGS_E_NOMEM, "out of memory while reading the request");
    return NULL;
  }
  size_t count = 0;
  for (const struct json *id = array->members; id; id = id->next) {
    if (id->kind == JSON_IS_STRING) ids[count++] = &id->text;
    else hk_field_wrong(fields, "messages", "an array of strings");
  }
  return ids;
}

static int32_t chat_request(struct hostkit *kit, struct hk_fields *fields, struct buffer *answer) {
  static const char *const members[] = {"op",       "session", "source", "content",
                                        "messages", "room",    NULL};
  static const char *const sources[] = {"user", "system", NULL};
  hk_fields_only(fields, members);
  const struct json *ids = hk_field_array(fields, "messages");
  struct tidings_chat_request request = {
      .size = sizeof request,
      .session = hk_field_text(fields, "session", HK_REQUIRED),
      .origin = hk_field_word(fields, "source", sources, HK_OPTIONAL, TIDINGS_ORIGIN_USER),
      .content = hk_field_text(fields, "content", HK_OPTIONAL),
      .room_bytes = hk_field_number64(fields, "room"),
  };
  const struct tidings_span **messages = fields->code ? NULL : message_ids(fields, ids);
  if (fields->code) return fields->code;
  request.messages = messages;
  request.message_count = ids ? ids->count : 0;
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_chat_request(kit, &request, &reply, fields->error);
  return code ? code : answer_hook(kit, &request.content, reply, answer, fields->error);
}

/* Copies the named members unchanged. Returns 0, or -1: no memory. */
static int put_members(struct json_writer *writer, struct hk_fields *fields,
                       const char *const *names) {
  struct tidings_span text;
  for (; *names; names++) {
    const struct json *value = json_member(fields->object, *names);
    if (value && json_compact(value, fields->arena, &text)) return -1;
    if (value) json_put_raw(writer, *names, text);
  }
  return 0;
}

/* Copies the request's members to their two places in the event. The plugin checks them. */
static int32_t push(struct hostkit *kit, struct hk_fields *fields, struct buffer *answer) {
  static const char *const members[] = {"op",      "session", "source",     "id",        "kind",
                                        "message", "level",   "data",       "key",       "tool",
                                        "handle",  "ttl_ms",  "activation", "caused_by", NULL};
  static const char *const of_event[] = {"session", "source", "id", NULL};
  static const char *const of_data[] = {"kind",       "message",   "level",  "data",
                                        "key",        "tool",      "handle", "ttl_ms",
                                        "activation", "caused_by", NULL};
  hk_fields_only(fields, members);
  (void)hk_field_text(fields, "session", HK_REQUIRED);
  (void)hk_field_text(fields, "message", HK_REQUIRED);
  if (fields->code) return fields->code;
  struct buffer event = BUFFER_EMPTY;
  struct json_writer writer = {.out = &event};
  struct tidings_reply *reply = NULL;
  json_open(&writer, NULL, '{');
  json_put_text(&writer, "type", "notification");
  int failed = put_members(&writer, fields, of_event);
  json_open(&writer, "data", '{');
  failed |= put_members(&writer, fields, of_data);
  json_close(&writer, '}');
  json_close(&writer, '}');
  struct tidings_span text = buffer_view(&event);
  int32_t code = failed || event.failed ? no_memory(fields->error)
                                        : hostkit_event(kit, &text, &reply, fields->error);
  buffer_free(&event);
  return code ? code : answer_reply(reply, answer, fields->error);
}

static int32_t wake(struct hostkit *kit, struct hk_fields *fields, struct buffer *answer) {
  static const char *const members[] = {"op", "session", NULL};
  hk_fields_only(fields, members);
  struct tidings_span session = hk_field_text(fields, "session", HK_REQUIRED);
  if (fields->code) return fields->code;
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_wake(kit, &session, &reply, fields->error);
  return code ? code : answer_reply(reply, answer, fields->error);
}

static int32_t event(struct hostkit *kit, struct hk_fields *fields, struct buffer *answer) {
  static const char *const members[] = {"op", "event", NULL};
  hk_fields_only(fields, members);
  const struct json *given = json_member(fields->object, "event");
  if (!given || (given->kind != JSON_IS_OBJECT && given->kind != JSON_IS_STRING))
    hk_field_wrong(fields, "event", "an object, or its JSON text in a string");
  if (fields->code || !given) return fields->code;
  struct tidings_span span = given->text;
  if (given->kind == JSON_IS_OBJECT && json_compact(given, fields->arena, &span))
    return no_memory(fields->error);
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_event(kit, &span, &reply, fields->error);
  return code ? code : answer_reply(reply, answer, fields->error);
}

/* Accepts only digits, as in the JSON form of a reply. */
static uint64_t delivery_id(struct hk_fields *fields) {
  static const char expected[] = "a delivery id such as \"17\"";
  const char *text = hk_field_string(fields, "delivery", HK_REQUIRED);
  if (!text) return 0;
  errno = 0;
  char *end = NULL;
  unsigned long long id = strtoull(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end || errno || id == 0)
    hk_field_wrong(fields, "delivery", expected);
  return id;
}

static int32_t settle(struct hostkit *kit, struct hk_fields *fields, struct buffer *answer) {
  static const char *const members[] = {"op", "delivery", "outcome", NULL};
  static const char *const outcomes[] = {"committed", "rolled_back", NULL};
  static const uint32_t numbers[] = {TIDINGS_OUTCOME_COMMITTED, TIDINGS_OUTCOME_ROLLED_BACK};
  hk_fields_only(fields, members);
  uint64_t id = delivery_id(fields);
  uint32_t outcome = hk_field_word(fields, "outcome", outcomes, HK_REQUIRED, 0);
  if (fields->code) return fields->code;
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_settle(kit, id, numbers[outcome], &reply, fields->error);
  return code ? code : answer_reply(reply, answer, fields->error);
}

static int32_t query(struct hostkit *kit, struct hk_fields *fields, struct buffer *answer) {
  static const char *const members[] = {"op", "query", NULL};
  hk_fields_only(fields, members);
  const struct json *object = hk_field_object(fields, "query", HK_REQUIRED);
  struct tidings_span span;
  if (fields->code) return fields->code;
  if (json_compact(object, fields->arena, &span)) return no_memory(fields->error);
  char *said = NULL;
  int32_t code = hostkit_query(kit, &span, &said, fields->error);
  if (code) return code;
  struct json_writer writer = {.out = answer};
  json_open(&writer, NULL, '{');
  hk_json_put_value(&writer, "answer", hk_span(said));
  json_close(&writer, '}');
  free(said);
  return answered(answer, fields->error);
}

/* {key: number} */
static int32_t answer_number(const char *key, int64_t number, struct buffer *answer,
                             struct tidings_error *error) {
  struct json_writer writer = {.out = answer};
  json_open(&writer, NULL, '{');
  json_put_i64(&writer, key, number);
  json_close(&writer, '}');
  return answered(answer, error);
}

static int32_t swap(struct hostkit *kit, struct hk_fields *fields, struct buffer *answer) {
  static const char *const members[] = {"op", "plugin", "drain_ms", NULL};
  hk_fields_only(fields, members);
  const char *plugin = hk_field_string(fields, "plugin", HK_OPTIONAL);
  uint32_t drain_ms = hk_field_number(fields, "drain_ms", HK_FLAT_DRAIN_MS);
  if (fields->code) return fields->code;
  int32_t code = hostkit_swap(kit, plugin, drain_ms, fields->error);
  if (code) return code;
  struct hostkit_info info = {.size = sizeof info};
  code = hostkit_info(kit, &info);
  return code ? code : answer_number("generation", info.generation, answer, fields->error);
}

static int32_t info(struct hostkit *kit, struct hk_fields *fields, struct buffer *answer) {
  static const char *const members[] = {"op", NULL};
  hk_fields_only(fields, members);
  struct hostkit_info loaded = {.size = sizeof loaded};
  int32_t code = fields->code ? fields->code : hostkit_info(kit, &loaded);
  if (code) return code;
  struct json_writer writer = {.out = answer};
  char version[32];
  (void)snprintf(version, sizeof version, "%u.%u", (unsigned)loaded.abi_major,
                 (unsigned)loaded.abi_minor);
  json_open(&writer, NULL, '{');
  json_put_string(&writer, "name", hk_span(loaded.name));
  json_put_string(&writer, "version", hk_span(loaded.version));
  json_put_string(&writer, "build_id", hk_span(loaded.build_id));
  json_put_text(&writer, "abi", version);
  json_put_u64(&writer, "generation", loaded.generation);
  json_close(&writer, '}');
  return answered(answer, fields->error);
}

static int32_t wake_descriptor(struct hostkit *kit, struct hk_fields *fields,
                               struct buffer *answer) {
  static const char *const members[] = {"op", NULL};
  hk_fields_only(fields, members);
  int32_t fd = -1;
  int32_t code = fields->code ? fields->code : hostkit_wake_descriptor(kit, &fd, fields->error);
  if (code) return code;
  code = answer_number("descriptor", fd, answer, fields->error);
  if (code) close(fd); /* the caller will not get it */
  return code;
}

/* The plugin names a session once, so nothing may fail after that: room for the longest answer is
 * made before, with six bytes for each byte of the id, because JSON writes a control character in
 * six. */
static int32_t next_session(struct hostkit *kit, struct hk_fields *fields, struct buffer *answer) {
  enum { LONGEST_ANSWER = 6 * HK_SESSION_BYTES + 64 };
  static const char *const members[] = {"op", NULL};
  hk_fields_only(fields, members);
  if (fields->code) return fields->code;
  if (!buffer_grow(answer, LONGEST_ANSWER)) return no_memory(fields->error);
  char id[HK_SESSION_BYTES];
  size_t len = 0;
  int32_t code = hostkit_next_session(kit, id, sizeof id, &len, fields->error);
  if (code) return code;
  struct json_writer writer = {.out = answer};
  json_open(&writer, NULL, '{');
  hk_json_put_text_or_null(&writer, "session", span_of(id, len));
  json_close(&writer, '}');
  return answered(answer, fields->error);
}

int32_t hk_flat_perform(struct hostkit *kit, const struct json *request, struct arena *arena,
                        struct buffer *answer, struct tidings_error *error) {
  static const char *const names[] = {"tool_result", "chat_request",    "push",         "wake",
                                      "event",       "settle",          "query",        "swap",
                                      "info",        "wake_descriptor", "next_session", NULL};
  static int32_t (*const operations[])(struct hostkit *, struct hk_fields *, struct buffer *) = {
      tool_result, chat_request,    push,        wake, event, settle, query, swap,
      info,        wake_descriptor, next_session};
  struct hk_fields op = {.object = request, .arena = arena, .name = "request", .error = error};
  uint32_t which = hk_field_word(&op, "op", names, HK_REQUIRED, 0);
  if (op.code) return op.code;
  struct hk_fields fields = {
      .object = request, .arena = arena, .name = names[which], .error = error};
  return operations[which](kit, &fields, answer);
}
