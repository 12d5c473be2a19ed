/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/parts.c: the later parts are submitted first, under ids that follow from the
 * message's own, and then the message is cut to its first part. So a call that ends between the two
 * loses nothing, and a repeated call does not submit a part twice.
 */
#include "agents/deliver/parts.h"

#include <stdlib.h>
#include <string.h>

#include "agents/deliver/status.h"
#include "agents/transcript/marker.h"
#include "command/json_value.h"
#include "common/fnv.h"
#include "common/span.h"
#include "common/utf8.h"

/* BESIDE: bytes for what is added to a message: the marker, and words before a beginning that the
 * agent would forget. HEADING: bytes of a part's heading. */
enum { BESIDE = HOOK_MARKER_SIZE + 32, HEADING = 64, SMALLEST = 256, MOST_ID = 160 };

struct parts {
  const char *id;
  struct tidings_span content;
  size_t most; /* how many bytes of the content one part may have */
  size_t count;
  const char *before; /* the id of the next message in the queue; NULL: there is none */
  bool steer;
};

size_t hook_parts_beyond(const struct hook_call *call, struct tidings_span text) {
  enum { BEYOND_AND = sizeof "amp;" - 1, BEYOND_ANGLE = sizeof "lt;" - 1 };
  size_t beyond = 0;
  for (size_t i = 0; call->characters && i < text.len; i++)
    beyond += text.ptr[i] == '&'                         ? BEYOND_AND
              : text.ptr[i] == '<' || text.ptr[i] == '>' ? BEYOND_ANGLE
                                                         : 0;
  return beyond;
}

size_t hook_parts_room(const struct hook_call *call, struct tidings_span message) {
  size_t room = call->characters           ? call->characters
                : call->host->message_room ? call->host->message_room
                                           : call->room,
         beyond = hook_parts_beyond(call, message) + BESIDE;
  if (!room) return 0;
  return room > beyond + SMALLEST ? room - beyond : SMALLEST;
}

/* -- cutting ----------------------------------------------------------------------------------- */

/* Returns the end of a part: after a line, or else after a word, if one ends near the limit;
 * otherwise between two characters. */
static size_t part_end(struct tidings_span text, size_t most) {
  size_t end = utf8_prefix(text, most);
  const char *line = memrchr(text.ptr, '\n', end), *word = memrchr(text.ptr, ' ', end);
  if (end == text.len) return end;
  if (line && (size_t)(line + 1 - text.ptr) > end / 2) return (size_t)(line + 1 - text.ptr);
  if (word && (size_t)(word + 1 - text.ptr) > end / 2) return (size_t)(word + 1 - text.ptr);
  return end;
}

static struct tidings_span part_at(const struct parts *parts, size_t number) {
  struct tidings_span rest = parts->content;
  size_t end = part_end(rest, parts->most);
  for (size_t i = 1; i < number; i++) {
    rest = span_of(rest.ptr + end, rest.len - end);
    end = part_end(rest, parts->most);
  }
  return span_of(rest.ptr, end);
}

static size_t count_parts(const struct parts *parts) {
  struct tidings_span rest = parts->content;
  size_t count = 0;
  for (; rest.len; count++) {
    size_t end = part_end(rest, parts->most);
    rest = span_of(rest.ptr + end, rest.len - end);
  }
  return count;
}

static json_t *new_content(const struct parts *parts, size_t number) {
  struct tidings_span part = part_at(parts, number);
  return json_sprintf("(part %zu of %zu of one message%s)\n%.*s", number, parts->count,
                      number < parts->count ? "; the rest follows" : "", (int)part.len, part.ptr);
}

/* -- the events -------------------------------------------------------------------------------- */

/* Has an earlier call done it? */
static bool was_before(int32_t code) { return code == TIDINGS_E_STATE || code == TIDINGS_E_FIRED; }

/* Makes a part's id. A long id becomes its beginning and a hash, so that there is room for the
 * number. */
static json_t *new_id(const struct parts *parts, size_t number) {
  struct tidings_span id = span_text(parts->id);
  size_t prefix_len = utf8_prefix(id, MOST_ID);
  if (prefix_len == id.len) return json_sprintf("%s (%zu of %zu)", parts->id, number, parts->count);
  return json_sprintf("%.*s %016llx (%zu of %zu)", (int)prefix_len, id.ptr,
                      (unsigned long long)fnv_span(FNV_START, id), number, parts->count);
}

static int32_t submit_rest(struct hostkit *kit, const struct hook_call *call,
                           const struct parts *parts, struct tidings_error *error) {
  int32_t code = TIDINGS_OK;
  for (size_t number = 2; !code && number <= parts->count; number++) {
    json_t *data =
        json_pack("{s:o, s:o, s:s}", "id", new_id(parts, number), "content",
                  new_content(parts, number), "delivery", parts->steer ? "steer" : "queue");
    code = hook_send_event(kit, call, "message.submitted", data, NULL, error);
    if (was_before(code)) code = TIDINGS_OK;
  }
  return code;
}

/* Moves each part to before the message that came next, unless that message has left the queue. */
static int32_t move_rest(struct hostkit *kit, const struct hook_call *call,
                         const struct parts *parts, struct tidings_error *error) {
  int32_t code = TIDINGS_OK;
  for (size_t number = 2; !code && parts->before && number <= parts->count; number++) {
    json_t *data = json_pack("{s:o, s:s}", "id", new_id(parts, number), "before", parts->before);
    code = hook_send_event(kit, call, "message.moved", data, NULL, error);
    if (was_before(code) || code == TIDINGS_E_NOT_FOUND) code = TIDINGS_OK;
  }
  return code;
}

