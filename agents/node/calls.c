/* SPDX-License-Identifier: MIT
 *
 * agents/node/calls.c: the calls of an open instance. If nothing is to be delivered, a call reads
 * three short strings, without JSON or an allocation. Replies become JSON, as hostkit writes them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "instance.h"
#include "values.h"

struct napi_value__ *call_give_reply(struct napi_env__ *env, struct hostkit *kit,
                                     struct tidings_reply *reply) {
  struct tidings_error error = {.size = sizeof error};
  struct napi_value__ *value = NULL;
  char *json = NULL;
  if (!reply) return value_undefined(env);
  int32_t code = hostkit_reply_json(reply, &json, &error);
  if (code) throw_code(env, code, &error);
  else value = value_text(env, json, strlen(json));
  if (!value && reply->delivery_id)
    hostkit_settle(kit, reply->delivery_id, TIDINGS_ROLLED_BACK, NULL, NULL);
  hostkit_free(json);
  hostkit_reply_free(reply);
  return value;
}

struct napi_value__ *call_tool_result(struct napi_env__ *env, struct napi_callback_info__ *info) {
  struct call call;
  struct text session, call_id, tool, content;
  struct tidings_error error;
  struct tidings_reply *reply = NULL;
  struct napi_value__ *value = NULL;
  uint64_t room = 0;
  session.ptr = call_id.ptr = tool.ptr = content.ptr = NULL;
  if (!call_begin(env, info, &call)) return NULL;
  if (!text_take(env, call.arguments[0], "session", REQUIRED, &session) ||
      !text_take(env, call.arguments[1], "callId", OPTIONAL, &call_id) ||
      !text_take(env, call.arguments[2], "tool", OPTIONAL, &tool) ||
      !text_take(env, call.arguments[3], "content", OPTIONAL, &content) ||
      !value_bytes(env, call.arguments[4], "room", &room))
    goto out;
  struct tidings_tool_result result = {.size = sizeof result,
                                       .session = text_span(&session),
                                       .call_id = text_span(&call_id),
                                       .tool = text_span(&tool),
                                       .content = text_span(&content),
                                       .room_bytes = room};
  error.size = sizeof error;
  error.text[0] = '\0';
  int32_t code = hostkit_tool_result(call.instance->kit, &result, &reply, &error);
  value = code ? throw_code(env, code, &error) : call_give_reply(env, call.instance->kit, reply);
out:
  text_free(&session);
  text_free(&call_id);
  text_free(&tool);
  text_free(&content);
  return value;
}

/* -- the ids of a chat request ----------------------------------------------------------------- */

struct ids {
  struct text *texts;
  struct tidings_span *spans;
  const struct tidings_span **pointers;
  uint32_t count;
};

static void ids_free(struct ids *ids) {
  for (uint32_t i = 0; ids->texts && i < ids->count; i++) text_free(&ids->texts[i]);
  free(ids->texts);
  free(ids->spans);
  free(ids->pointers);
}

static bool ids_allocate(struct napi_env__ *env, struct ids *ids) {
  ids->texts = calloc(ids->count, sizeof *ids->texts);
  ids->spans = calloc(ids->count, sizeof *ids->spans);
  ids->pointers = calloc(ids->count, sizeof *ids->pointers);
  if (ids->texts && ids->spans && ids->pointers) return true;
  napi_throw_error(env, "TIDINGS_E_NOMEM", "out of memory while reading the ids of a chat request");
  return false;
}

/* Reads the ids; undefined and null mean that there are none. Always call ids_free. The array's
 * getters may run any code, which may even close the instance. */
