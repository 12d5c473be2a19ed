/* SPDX-License-Identifier: MIT
 *
 * agents/turn/turns.c: answers an agent's hooks. The agent runs its turns itself. A turn that
 * tidings offers can start only when the agent is about to stop, or when a prompt of tidings wakes
 * it.
 */
#include "agents/turn/turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/call/log.h"
#include "agents/deliver/leases.h"
#include "agents/deliver/parts.h"
#include "agents/deliver/say.h"
#include "agents/deliver/status.h"
#include "agents/turn/follow.h"
#include "agents/turn/ours.h"
#include "agents/turn/person.h"
#include "agents/turn/report.h"
#include "agents/turn/rewind.h"
#include "agents/turn/stop.h"
#include "agents/turn/subagent.h"
#include "command/interrupt.h"
#include "command/json_value.h"
#include "command/mailbox.h"
#include "command/paths.h"
#include "command/stamp.h"
#include "common/span.h"

/* -- session start ----------------------------------------------------------------------------- */

/* Opens or resumes the session, and delivers nothing: notifications wait for the prompt, which
 * surely reaches the model. If the same process opens the session again (after a compaction),
 * nothing changes. A person who resumes the session here takes it over even from a living process,
 * because some agents leave a daemon running. If the agent's process is not known, nothing is taken
 * over. */
static int32_t open_session(struct hostkit *kit, const struct hook_call *call, uint32_t owner,
                            json_t *named, struct tidings_error *error) {
  bool takeover = owner && (call->moment == HOOK_SESSION_START || call->moved ||
                            call->host->proof == HOST_PROOF_NEXT_CALL);
  json_t *data = json_pack("{s:s, s:b}", "host", call->host->title, "takeover", takeover);
  if (data && call->cwd[0] == '/') json_object_set_new(data, "cwd", json_string(call->cwd));
  if (data && named) json_object_set(data, "deliveries", named);
  return hook_send_event(kit, call, named ? "session.resumed" : "session.opened", data, NULL,
                         error);
}

/* Collects the mailboxes of this folder. The session also works if this fails. */
static void collect_mailboxes(struct hostkit *kit, const struct hook_call *call) {
  struct tidings_error error = {.size = sizeof error};
  struct mailbox_moved moved;
  if (call->moment != HOOK_SESSION_START || call->cwd[0] != '/') return;
  if (mailbox_collect(kit, call->session, call->cwd, &moved, &error))
    hook_log("cannot collect what waits for this folder: %s", error.text);
}

/* -- prompts ----------------------------------------------------------------------------------- */

/* Call it when a nudge has arrived. The offer that caused the nudge may be out of date, so this
 * withdraws it, and offers the messages that are queued now. *ret_reply has the new offer, if there
 * is one. */
static int32_t offered_now(struct hostkit *kit, const struct hook_call *call,
                           struct tidings_reply **ret_reply, struct tidings_error *error) {
  int32_t code = hook_send_event(kit, call, "turn.declined", json_object(), NULL, error);
  if (code == TIDINGS_E_STATE)
    return TIDINGS_OK; /* a turn runs, and its carriers take everything */
  return code ? code : hook_send_event(kit, call, "turn.resume", json_object(), ret_reply, error);
}

/* Reports that a turn has started, and when. If a stop of the previous turn is reported later, the
 * plugin then sees that it is older than this turn, and ignores it. */
static int32_t send_started(struct hostkit *kit, const struct hook_call *call,
                            struct tidings_error *error) {
  return hook_send_event(kit, call, "turn.started",
                         json_pack("{s:I}", "at", (json_int_t)call->begun_ms), NULL, error);
}

/* Reports when the offered turn started. A failure is ignored, because the turn runs anyway and the
 * answer has to be written. */
static void date_offered(struct hostkit *kit, const struct hook_call *call) {
  struct tidings_error error = {.size = sizeof error};
  if (send_started(kit, call, &error)) hook_log("cannot store when a turn began: %s", error.text);
}

/* Delivers at a session's start, if the model reads the answer to that hook but not to a prompt's.
 * The first prompt comes directly after the start. */
static int32_t deliver_at_start(struct hostkit *kit, const struct hook_call *call,
                                struct hook_answer *ret_answer, struct tidings_error *error) {
  struct tidings_reply *reply = NULL;
  char *content = NULL;
  if (call->late ||
      (call->host->reads & (HOST_READS_START | HOST_READS_PROMPT)) != HOST_READS_START)
    return TIDINGS_OK;
  int32_t code = send_started(kit, call, error);
  if (!code) code = hook_chat_request(kit, call, NULL, &content, &reply, error);
  if (!code) code = hook_context(kit, call, content, reply, ret_answer, error);
  free(content);
  return code;
}

