/* SPDX-License-Identifier: MIT
 */
#include "dev/talk.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION "dev"
#define KIND "dev.line"

/* -- events ------------------------------------------------------------------------------------ */

/* Makes an event from input, which it takes over. NULL: no memory. */
static json_t *event_of(json_t *typed) {
  json_t *event = json_object_get(typed, "type") ? typed : NULL;
  if (!event) {
    if (!json_object_get(typed, "kind"))
      (void)json_object_set_new(typed, "kind", json_string(KIND));
    event = json_pack("{s:s, s:o}", "type", "notification", "data", typed);
  }
  if (event && !json_object_get(event, "session"))
    (void)json_object_set_new(event, "session", json_string(SESSION));
  return event;
}

static int32_t send(struct talk *talk, json_t *typed, struct tidings_error *error) {
  json_t *event = event_of(typed);
  char *text = event ? json_dumps(event, JSON_COMPACT) : NULL;
  json_decref(event);
  if (!text) { /* the input is not UTF-8 */
    snprintf(error->text, sizeof error->text, "the line is not UTF-8");
    return TIDINGS_E_INVAL;
  }
  struct tidings_span span = {text, strlen(text)};
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_event(talk->hostkit, &span, &reply, error);
  hostkit_reply_free(reply);
  free(text);
  return code;
}

/* Returns a list of objects: those that the line has as JSON, or one whose message is the line.
 * NULL: the line is not UTF-8. */
static json_t *read_line(const char *line) {
  json_t *typed = line[0] == '{' || line[0] == '[' ? json_loads(line, 0, NULL) : NULL, *one = NULL;
  size_t i = 0;
  bool objects = json_is_object(typed) || json_array_size(typed) > 0;
  json_array_foreach(typed, i, one) objects = objects && json_is_object(one);
  if (objects) return json_is_array(typed) ? typed : json_pack("[o]", typed);
  json_decref(typed);
  return json_pack("[{s:s}]", "message", line);
}

static int32_t push(struct talk *talk, const char *line, struct tidings_error *error) {
  json_t *events = read_line(line), *one = NULL;
  int32_t code = events ? TIDINGS_OK : send(talk, NULL, error);
  size_t i = 0;
  json_array_foreach(events, i, one) {
    if (code == TIDINGS_OK) code = send(talk, json_incref(one), error);
  }
  json_decref(events);
  return code;
}

/* -- deliveries -------------------------------------------------------------------------------- */

static int32_t show(struct talk *talk, const struct tidings_span *content,
                    struct tidings_reply *reply, struct tidings_error *error) {
  struct hostkit_outgoing *outgoing = NULL;
  int32_t code = hostkit_compose(content, reply, &outgoing, error);
  if (code != TIDINGS_OK) return code;
  for (size_t i = 0; i < outgoing->part_count; i++)
    pane_lines(talk->pane, PANE_PLAIN, outgoing->parts[i]->text, outgoing->parts[i]->text_len);
  hostkit_outgoing_free(outgoing);
  return TIDINGS_OK;
}

static int32_t deliver(struct talk *talk, struct tidings_error *error) {
  struct tidings_tool_result result = {.size = sizeof result,
                                       .session = {SESSION, strlen(SESSION)},
                                       .call_id = {"c", 1},
                                       .tool = {"dev", 3},
                                       .content = {"(a tool's result)", 17}};
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_tool_result(talk->hostkit, &result, &reply, error);
  if (code != TIDINGS_OK) return code;
  uint64_t delivery = reply ? reply->delivery_id : 0;
  code = show(talk, &result.content, reply, error);
  hostkit_reply_free(reply);
  if (delivery == 0) return code;
  int32_t settled = hostkit_settle(
      talk->hostkit, delivery,
      code == TIDINGS_OK ? TIDINGS_OUTCOME_COMMITTED : TIDINGS_OUTCOME_ROLLED_BACK, NULL, error);
  return code != TIDINGS_OK ? code : settled;
}

static void play(struct talk *talk, const char *line) {
  struct tidings_error error = {.size = sizeof error};
  int32_t code = push(talk, line, &error);
  if (code == TIDINGS_OK) code = deliver(talk, &error);
  if (code != TIDINGS_OK)
    pane_say(talk->pane, PANE_WRONG, "-- %s: %s", hostkit_error_name(code), error.text);
}

void talk_say(struct talk *talk, const char *line) {
  free(talk->last);
  talk->last = strdup(line);
  play(talk, line);
}

void talk_say_again(struct talk *talk) {
  if (talk->last) play(talk, talk->last);
}

void talk_finish(struct talk *talk) {
  free(talk->last);
  talk->last = NULL;
}
