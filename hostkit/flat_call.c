/* SPDX-License-Identifier: MIT
 *
 * flat_call.c: the operations of hostkit_flat_call: a JSON object in, one out. Knows no handles.
 */
#include <errno.h>
#include <inttypes.h>
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

/* {key: value}; takes over value. Errors: NOMEM. */
static int32_t answer_with(const char *key, json_t *value, json_t **ret_answer,
                           struct tidings_error *error) {
  json_t *answer = json_object();
  if (hk_json_put(answer, key, value)) {
    json_decref(answer);
    return no_memory(error);
  }
  *ret_answer = answer;
  return TIDINGS_OK;
}

/* {"reply", "content", "outgoing"}. Errors: those of hostkit_compose. */
static int32_t composed_answer(const struct tidings_span *content,
                               const struct tidings_reply *reply, json_t **ret_answer,
                               struct tidings_error *error) {
  struct hostkit_outgoing *outgoing = NULL;
  int32_t code = hostkit_compose(content, reply, &outgoing, error);
  if (code) return code;
  const struct hostkit_part *carrier = outgoing->parts[outgoing->carrier];
  json_t *answer = json_object();
  int failed = hk_json_put(answer, "reply", hk_reply_value(reply));
  failed |= hk_json_put(
      answer, "content",
      hk_json_text((struct tidings_span){.ptr = carrier->text, .len = carrier->text_len}));
  failed |= hk_json_put(answer, "outgoing", hk_outgoing_value(outgoing));
  hostkit_outgoing_free(outgoing);
  if (failed) {
    json_decref(answer);
    return no_memory(error);
  }
  *ret_answer = answer;
  return TIDINGS_OK;
}

/* Ends a hook's operation. A delivery that the caller will not get is rolled back. Frees the
 * reply. */
static int32_t answer_hook(struct hostkit *kit, const struct tidings_span *content,
                           struct tidings_reply *reply, json_t **ret_answer,
                           struct tidings_error *error) {
  int32_t code = composed_answer(content, reply, ret_answer, error);
  if (code && reply && reply->delivery_id)
    hostkit_settle(kit, reply->delivery_id, TIDINGS_ROLLED_BACK, NULL, NULL);
  hostkit_reply_free(reply);
  return code;
}

static int32_t answer_reply(struct tidings_reply *reply, json_t **ret_answer,
                            struct tidings_error *error) {
  json_t *value = hk_reply_value(reply);
  hostkit_reply_free(reply);
  return answer_with("reply", value, ret_answer, error);
}

static int32_t tool_result(struct hostkit *kit, struct hk_fields *fields, json_t **ret_answer) {
  static const char *const members[] = {"op", "session", "call_id", "tool", "content", NULL};
  hk_fields_only(fields, members);
  struct tidings_tool_result result = {
      .size = sizeof result,
      .session = hk_field_text(fields, "session", HK_REQUIRED),
      .call_id = hk_field_text(fields, "call_id", HK_OPTIONAL),
      .tool = hk_field_text(fields, "tool", HK_OPTIONAL),
      .content = hk_field_text(fields, "content", HK_OPTIONAL),
  };
  if (fields->code) return fields->code;
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_tool_result(kit, &result, &reply, fields->error);
  return code ? code : answer_hook(kit, &result.content, reply, ret_answer, fields->error);
}

/* Pointers to the ids and after them, in the same allocation, the ids; NULL with no code: there
 * are none. */
static const struct tidings_span **message_ids(struct hk_fields *fields, const json_t *array) {
  size_t count = json_array_size(array);
  for (size_t i = 0; i < count; i++) {
    if (!json_is_string(json_array_get(array, i))) {
      hk_field_wrong(fields, "messages", "an array of strings");
      return NULL;
    }
  }
  const struct tidings_span **pointers =
      count ? malloc(count * (sizeof(struct tidings_span *) + sizeof(struct tidings_span))) : NULL;
  if (!pointers) {
    if (count)
      fields->code =
          hk_error(fields->error, TIDINGS_E_NOMEM, "out of memory while reading the request");
    return NULL;
  }
  struct tidings_span *spans = (struct tidings_span *)(void *)(pointers + count);
  for (size_t i = 0; i < count; i++) {
    const json_t *id = json_array_get(array, i);
    spans[i] = (struct tidings_span){.ptr = json_string_value(id), .len = json_string_length(id)};
    pointers[i] = &spans[i];
  }
  return pointers;
}

