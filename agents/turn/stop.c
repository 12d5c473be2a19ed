/* SPDX-License-Identifier: MIT
 *
 * agents/turn/stop.c: at a turn's end, the queue's next message or an urgent notification becomes
 * the reason to continue. The message stays queued, and the answer is empty, after a turn that a
 * person has stopped, after as many reasons in a row as the agent accepts, and if no note can say
 * that a reason was handed out, because the reason would come again and again. If a process waits
 * that can start the turn, the turn is left to it, because the agent's screen calls a reason to
 * continue a hook's error.
 */
#include "agents/turn/stop.h"

#include <stdlib.h>
#include <string.h>

#include "agents/deliver/deliver.h"
#include "agents/deliver/notes.h"
#include "agents/deliver/status.h"
#include "agents/deliver/usage.h"
#include "agents/transcript/ended.h"
#include "agents/turn/person.h"
#include "agents/turn/rewind.h"
#include "command/interrupt.h"
#include "command/json_value.h"

enum { TRANSITIONS = 64 }; /* entries of a history that surely contain a row of reasons */

/* -- how many reasons in a row ----------------------------------------------------------------- */

static bool is_text(const json_t *object, const char *name, const char *text) {
  const char *value = json_string_value(json_object_get(object, name));
  return value && strcmp(value, text) == 0;
}

/* Counts the turns that turns' ends have offered since the session was last idle, including this
 * one. */
static size_t count_reasons(const json_t *history) {
  const json_t *transitions = json_object_get(history, "transitions");
  size_t count = 0;
  for (size_t i = json_array_size(transitions); i-- > 0;) {
    const json_t *transition = json_array_get(transitions, i);
    if (is_text(transition, "from", "idle") || is_text(transition, "to", "idle")) break;
    count += is_text(transition, "event", "turn.finished") && is_text(transition, "to", "starting");
  }
  return count;
}

/* Returns the agent's limit, which a person can set. Other hooks may use a part of it. */
static size_t most_reasons(const struct host *host) {
  const char *value = host->reasons_variable ? getenv(host->reasons_variable) : NULL;
  unsigned long most = value ? strtoul(value, NULL, 10) : 0;
  return most && most < host->most_reasons ? most : host->most_reasons;
}

static bool takes_reason(struct hostkit *kit, const struct hook_call *call) {
  json_t *history = NULL;
  if (!(call->host->reads & HOST_READS_STOP)) return false;
  if (!call->host->most_reasons || !json_is_true(hook_call_value(call, FIELD_AGAIN))) return true;
  json_t *request = json_pack("{s:s, s:s, s:i}", "name", "history", "session", call->session,
                              "limit", TRANSITIONS);
  if (kit_query(kit, request, &history, NULL)) return false;
  bool takes = count_reasons(history) < most_reasons(call->host);
  json_decref(history);
  return takes;
}

/* -- the end ----------------------------------------------------------------------------------- */

/* If a turn was offered before and has not started, offers it again (*ret_again). Otherwise reports
 * the end of the turn that ran. */
static int32_t report_end(struct hostkit *kit, const struct hook_call *call, bool stopped,
                          bool *ret_again, struct tidings_reply **ret_end,
                          struct tidings_error *error) {
  bool offered = false;
  int32_t code = hook_status_is_offered(kit, call, &offered, error);
  *ret_again = offered;
  if (!code && offered)
    code = hook_send_event(kit, call, "turn.declined", json_object(), NULL, error);
  if (code) return code;
  interrupt_begin(); /* a signal must wait until the offer is answered */
  const char *type = offered ? "turn.resume" : stopped ? "turn.aborted" : "turn.finished";
  return hook_send_event(kit, call, type, json_object(), ret_end, error);
}

/* Is the offered turn left to the process that waits? Not if that process failed to start a turn,
 * or if the turn was offered before: then this answer starts it. */
static bool leaves_it(const struct hook_call *call, bool again) {
  char *failed = hook_note_read(call, HOOK_NOTE_FAILED);
  bool leaves = call->wakes && !again && !failed;
  free(failed);
  return leaves;
}

int32_t hook_turn_ended(struct hostkit *kit, const struct hook_call *call,
                        struct hook_answer *ret_answer, struct tidings_error *error) {
  struct tidings_reply *end = NULL, *reply = NULL;
  char *content = NULL;
  bool again = false,
       stopped = call->host->stops_alike && !hook_ended_by_itself(call->transcript, call->host);
  hook_report_usage_said(kit, call);
  int32_t code = report_end(kit, call, stopped, &again, &end, error);
  if (code) return code;
  hook_rewind_report(kit, call);
  const struct tidings_action *action = hook_start_turn(end);
  if (action && leaves_it(call, again)) code = TIDINGS_OK;
  else if (action && (stopped || !takes_reason(kit, call) || hook_note_reason(call, 0)))
    code = hook_send_event(kit, call, "turn.declined", json_object(), NULL, error);
  else if (action) {
    code = hook_fit_offer(kit, call, &end, error);
    action = hook_start_turn(end);
    if (!code && action) code = hook_chat_request(kit, call, action, &content, &reply, error);
    if (!code && action) code = hook_continuation(kit, call, content, reply, ret_answer, error);
  }
  hostkit_reply_free(end);
  free(content);
  return code;
}

int32_t hook_turn_failed(struct hostkit *kit, const struct hook_call *call,
                         struct tidings_error *error) {
  const char *details = hook_call_text(call, FIELD_DETAILS);
  json_t *data = json_object();
  if (data && call->failure[0])
    json_object_set_new(data, "message",
                        details[0] ? json_sprintf("%s: %.200s", call->failure, details)
                                   : json_string(call->failure));
  return hook_send_event(kit, call, "turn.failed", data, NULL, error);
}

/* -- after the answer -------------------------------------------------------------------------- */

/* The event of a failure has no time, so it would also end a turn that began after the failure. */
static int32_t failed_late(struct hostkit *kit, const struct hook_call *call,
                           struct tidings_error *error) {
  json_t *status = NULL;
  int32_t code = hook_status(kit, call, &status, error);
  if (code) return code;
  bool runs_on = json_integer_value(json_object_get(status, "started_at")) > call->begun_ms;
  json_decref(status);
  return runs_on ? TIDINGS_OK : hook_turn_failed(kit, call, error);
}

/* A prompt may have begun another turn meanwhile. The event of an interruption has a time, so that
 * turn goes on; other events have none. */
int32_t hook_turn_ended_late(struct hostkit *kit, const struct hook_call *call, bool keeps,
                             struct tidings_error *error) {
  bool offered = false;
  if (call->moment == HOOK_TURN_FAILED) return failed_late(kit, call, error);
  int32_t code = hook_person_interrupted(kit, call, call->begun_ms, NULL, error);
  if (!code && !keeps) code = hook_status_is_offered(kit, call, &offered, error);
  if (!code && offered)
    code = hook_send_event(kit, call, "turn.declined", json_object(), NULL, error);
  return code;
}