static bool ids_take(struct napi_env__ *env, struct napi_value__ *array, struct ids *ids) {
  int type = NAPI_UNDEFINED;
  bool is_array = false;
  uint32_t count = 0;
  if (napi_typeof(env, array, &type) != NAPI_OK) return throw_engine(env);
  if (type == NAPI_UNDEFINED || type == NAPI_NULL) return true;
  if (napi_is_array(env, array, &is_array) != NAPI_OK || !is_array)
    return throw_type(env, "messages", "an array of strings");
  if (napi_get_array_length(env, array, &count) != NAPI_OK) return throw_engine(env);
  if (count > MESSAGES_MAX) return throw_type(env, "messages", "an array of at most 10000 strings");
  if (!count) return true;
  ids->count = count;
  if (!ids_allocate(env, ids)) return false;
  for (uint32_t i = 0; i < ids->count; i++) {
    struct napi_value__ *element = NULL;
    if (napi_get_element(env, array, i, &element) != NAPI_OK) return throw_engine(env);
    if (!text_take(env, element, "messages", REQUIRED, &ids->texts[i])) return false;
    ids->spans[i] = text_span(&ids->texts[i]);
    ids->pointers[i] = &ids->spans[i];
  }
  return true;
}

static bool source_take(struct napi_env__ *env, struct napi_value__ *value, uint32_t *ret_source) {
  struct text text;
  bool taken = text_take(env, value, "source", OPTIONAL, &text);
  if (taken && text.ptr) {
    if (strcmp(text.ptr, "system") == 0) *ret_source = TIDINGS_ORIGIN_SYSTEM;
    else if (strcmp(text.ptr, "user") != 0) taken = throw_type(env, "source", "user or system");
  }
  text_free(&text);
  return taken;
}

struct napi_value__ *call_chat_request(struct napi_env__ *env, struct napi_callback_info__ *info) {
  struct call call;
  struct text session, content;
  struct ids ids = {0};
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  struct napi_value__ *value = NULL;
  uint32_t source = TIDINGS_ORIGIN_USER;
  uint64_t room = 0;
  session.ptr = content.ptr = NULL;
  if (!call_begin(env, info, &call)) return NULL;
  if (!text_take(env, call.arguments[0], "session", REQUIRED, &session) ||
      !source_take(env, call.arguments[1], &source) || !ids_take(env, call.arguments[2], &ids) ||
      !text_take(env, call.arguments[3], "content", OPTIONAL, &content) ||
      !value_bytes(env, call.arguments[4], "room", &room) || !instance_is_open(env, call.instance))
    goto out;
  struct tidings_chat_request request = {.size = sizeof request,
                                         .origin = source,
                                         .session = text_span(&session),
                                         .content = text_span(&content),
                                         .messages = ids.pointers,
                                         .message_count = ids.count,
                                         .room_bytes = room};
  int32_t code = hostkit_chat_request(call.instance->kit, &request, &reply, &error);
  value = code ? throw_code(env, code, &error) : call_give_reply(env, call.instance->kit, reply);
out:
  ids_free(&ids);
  text_free(&session);
  text_free(&content);
  return value;
}

/* -- JSON in ----------------------------------------------------------------------------------- */

static bool asks_for_nothing(const struct tidings_reply *reply) {
  return !reply->delivery_id && !reply->part_count && !reply->action_count && !reply->ledger.len;
}

/* Returns wake_at_ms of a reply that asks for nothing else. */
static struct napi_value__ *give_time(struct napi_env__ *env, struct tidings_reply *reply) {
  struct napi_value__ *value = NULL;
  double time_ms = (double)reply->wake_at_ms;
  hostkit_reply_free(reply);
  if (time_ms <= 0) return value_undefined(env);
  return napi_create_double(env, time_ms, &value) == NAPI_OK ? value : throw_engine(env);
}

/* `report`: if the reply asks for nothing, only its time is returned, which saves JSON. */
static struct napi_value__ *send_event(struct napi_env__ *env, struct napi_callback_info__ *info,
                                       bool report) {
  struct call call;
  struct text event;
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  struct napi_value__ *value = NULL;
  if (!call_begin(env, info, &call)) return NULL;
  if (text_take(env, call.arguments[0], "event", REQUIRED, &event)) {
    struct tidings_span span = text_span(&event);
    int32_t code = hostkit_event(call.instance->kit, &span, &reply, &error);
    bool quiet = report && !code && reply && asks_for_nothing(reply);
    value = code    ? throw_code(env, code, &error)
            : quiet ? give_time(env, reply)
                    : call_give_reply(env, call.instance->kit, reply);
  }
  text_free(&event);
  return value;
}