static int32_t chat_request(struct hostkit *kit, struct hk_fields *fields, json_t **ret_answer) {
  static const char *const members[] = {"op", "session", "source", "content", "messages", NULL};
  static const char *const sources[] = {"user", "system", NULL};
  hk_fields_only(fields, members);
  const json_t *ids = hk_field_array(fields, "messages");
  struct tidings_chat_request request = {
      .size = sizeof request,
      .session = hk_field_text(fields, "session", HK_REQUIRED),
      .origin = hk_field_word(fields, "source", sources, HK_OPTIONAL, TIDINGS_ORIGIN_USER),
      .content = hk_field_text(fields, "content", HK_OPTIONAL),
  };
  const struct tidings_span **messages = fields->code ? NULL : message_ids(fields, ids);
  if (fields->code) return fields->code;
  request.messages = messages;
  request.message_count = json_array_size(ids);
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_chat_request(kit, &request, &reply, fields->error);
  free(messages);
  return code ? code : answer_hook(kit, &request.content, reply, ret_answer, fields->error);
}

/* The members of `from` that are named, as they are; the others stay. Returns 1: out of memory. */
static int take_members(json_t *to, json_t *from, const char *const *names) {
  int failed = 0;
  for (; *names; names++) {
    json_t *value = json_object_get(from, *names);
    if (value) failed |= hk_json_put(to, *names, json_incref(value));
  }
  return failed;
}

/* The request's members, in the two places that the event has for them. The plugin checks them. */
static int32_t push(struct hostkit *kit, struct hk_fields *fields, json_t **ret_answer) {
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
  json_t *event = json_object();
  json_t *data = json_object();
  int failed = take_members(data, fields->object, of_data);
  failed |= hk_json_put(event, "data", data);
  failed |= hk_json_put(event, "type", json_string("notification"));
  failed |= take_members(event, fields->object, of_event);
  char *text = failed ? NULL : hk_json_dump(event);
  json_decref(event);
  if (!text) return no_memory(fields->error);
  struct tidings_span span = hk_span(text);
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_event(kit, &span, &reply, fields->error);
  free(text);
  return code ? code : answer_reply(reply, ret_answer, fields->error);
}

static int32_t wake(struct hostkit *kit, struct hk_fields *fields, json_t **ret_answer) {
  static const char *const members[] = {"op", "session", NULL};
  hk_fields_only(fields, members);
  struct tidings_span session = hk_field_text(fields, "session", HK_REQUIRED);
  if (fields->code) return fields->code;
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_wake(kit, &session, &reply, fields->error);
  return code ? code : answer_reply(reply, ret_answer, fields->error);
}

static int32_t event(struct hostkit *kit, struct hk_fields *fields, json_t **ret_answer) {
  static const char *const members[] = {"op", "event", NULL};
  hk_fields_only(fields, members);
  const json_t *object = hk_field_object(fields, "event", HK_REQUIRED);
  if (fields->code) return fields->code;
  char *text = hk_json_dump(object);
  if (!text) return no_memory(fields->error);
  struct tidings_span span = hk_span(text);
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_event(kit, &span, &reply, fields->error);
  free(text);
  return code ? code : answer_reply(reply, ret_answer, fields->error);
}

/* Digits only, as the JSON form of a reply has them. */
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

static int32_t settle(struct hostkit *kit, struct hk_fields *fields, json_t **ret_answer) {
  static const char *const members[] = {"op", "delivery", "outcome", NULL};
  static const char *const outcomes[] = {"committed", "rolled_back", NULL};
  static const uint32_t numbers[] = {TIDINGS_COMMITTED, TIDINGS_ROLLED_BACK};
  hk_fields_only(fields, members);
  uint64_t id = delivery_id(fields);
  uint32_t outcome = hk_field_word(fields, "outcome", outcomes, HK_REQUIRED, 0);
  if (fields->code) return fields->code;
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_settle(kit, id, numbers[outcome], &reply, fields->error);
  return code ? code : answer_reply(reply, ret_answer, fields->error);
}

