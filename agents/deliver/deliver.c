/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/deliver.c: an agent's hook adds a text to a prompt or a tool's result, or gives a
 * reason to continue. The agent keeps the prompt or result itself, so only the added text is
 * written.
 */
#include "agents/deliver/deliver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/deliver/parts.h"
#include "agents/deliver/say.h"
#include "agents/deliver/sign.h"
#include "agents/deliver/status.h"
#include "agents/transcript/marker.h"
#include "command/interrupt.h"
#include "command/json_value.h"
#include "common/span.h"

enum { LONGEST_ESCAPE = sizeof "&amp;" - 1 };

static int32_t no_memory(struct tidings_error *error) {
  return kit_error(error, TIDINGS_E_NOMEM, "out of memory");
}

/* Joins the composed texts, with one empty line between two, and appends the marker by which the
 * transcript shows the delivery. */
static char *joined(const struct hostkit_outgoing *outgoing, uint64_t delivery) {
  char *text = NULL, marker[HOOK_MARKER_SIZE];
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  bool first = true;
  for (size_t i = 0; out && i < outgoing->part_count; i++) {
    const char *start = outgoing->parts[i]->text, *end = start + outgoing->parts[i]->text_len;
    while (start < end && *start == '\n') start++;
    while (end > start && end[-1] == '\n') end--;
    if (start == end) continue;
    if (!first) fputs("\n\n", out);
    fwrite(start, 1, (size_t)(end - start), out);
    first = false;
  }
  if (out && !first && delivery) {
    hook_marker_write(HOOK_MARKER_OF_DELIVERY, delivery, marker);
    fprintf(out, "\n\n%s", marker);
  }
  if (out && fclose(out)) {
    free(text);
    return NULL;
  }
  return text;
}

static int32_t compose(struct hostkit *kit, const struct hook_call *call, const char *content,
                       const struct tidings_reply *reply, char **ret_text,
                       struct tidings_error *error) {
  struct hostkit_outgoing *outgoing = NULL;
  const struct tidings_span carrier = span_text(content);
  int32_t code =
      reply && reply->delivery_id ? hook_sign_ready(kit, call->session, error) : TIDINGS_OK;
  if (!code) code = hostkit_compose(&carrier, reply, &outgoing, error);
  if (code) return code;
  *ret_text = joined(outgoing, reply ? reply->delivery_id : 0);
  hostkit_outgoing_free(outgoing);
  return *ret_text ? TIDINGS_OK : no_memory(error);
}

/* Returns the room beside a message. Nothing is added to a user's message that the agent does not
 * record, because a resumed session would lack it. */
static uint64_t room_of_turn(const struct hook_call *call, const struct tidings_action *action,
                             const char *content) {
  bool recorded = !call->host->leaves_out_reasons || call->moment != HOOK_STOP;
  return action && action->origin == TIDINGS_ORIGIN_USER && !recorded ? 1
                                                                      : hook_room(call, content);
}

uint64_t hook_room(const struct hook_call *call, const char *content) {
  size_t content_len = strlen(content),
         taken = HOOK_MARKER_SIZE + 1 + (content_len ? content_len + 2 : 0); /* with the empty lines
                                                                                between */
  if (!call->room) return 0;
  uint64_t room = taken < call->room ? call->room - taken : 1;
  if (!call->characters) return room;
  size_t beyond = taken + hook_parts_beyond(call, span_text(content));
  uint64_t escaped = beyond < call->characters ? (call->characters - beyond) / LONGEST_ESCAPE : 0;
  return escaped < room ? escaped + !escaped : room;
}

json_t *hook_context_output(const struct hook_call *call, const char *text) {
  if (call->host->answer) return json_pack("{s:s}", call->host->answer, text);
  return json_pack("{s:{s:s, s:s}}", "hookSpecificOutput", "hookEventName", call->event,
                   "additionalContext", text);
}

const char *hook_context_said(const struct hook_call *call, const json_t *output) {
  if (call->host->answer) return json_value_text(output, call->host->answer);
  return json_value_text(json_object_get(output, "hookSpecificOutput"), "additionalContext");
}

static json_t *continuation_output(const struct hook_call *call, const char *text) {
  if (!call->host->stop_decision) return hook_context_output(call, text);
  return json_pack("{s:s, s:s}", "decision", call->host->stop_decision, "reason", text);
}