/* Handles a prompt. Nothing is delivered with a prompt that a resumed session will lack. */
static int32_t prompt(struct hostkit *kit, const struct hook_call *call,
                      struct hook_answer *ret_answer, struct tidings_error *error) {
  struct tidings_reply *reply = NULL, *offer = NULL;
  const struct tidings_action *action = NULL;
  char *content = NULL;
  hook_report_files(kit, call);
  hook_rewind_report(kit, call);
  bool nudged = false, wakes = (call->host->reads & HOST_READS_PROMPT) != 0;
  int32_t code = wakes ? hook_is_nudge(kit, call, &nudged, error) : TIDINGS_OK;
  /* The kept line is of an earlier turn, unless our command's hook has just kept it. */
  if (!nudged || call->characters) hook_say_forget(call);
  if (!code && nudged) code = offered_now(kit, call, &offer, error);
  if (!code) code = hook_fit_offer(kit, call, &offer, error);
  if (code) goto out;
  action = hook_start_turn(offer);
  if (!action) code = send_started(kit, call, error);
  if (code || host_forgets(call->host, call->prompt) || !(call->host->reads & HOST_READS_PROMPT))
    goto out;
  code = hook_chat_request(kit, call, action, &content, &reply, error);
  if (!code && action) date_offered(kit, call);
  if (!code) code = hook_context(kit, call, content, reply, ret_answer, error);
out:
  hostkit_reply_free(offer);
  free(content);
  return code;
}

/* -- tool results ------------------------------------------------------------------------------ */

/* Returns the stamp of an edited file. `path`: as session_path returns it. */
static json_t *stamp_of_edit(const struct hook_call *call, const char *path) {
  bool whole = path[0] == '/' || !call->cwd[0];
  char *joined = whole ? strdup(path) : paths_join(call->cwd, path);
  struct file_stamp stamp = {.text = ""};
  if (joined) stamp = stamp_of_file(joined);
  free(joined);
  return stamp.text[0] ? json_string(stamp.text) : json_null();
}

static int32_t report_some(struct hostkit *kit, const struct hook_call *call, const json_t *paths,
                           size_t first, size_t count, struct tidings_error *error) {
  const char *cause = call->call_id[0] ? call->call_id : call->tool;
  json_t *some = json_array(), *stamps = json_array();
  for (size_t i = first; some && stamps && i < first + count; i++) {
    json_array_append(some, json_array_get(paths, i));
    json_array_append_new(stamps, stamp_of_edit(call, json_string_value(json_array_get(paths, i))));
  }
  json_t *data = json_pack("{s:o, s:o, s:s, s:s}", "paths", some, "stamps", stamps, "change",
                           "modified", "caused_by", cause);
  return hook_send_event(kit, call, "file.changed", data, NULL, error);
}

enum { SOME_EDITS = 50 }; /* so many paths of the greatest length fit into one event */

/* Reports the first edits before the delivery, so that it does not contain a watcher's reports of
 * the same files. This fails only if the store is busy. Then there is no time left for the delivery
 * either. */
static int32_t report_first_edits(struct hostkit *kit, const struct hook_call *call,
                                  const json_t *paths, struct tidings_error *error) {
  size_t count = json_array_size(paths);
  if (!count) return TIDINGS_OK;
  int32_t code = report_some(kit, call, paths, 0, count < SOME_EDITS ? count : SOME_EDITS, error);
  if (code && code != TIDINGS_E_BUSY) hook_log("%s", error->text);
  return code == TIDINGS_E_BUSY ? code : TIDINGS_OK;
}

/* Reports the other edits after the delivery, whose time they would use up. A failure is only
 * logged. */
static void report_more_edits(struct hostkit *kit, const struct hook_call *call,
                              const json_t *paths) {
  struct tidings_error error = {.size = sizeof error};
  size_t total = json_array_size(paths);
  int32_t code = TIDINGS_OK;
  for (size_t first = SOME_EDITS; first < total && code != TIDINGS_E_BUSY; first += SOME_EDITS) {
    size_t left = total - first;
    code = report_some(kit, call, paths, first, left < SOME_EDITS ? left : SOME_EDITS, &error);
    if (code) hook_log("%s", error.text);
  }
}

static int32_t carry(struct hostkit *kit, const struct hook_call *call,
                     struct hook_answer *ret_answer, struct tidings_error *error) {
  struct tidings_reply *reply = NULL;
  const struct tidings_tool_result result = {.size = sizeof result,
                                             .session = span_text(call->session),
                                             .call_id = span_text(call->call_id),
                                             .tool = span_text(call->tool),
                                             .room_bytes = hook_room(call, "")};
  int32_t code = hook_parts_of_steered(kit, call, error);
  hook_status_changed(call);
  interrupt_begin(); /* a signal must wait until the answer is written */
  if (!code) code = hostkit_tool_result(kit, &result, &reply, error);
  if (!code && reply) code = hook_context(kit, call, "", reply, ret_answer, error);
  return code;
}

/* Reports a tool's result. If the store is full, the turn continues without this report. */
static int32_t report_result(struct hostkit *kit, const struct hook_call *call,
                             struct tidings_error *error) {
  int32_t code = hook_report_subagent(kit, call, error);
  if (!code || code == TIDINGS_E_BUSY) return code;
  hook_log("%s", error->text);
  return TIDINGS_OK;
}