static int32_t query(struct hostkit *kit, struct hk_fields *fields, json_t **ret_answer) {
  static const char *const members[] = {"op", "query", NULL};
  hk_fields_only(fields, members);
  const json_t *object = hk_field_object(fields, "query", HK_REQUIRED);
  if (fields->code) return fields->code;
  char *text = hk_json_dump(object);
  if (!text) return no_memory(fields->error);
  struct tidings_span span = hk_span(text);
  char *answer = NULL;
  int32_t code = hostkit_query(kit, &span, &answer, fields->error);
  free(text);
  if (code) return code;
  json_t *value = hk_json_value(hk_span(answer));
  free(answer);
  return answer_with("answer", value, ret_answer, fields->error);
}

static int32_t swap(struct hostkit *kit, struct hk_fields *fields, json_t **ret_answer) {
  static const char *const members[] = {"op", "plugin", "drain_ms", NULL};
  hk_fields_only(fields, members);
  const char *plugin = hk_field_string(fields, "plugin", HK_OPTIONAL);
  uint32_t drain_ms = hk_field_number(fields, "drain_ms", HK_FLAT_DRAIN_MS);
  if (fields->code) return fields->code;
  int32_t code = hostkit_swap(kit, plugin, drain_ms, fields->error);
  if (code) return code;
  struct hostkit_info info = {.size = sizeof info};
  code = hostkit_info(kit, &info);
  return code ? code
              : answer_with("generation", json_integer(info.generation), ret_answer, fields->error);
}

static int32_t info(struct hostkit *kit, struct hk_fields *fields, json_t **ret_answer) {
  static const char *const members[] = {"op", NULL};
  hk_fields_only(fields, members);
  struct hostkit_info told = {.size = sizeof told};
  int32_t code = fields->code ? fields->code : hostkit_info(kit, &told);
  if (code) return code;
  json_t *answer = json_object();
  int failed = hk_json_put(answer, "name", hk_json_text(hk_span(told.name)));
  failed |= hk_json_put(answer, "version", hk_json_text(hk_span(told.version)));
  failed |= hk_json_put(answer, "build_id", hk_json_text(hk_span(told.build_id)));
  failed |= hk_json_put(answer, "abi",
                        json_sprintf("%u.%u", (unsigned)told.abi_major, (unsigned)told.abi_minor));
  failed |= hk_json_put(answer, "generation", json_integer(told.generation));
  if (failed) {
    json_decref(answer);
    return no_memory(fields->error);
  }
  *ret_answer = answer;
  return TIDINGS_OK;
}

static int32_t wake_descriptor(struct hostkit *kit, struct hk_fields *fields, json_t **ret_answer) {
  static const char *const members[] = {"op", NULL};
  hk_fields_only(fields, members);
  int32_t fd = -1;
  int32_t code = fields->code ? fields->code : hostkit_wake_descriptor(kit, &fd, fields->error);
  if (code) return code;
  code = answer_with("descriptor", json_integer(fd), ret_answer, fields->error);
  if (code) close(fd); /* the caller will not get it */
  return code;
}

static int32_t next_session(struct hostkit *kit, struct hk_fields *fields, json_t **ret_answer) {
  static const char *const members[] = {"op", NULL};
  hk_fields_only(fields, members);
  char id[HK_SESSION_BYTES];
  size_t len = 0;
  int32_t code =
      fields->code ? fields->code : hostkit_next_session(kit, id, sizeof id, &len, fields->error);
  if (code) return code;
  struct tidings_span session = {.ptr = id, .len = len};
  return answer_with("session", len ? hk_json_text(session) : json_null(), ret_answer,
                     fields->error);
}

int32_t hk_flat_perform(struct hostkit *kit, json_t *request, json_t **ret_answer,
                        struct tidings_error *error) {
  static const char *const names[] = {"tool_result", "chat_request",    "push",         "wake",
                                      "event",       "settle",          "query",        "swap",
                                      "info",        "wake_descriptor", "next_session", NULL};
  static int32_t (*const operations[])(struct hostkit *, struct hk_fields *, json_t **) = {
      tool_result, chat_request,    push,        wake, event, settle, query, swap,
      info,        wake_descriptor, next_session};
  struct hk_fields op = {.object = request, .name = "request", .error = error};
  uint32_t which = hk_field_word(&op, "op", names, HK_REQUIRED, 0);
  if (op.code) return op.code;
  struct hk_fields fields = {.object = request, .name = names[which], .error = error};
  return operations[which](kit, &fields, ret_answer);
}