static int32_t answer_with(struct hostkit *kit, const struct hook_call *call, const char *content,
                           struct tidings_reply *reply,
                           json_t *(*output)(const struct hook_call *, const char *),
                           struct hook_answer *ret_answer, struct tidings_error *error) {
  char *text = NULL;
  uint64_t delivery = reply ? reply->delivery_id : 0;
  struct hook_answer answer = {.delivery = delivery};
  int32_t code = compose(kit, call, content, reply, &text, error);
  if (!code && text[0]) {
    answer.output = output(call, text);
    if (!answer.output) code = kit_error(error, TIDINGS_E_INVAL, "the notifications are not UTF-8");
    else hook_say(kit, call, content, reply, answer.output);
  } else if (!code && delivery) {
    (void)hostkit_settle(kit, delivery, TIDINGS_COMMITTED, NULL, NULL);
    answer.delivery = 0;
  }
  if (code && delivery) (void)hostkit_settle(kit, delivery, TIDINGS_ROLLED_BACK, NULL, NULL);
  if (!code) *ret_answer = answer;
  free(text);
  hostkit_reply_free(reply);
  return code;
}

int32_t hook_context(struct hostkit *kit, const struct hook_call *call, const char *content,
                     struct tidings_reply *reply, struct hook_answer *ret_answer,
                     struct tidings_error *error) {
  return answer_with(kit, call, content, reply, hook_context_output, ret_answer, error);
}

int32_t hook_continuation(struct hostkit *kit, const struct hook_call *call, const char *content,
                          struct tidings_reply *reply, struct hook_answer *ret_answer,
                          struct tidings_error *error) {
  return answer_with(kit, call, content, reply, continuation_output, ret_answer, error);
}

/* -- offers ------------------------------------------------------------------------------------ */

const struct tidings_action *hook_start_turn(const struct tidings_reply *reply) {
  for (size_t i = 0; reply && i < reply->action_count; i++) {
    if (reply->actions[i]->type == TIDINGS_ACTION_START_TURN) return reply->actions[i];
  }
  return NULL;
}

static bool is_forgotten(const struct hook_call *call, const struct tidings_action *action) {
  if (!action || !action->message_count) return false;
  const struct tidings_span *content = &action->messages[0]->content;
  char *text = strndup(content->ptr, content->len);
  bool forgotten = text && host_forgets(call->host, text);
  free(text);
  return forgotten;
}

/* A message that the agent would forget when it is resumed gets another beginning. */
static char *contents(const struct hook_call *call, const struct tidings_action *action,
                      size_t count) {
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  if (out && is_forgotten(call, action)) fputs("Queued message:\n", out);
  for (size_t i = 0; out && i < count; i++) {
    if (i) fputs("\n\n", out);
    fwrite(action->messages[i]->content.ptr, 1, action->messages[i]->content.len, out);
  }
  if (out && fclose(out)) {
    free(text);
    return NULL;
  }
  return text;
}

/* Counts the messages of a turn that fit, at least one: the others are queued again. */
static size_t count_fitting(const struct hook_call *call, const struct tidings_action *action) {
  size_t room = hook_parts_room(call, span_of(NULL, 0)), taken = 0, count = 0;
  for (; action && count < action->message_count; count++) {
    const struct tidings_span content = action->messages[count]->content;
    taken += content.len + hook_parts_beyond(call, content) + 2; /* an empty line */
    if (count && room && taken > room) break;
  }
  return count;
}

int32_t hook_fit_offer(struct hostkit *kit, const struct hook_call *call,
                       struct tidings_reply **offer, struct tidings_error *error) {
  const struct tidings_action *action = hook_start_turn(*offer);
  struct tidings_reply *in_parts = NULL;
  if (!action || action->origin != TIDINGS_ORIGIN_USER || !action->message_count) return TIDINGS_OK;
  size_t room = hook_parts_room(call, action->messages[0]->content);
  if (!room || action->messages[0]->content.len <= room) return TIDINGS_OK;
  int32_t code = hook_parts_of_offer(kit, call, action, &in_parts, error);
  if (code) return code;
  hostkit_reply_free(*offer);
  *offer = in_parts;
  return TIDINGS_OK;
}

int32_t hook_chat_request(struct hostkit *kit, const struct hook_call *call,
                          const struct tidings_action *action, char **ret_content,
                          struct tidings_reply **ret_reply, struct tidings_error *error) {
  size_t count = count_fitting(call, action);
  const struct tidings_span **ids = count ? calloc(count, sizeof *ids) : NULL;
  char *content = contents(call, action, count);
  int32_t code = TIDINGS_OK;
  if (!content || (count && !ids)) {
    code = no_memory(error);
    goto out;
  }
  for (size_t i = 0; i < count; i++) ids[i] = &action->messages[i]->id;
  const struct tidings_chat_request request = {.size = sizeof request,
                                               .session = span_text(call->session),
                                               .origin =
                                                   action ? action->origin : TIDINGS_ORIGIN_USER,
                                               .content = span_text(content),
                                               .messages = ids,
                                               .message_count = count,
                                               .room_bytes = room_of_turn(call, action, content)};
  hook_status_changed(call);
  interrupt_begin(); /* a signal must wait until the answer is written */
  code = hostkit_chat_request(kit, &request, ret_reply, error);
  if (!code) {
    *ret_content = content;
    content = NULL;
  }
out:
  free(content);
  free(ids);
  return code;
}
