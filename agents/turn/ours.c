/* SPDX-License-Identifier: MIT
 */
#include "agents/turn/ours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/deliver/notes.h"
#include "agents/deliver/sign.h"
#include "agents/deliver/status.h"
#include "agents/transcript/marker.h"
#include "command/json_value.h"
#include "common/clock.h"
#include "common/span.h"

static const char nudge_opening[] = "(tidings) ";

/* Finds the last marker; NULL: there is none. */
static const char *last_marker(const char *text) {
  const char *last = NULL;
  for (const char *at = text; (at = strstr(at, HOOK_MARKER_OPENING)); last = at++) continue;
  return last;
}

static bool reads_as(enum hook_marker_of of, const char *marker, uint64_t *ret_number,
                     const char **ret_after) {
  const char *from = marker + strlen(HOOK_MARKER_OPENING);
  *ret_after = hook_marker_read(of, from, from + strlen(from), ret_number);
  return *ret_after != NULL;
}

/* -- nudges ------------------------------------------------------------------------------------ */

char *hook_nudge(struct hostkit *kit, const struct hook_call *call,
                 const struct tidings_action *action) {
  static const char queued[] = "A message was queued while you were idle; it is in this turn's "
                               "context.",
                    offered[] = "Something was waiting for you; it is in this turn's context.";
  char *text = NULL, marker[HOOK_MARKER_SIZE];
  bool system = action && action->origin == TIDINGS_ORIGIN_SYSTEM && action->message_count;
  const struct tidings_span content =
      system ? action->messages[0]->content : span_text(action ? queued : offered);
  if (hook_sign_ready(kit, call->session, NULL)) return NULL;
  hook_marker_write(HOOK_MARKER_OF_NUDGE, (uint64_t)clock_wall_ms(), marker);
  int len = asprintf(&text, "%s%.*s %s", nudge_opening, (int)content.len, content.ptr, marker);
  return len < 0 ? NULL : text;
}

int32_t hook_is_nudge(struct hostkit *kit, const struct hook_call *call, bool *ret_is,
                      struct tidings_error *error) {
  const char *opening = strstr(call->prompt, nudge_opening),
             *marker = opening ? last_marker(opening) : NULL, *after;
  uint64_t number;
  *ret_is = false;
  if (!marker) return TIDINGS_OK;
  int32_t code = hook_sign_ready(kit, call->session, error);
  if (!code) *ret_is = reads_as(HOOK_MARKER_OF_NUDGE, marker, &number, &after);
  return code;
}

char *hook_nudge_mark(struct hostkit *kit, const struct hook_call *call) {
  char marker[HOOK_MARKER_SIZE];
  if (hook_sign_ready(kit, call->session, NULL)) return NULL;
  hook_marker_write(HOOK_MARKER_OF_NUDGE, (uint64_t)clock_wall_ms(), marker);
  const char *mark = marker + strlen(HOOK_MARKER_OPENING);
  return strndup(mark, strcspn(mark, "]"));
}

int32_t hook_pass_over_command(struct hostkit *kit, struct hook_call *call,
                               struct tidings_error *error) {
  const struct host_scheduler *scheduler = call->host->scheduler;
  bool nudged = false;
  if (!scheduler || strcmp(call->event, scheduler->event) != 0) return TIDINGS_OK;
  int32_t code = hook_is_nudge(kit, call, &nudged, error);
  if (!nudged) call->moment = HOOK_OTHER;
  return code;
}

/* -- reasons to continue ----------------------------------------------------------------------- */

static bool is_leased_reason(const json_t *status, uint64_t delivery) {
  const json_t *leased = json_object_get(status, "leased"), *entry;
  size_t i;
  json_array_foreach(leased, i, entry) {
    if (strcmp(json_value_text(entry, "carrier"), "chat_request") == 0 &&
        strtoull(json_value_text(entry, "id"), NULL, 10) == delivery)
      return true;
  }
  return false;
}

/* NULL: the prompt is no reason. */
static const char *reason_marker(const struct hook_call *call) {
  bool may_be = call->moment == HOOK_PROMPT && call->host->repeats_reasons;
  return may_be ? last_marker(call->prompt) : NULL;
}

void hook_note_unread_reason(const struct hook_call *call) {
  const char *marker = reason_marker(call);
  if (marker) hook_note_got(call, marker);
}

int32_t hook_pass_over_reason(struct hostkit *kit, struct hook_call *call,
                              struct tidings_error *error) {
  const char *marker = reason_marker(call), *after;
  uint64_t delivery = 0;
  json_t *status = NULL;
  if (!marker) return TIDINGS_OK;
  int32_t code = hook_sign_ready(kit, call->session, error);
  if (code || !reads_as(HOOK_MARKER_OF_DELIVERY, marker, &delivery, &after)) return code;
  code = hook_status(kit, call, &status, error);
  if (code) return code;
  if (is_leased_reason(status, delivery)) {
    hook_note_got(call, marker);
    /* Qwen Code appends what a person has typed meanwhile. */
    if (!after[strspn(after, " \t\r\n")]) call->moment = HOOK_OTHER;
  }
  json_decref(status);
  return TIDINGS_OK;
}