/* Was the turn's end requested, and can this hook end it? */
static bool is_to_end(struct hostkit *kit, const struct hook_call *call) {
  json_t *status = NULL;
  if (!call->host->stops || hook_status(kit, call, &status, NULL)) return false;
  bool stopping = json_is_true(json_object_get(status, "stopping"));
  json_decref(status);
  return stopping;
}

/* Ends the turn like a stop by a person. Pending notifications stay pending, because no model reads
 * this answer. */
static int32_t end_turn(struct hostkit *kit, const struct hook_call *call,
                        struct hook_answer *ret_answer, struct tidings_error *error) {
  int32_t code = hook_person_requested(kit, call, error);
  if (!code)
    ret_answer->output =
        json_pack("{s:b, s:s}", "continue", 0, "stopReason", "Stopped by tidings stop.");
  return code;
}

static int32_t after_tool(struct hostkit *kit, const struct hook_call *call,
                          struct hook_answer *ret_answer, struct tidings_error *error) {
  bool inner = call->of_subagent;
  size_t count = 0;
  if (!inner && hook_person_stopped_tool(call)) return hook_person_stopped(kit, call, error);
  json_t *edits = call->failure[0] ? NULL : hook_call_edits(call);
  int32_t code = report_first_edits(kit, call, edits, error);
  if (!code && !inner) code = hook_subagents(kit, call, &count, &inner, error);
  if (!code && !inner && hook_runs_subagent(call)) code = report_result(kit, call, error);
  if (!code && !inner)
    code = is_to_end(kit, call) ? end_turn(kit, call, ret_answer, error)
                                : carry(kit, call, ret_answer, error);
  if (!code && !inner) code = hook_subagent_ended(kit, call, count, error);
  if (code != TIDINGS_E_BUSY) report_more_edits(kit, call, edits);
  json_decref(edits);
  return code;
}

static int32_t answer_moment(struct hostkit *kit, const struct hook_call *call,
                             struct hook_answer *ret_answer, struct tidings_error *error) {
  switch (call->moment) {
  case HOOK_SESSION_START: return deliver_at_start(kit, call, ret_answer, error);
  case HOOK_PROMPT: return prompt(kit, call, ret_answer, error);
  case HOOK_BEFORE_TOOL: return hook_subagent_starts(kit, call, error);
  case HOOK_AFTER_TOOL: return after_tool(kit, call, ret_answer, error);
  case HOOK_STOP: return hook_turn_ended(kit, call, ret_answer, error);
  case HOOK_TURN_FAILED: return hook_turn_failed(kit, call, error);
  case HOOK_SUBAGENT_STOP: return hook_report_subagent(kit, call, error);
  case HOOK_ASKS: return hook_person_asked(kit, call, error);
  case HOOK_NOTICE: return hook_person_noticed(kit, call, error);
  case HOOK_INTERRUPTED:
  case HOOK_SESSION_END: return hook_person_stopped(kit, call, error);
  case HOOK_CONFIGURED: return hook_report_configured(kit, call, error);
  default: return TIDINGS_OK;
  }
}

/* -- an offer that no carrier took ------------------------------------------------------------- */

/* Withdraws an offer that still stands when a tool's result arrives, so that its messages are
 * queued again. Otherwise this result would start the offered turn, and its messages would count as
 * fired. An offer still stands if the store was busy when a hook asked for its carrier, or if the
 * agent runs another turn before the nudge reaches it. */
static int32_t withdraw_offer(struct hostkit *kit, const struct hook_call *call,
                              struct tidings_error *error) {
  bool offered = false;
  if (call->moment != HOOK_AFTER_TOOL || call->of_subagent) return TIDINGS_OK;
  int32_t code = hook_status_is_offered(kit, call, &offered, error);
  if (!code && offered)
    code = hook_send_event(kit, call, "turn.started", json_object(), NULL, error);
  return code;
}

int32_t hook_answer_call(struct hostkit *kit, const struct hook_call *call, uint32_t owner,
                         struct hook_answer *ret_answer, struct tidings_error *error) {
  json_t *held = NULL;
  int32_t code = TIDINGS_OK;
  if (call->of_subagent && call->moment != HOOK_AFTER_TOOL && call->moment != HOOK_SUBAGENT_STOP)
    return TIDINGS_OK;
  if (!call->of_subagent) code = hook_leases_settle(kit, call, owner, &held, error);
  if (!code && (held || call->moment == HOOK_SESSION_START || call->moved))
    code = open_session(kit, call, owner, held, error);
  if (!code) collect_mailboxes(kit, call);
  json_decref(held);
  if (!code) code = hook_follow(kit, call, owner, error);
  if (!code) code = withdraw_offer(kit, call, error);
  return code ? code : answer_moment(kit, call, ret_answer, error);
}