static int32_t keep_first(struct hostkit *kit, const struct hook_call *call,
                          const struct parts *parts, struct tidings_error *error) {
  int32_t code = move_rest(kit, call, parts, error);
  if (code) return code;
  json_t *data = json_pack("{s:s, s:o}", "id", parts->id, "content", new_content(parts, 1));
  return hook_send_event(kit, call, "message.edited", data, NULL, error);
}

/* -- finding the message ----------------------------------------------------------------------- */

static int32_t ask_queue(struct hostkit *kit, const struct hook_call *call, json_t **ret_queue,
                         struct tidings_error *error) {
  json_t *request =
      json_pack("{s:s, s:s, s:i}", "name", "queue", "session", call->session, "limit", 10000);
  return kit_query(kit, request, ret_queue, error);
}

static bool is_part(const struct parts *parts, const char *id) {
  bool is = false;
  for (size_t number = 2; !is && number <= parts->count; number++) {
    json_t *part = new_id(parts, number);
    is = part && strcmp(json_string_value(part), id) == 0;
    json_decref(part);
  }
  return is;
}

/* Finds the next message that is no part of this one, because an earlier call may have submitted
 * parts. */
static const char *find_before(const struct parts *parts, const json_t *messages, size_t index) {
  const json_t *next;
  while ((next = json_array_get(messages, ++index))) {
    const char *id = json_value_text(next, "id");
    if (!is_part(parts, id)) return id;
  }
  return NULL;
}

static struct parts make_parts(const json_t *messages, size_t index, size_t most) {
  const json_t *message = json_array_get(messages, index);
  struct parts parts = {.id = json_value_text(message, "id"),
                        .content = span_text(json_value_text(message, "content")),
                        .most = most};
  parts.steer = strcmp(json_value_text(message, "state"), "steering") == 0;
  parts.count = count_parts(&parts);
  parts.before = find_before(&parts, messages, index);
  return parts;
}

static bool is_called(const json_t *message, struct tidings_span id) {
  const char *text = json_value_text(message, "id");
  return strlen(text) == id.len && memcmp(text, id.ptr, id.len) == 0;
}

int32_t hook_parts_of_offer(struct hostkit *kit, const struct hook_call *call,
                            const struct tidings_action *action, struct tidings_reply **ret_reply,
                            struct tidings_error *error) {
  json_t *queue = NULL;
  struct parts parts = {.id = NULL};
  int32_t code = ask_queue(kit, call, &queue, error);
  if (code) return code;
  const json_t *messages = json_object_get(queue, "messages"), *message;
  size_t i, room = hook_parts_room(call, action->messages[0]->content);
  json_array_foreach(messages, i, message) {
    if (is_called(message, action->messages[0]->id))
      parts = make_parts(messages, i, room - HEADING);
  }
  if (parts.id) code = submit_rest(kit, call, &parts, error);
  if (!code) code = hook_send_event(kit, call, "turn.declined", json_object(), NULL, error);
  if (!code && parts.id) code = keep_first(kit, call, &parts, error);
  if (!code) code = hook_send_event(kit, call, "turn.resume", json_object(), ret_reply, error);
  json_decref(queue);
  return code;
}

/* -- with a tool's result ---------------------------------------------------------------------- */

/* Returns the room for a part. Tabs and invisible characters are rendered as several characters. So
 * a part gets half of the room, which most texts fit into; another part becomes its own turn. */
static size_t room_beside_result(const struct hook_call *call) {
  return call->room / 2 > BESIDE + HEADING + SMALLEST ? call->room / 2 - BESIDE - HEADING
                                                      : SMALLEST;
}

static bool any_steering(const json_t *status) {
  const json_t *message;
  size_t i;
  json_array_foreach(json_object_get(status, "queued"), i, message) {
    if (strcmp(json_value_text(message, "state"), "steering") == 0) return true;
  }
  return false;
}

static int32_t cut_steered(struct hostkit *kit, const struct hook_call *call,
                           const json_t *messages, struct tidings_error *error) {
  int32_t code = TIDINGS_OK;
  const json_t *message;
  size_t i;
  json_array_foreach(messages, i, message) {
    bool steering = strcmp(json_value_text(message, "state"), "steering") == 0;
    if (code || !steering || strlen(json_value_text(message, "content")) + BESIDE <= call->room)
      continue;
    struct parts parts = make_parts(messages, i, room_beside_result(call));
    code = submit_rest(kit, call, &parts, error);
    if (!code) code = keep_first(kit, call, &parts, error);
  }
  return code;
}

int32_t hook_parts_of_steered(struct hostkit *kit, const struct hook_call *call,
                              struct tidings_error *error) {
  json_t *status = NULL, *queue = NULL;
  if (!call->room) return TIDINGS_OK;
  int32_t code = hook_status(kit, call, &status, error);
  bool any = !code && any_steering(status);
  json_decref(status);
  if (!any) return code;
  code = ask_queue(kit, call, &queue, error);
  if (!code) code = cut_steered(kit, call, json_object_get(queue, "messages"), error);
  json_decref(queue);
  return code;
}