struct napi_value__ *call_event(struct napi_env__ *env, struct napi_callback_info__ *info) {
  return send_event(env, info, false);
}

struct napi_value__ *call_report(struct napi_env__ *env, struct napi_callback_info__ *info) {
  return send_event(env, info, true);
}

struct napi_value__ *call_query(struct napi_env__ *env, struct napi_callback_info__ *info) {
  struct call call;
  struct text request;
  struct tidings_error error = {.size = sizeof error};
  struct napi_value__ *value = NULL;
  char *answer = NULL;
  if (!call_begin(env, info, &call)) return NULL;
  if (text_take(env, call.arguments[0], "request", REQUIRED, &request)) {
    struct tidings_span span = text_span(&request);
    int32_t code = hostkit_query(call.instance->kit, &span, &answer, &error);
    value = code ? throw_code(env, code, &error) : value_text(env, answer, strlen(answer));
    hostkit_free(answer);
  }
  text_free(&request);
  return value;
}

/* -- settle ------------------------------------------------------------------------------------ */

/* Reads a delivery id, which is a string of digits, as in the JSON form of a reply, because
 * JavaScript's numbers are too short for it. */
static bool delivery_take(struct napi_env__ *env, struct napi_value__ *value, uint64_t *ret_id) {
  struct text text;
  bool taken = text_take(env, value, "delivery", REQUIRED, &text);
  if (taken) {
    char *end = NULL;
    errno = 0;
    unsigned long long id = strtoull(text.ptr, &end, 10);
    taken = text.ptr[0] >= '1' && text.ptr[0] <= '9' && !*end && !errno;
    if (taken) *ret_id = id;
    else throw_type(env, "delivery", "a delivery id such as \"17\"");
  }
  text_free(&text);
  return taken;
}

static bool outcome_take(struct napi_env__ *env, struct napi_value__ *value,
                         uint32_t *ret_outcome) {
  struct text text;
  bool taken = text_take(env, value, "outcome", REQUIRED, &text);
  if (taken) {
    if (strcmp(text.ptr, "committed") == 0) *ret_outcome = TIDINGS_COMMITTED;
    else if (strcmp(text.ptr, "rolled_back") == 0) *ret_outcome = TIDINGS_ROLLED_BACK;
    else taken = throw_type(env, "outcome", "committed or rolled_back");
  }
  text_free(&text);
  return taken;
}

struct napi_value__ *call_settle(struct napi_env__ *env, struct napi_callback_info__ *info) {
  struct call call;
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  uint64_t id = 0;
  uint32_t outcome = TIDINGS_ROLLED_BACK;
  if (!call_begin(env, info, &call)) return NULL;
  if (!delivery_take(env, call.arguments[0], &id) ||
      !outcome_take(env, call.arguments[1], &outcome))
    return NULL;
  int32_t code = hostkit_settle(call.instance->kit, id, outcome, &reply, &error);
  return code ? throw_code(env, code, &error) : call_give_reply(env, call.instance->kit, reply);
}

/* -- wake -------------------------------------------------------------------------------------- */

struct napi_value__ *call_wake_descriptor(struct napi_env__ *env,
                                          struct napi_callback_info__ *info) {
  struct call call;
  struct tidings_error error = {.size = sizeof error};
  struct napi_value__ *value = NULL;
  int32_t fd = -1;
  if (!call_begin(env, info, &call)) return NULL;
  int32_t code = hostkit_wake_descriptor(call.instance->kit, &fd, &error);
  if (code) return throw_code(env, code, &error);
  if (napi_create_int32(env, fd, &value) == NAPI_OK) return value;
  close(fd);
  return throw_engine(env);
}

struct napi_value__ *call_next_session(struct napi_env__ *env, struct napi_callback_info__ *info) {
  struct call call;
  struct tidings_error error = {.size = sizeof error};
  char session[256];
  size_t len = 0;
  if (!call_begin(env, info, &call)) return NULL;
  int32_t code = hostkit_next_session(call.instance->kit, session, sizeof session, &len, &error);
  if (code) return throw_code(env, code, &error);
  return len ? value_text(env, session, len) : value_undefined(env);
}
