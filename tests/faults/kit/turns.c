/* SPDX-License-Identifier: MIT
 */
#include "kit/turns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kit/arguments.h"

enum { ID_MAX = 24 };

static size_t id_of(uint64_t token, char id[ID_MAX]) {
  return (size_t)snprintf(id, ID_MAX, "m%" PRIu64, token);
}

static struct tidings_span span(const char *text) {
  return (struct tidings_span){text, strlen(text)};
}

static void enter(const struct rig *rig) {
  if (rig->before) rig->before();
}

static void leave(const struct rig *rig) {
  if (rig->after) rig->after();
}

/* -- replies ----------------------------------------------------------------------------------- */

static bool read_id(struct tidings_span id, uint64_t *ret_token) {
  char text[ID_MAX], expected[ID_MAX];
  if (id.len < 2 || id.len >= ID_MAX || id.ptr[0] != 'm') return false;
  memcpy(text, id.ptr, id.len);
  text[id.len] = 0;
  *ret_token = strtoull(text + 1, NULL, 10);
  return id_of(*ret_token, expected) == id.len && memcmp(expected, text, id.len) == 0;
}

static void hear_offered(const struct tidings_message *message, struct heard *heard) {
  uint64_t named, said;
  if (read_id(message->id, &named) && token_parse(message->content, &said) && named == said) {
    tokens_add(&heard->offered, named);
    return;
  }
  snprintf(heard->sample, sizeof heard->sample, "%.*s: %.*s",
           (int)(message->id.len < 20 ? message->id.len : 20), message->id.ptr,
           (int)(message->content.len < 40 ? message->content.len : 40), message->content.ptr);
  heard->damaged++;
}

static void hear(const struct tidings_reply *reply, struct heard *heard) {
  heard->delivery = reply->delivery_id;
  heard->state = reply->status->state;
  for (size_t i = 0; i < reply->action_count; i++) {
    const struct tidings_action *action = reply->actions[i];
    if (action->type != TIDINGS_ACTION_START_TURN) continue;
    heard->asked = true;
    for (size_t j = 0; j < action->message_count; j++) hear_offered(action->messages[j], heard);
  }
  for (size_t i = 0; i < reply->steered_count; i++) {
    uint64_t token;
    if (read_id(*reply->steered[i], &token)) tokens_add(&heard->steered, token);
    else heard->damaged++;
  }
}

void heard_clear(struct heard *heard) {
  tokens_free(&heard->offered);
  tokens_free(&heard->steered);
  *heard = (struct heard){0};
}

static int32_t take(struct rig *rig, int32_t code, const struct tidings_reply *reply,
                    struct heard *ret_heard) {
  leave(rig);
  if (code != 0) return code;
  heard_clear(ret_heard);
  if (reply) hear(reply, ret_heard);
  rig->plugin->release(rig->plugin, reply);
  return 0;
}

/* -- calls ------------------------------------------------------------------------------------- */

static int32_t send(struct rig *rig, const char *event, struct heard *ret_heard,
                    struct tidings_error *error) {
  const struct tidings_reply *reply = NULL;
  struct tidings_span text = span(event);
  enter(rig);
  int32_t code = rig->plugin->on_event(rig->plugin, &text, &reply, error);
  return take(rig, code, reply, ret_heard);
}

int32_t turns_submit(struct rig *rig, const char *session, uint64_t token, bool steer,
                     struct heard *ret_heard, struct tidings_error *error) {
  char content[TOKEN_TEXT_MAX], event[TOKEN_TEXT_MAX + 256], id[ID_MAX];
  token_text(token, content);
  id_of(token, id);
  snprintf(event, sizeof event,
           "{\"type\":\"message.submitted\",\"session\":\"%s\",\"data\":{\"id\":\"%s\",\"content\":"
           "\"%s\",\"delivery\":\"%s\"}}",
           session, id, content, steer ? "steer" : "queue");
  return send(rig, event, ret_heard, error);
}

int32_t turns_cancel(struct rig *rig, const char *session, uint64_t token, struct heard *ret_heard,
                     struct tidings_error *error) {
  char event[256], id[ID_MAX];
  id_of(token, id);
  snprintf(event, sizeof event,
           "{\"type\":\"message.cancelled\",\"session\":\"%s\",\"data\":{\"id\":\"%s\"}}", session,
           id);
  return send(rig, event, ret_heard, error);
}

int32_t turns_event(struct rig *rig, const char *session, const char *type,
                    const struct tokens *tokens, struct heard *ret_heard,
                    struct tidings_error *error) {
  size_t count = tokens ? tokens->count : 0;
  char *event = malloc(256 + count * ID_MAX * 2), id[ID_MAX];
  if (!event) die("out of memory");
  int length = sprintf(event, "{\"type\":\"%s\",\"session\":\"%s\",\"data\":{", type, session);
  for (size_t i = 0; i < count; i++) {
    id_of(tokens->at[i], id);
    length += sprintf(event + length, "%s\"%s\"", i ? "," : "\"messages\":[", id);
  }
  (void)sprintf(event + length, count ? "]}}" : "}}");
  int32_t code = send(rig, event, ret_heard, error);
  free(event);
  return code;
}

int32_t turns_request(struct rig *rig, const char *session, const struct tokens *tokens,
                      struct heard *ret_heard, struct tidings_error *error) {
  struct tidings_span *ids = calloc(tokens->count + 1, sizeof *ids);
  const struct tidings_span **list = calloc(tokens->count + 1, sizeof *list);
  char(*texts)[ID_MAX] = calloc(tokens->count + 1, sizeof *texts);
  const struct tidings_reply *reply = NULL;
  if (!ids || !list || !texts) die("out of memory");
  for (size_t i = 0; i < tokens->count; i++) {
    ids[i] = (struct tidings_span){texts[i], id_of(tokens->at[i], texts[i])};
    list[i] = &ids[i];
  }
  struct tidings_chat_request request = {.size = sizeof request,
                                         .session = span(session),
                                         .content = span("hi"),
                                         .messages = list,
                                         .message_count = tokens->count};
  enter(rig);
  int32_t code = rig->plugin->on_chat_request(rig->plugin, &request, &reply, error);
  code = take(rig, code, reply, ret_heard);
  free(ids);
  free(list);
  free(texts);
  return code;
}

int32_t turns_result(struct rig *rig, const char *session, struct heard *ret_heard,
                     struct tidings_error *error) {
  struct tidings_tool_result result = {.size = sizeof result,
                                       .session = span(session),
                                       .call_id = span("c1"),
                                       .tool = span("bash"),
                                       .content = span("ok")};
  const struct tidings_reply *reply = NULL;
  enter(rig);
  int32_t code = rig->plugin->on_tool_result(rig->plugin, &result, &reply, error);
  return take(rig, code, reply, ret_heard);
}

int32_t turns_settle(struct rig *rig, uint64_t delivery, uint32_t outcome, struct heard *ret_heard,
                     struct tidings_error *error) {
  struct tidings_settlement settlement = {
      .size = sizeof settlement, .outcome = outcome, .delivery_id = delivery};
  const struct tidings_reply *reply = NULL;
  enter(rig);
  int32_t code = rig->plugin->settle(rig->plugin, &settlement, &reply, error);
  return take(rig, code, reply, ret_heard);
}
