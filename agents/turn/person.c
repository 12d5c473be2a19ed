/* SPDX-License-Identifier: MIT
 */
#include "agents/turn/person.h"

#include <string.h>

#include "agents/deliver/deliver.h"
#include "agents/deliver/say.h"
#include "agents/deliver/status.h"
#include "command/json_value.h"
#include "common/clock.h"

enum { IDLE_MS = 1000 }; /* agents wait longer before they say that they idle */

struct run {
  bool works, waits;
  int64_t started_ms;
};

static int32_t ask_run(struct hostkit *kit, const struct hook_call *call, struct run *ret_run,
                       struct tidings_error *error) {
  json_t *status = NULL;
  int32_t code = hook_status(kit, call, &status, error);
  if (code) return code;
  const char *state = json_value_text(status, "state");
  ret_run->waits = strcmp(state, "waiting") == 0;
  ret_run->works = strcmp(state, "busy") == 0 || strcmp(state, "retrying") == 0;
  ret_run->started_ms = json_integer_value(json_object_get(status, "started_at"));
  json_decref(status);
  return TIDINGS_OK;
}

/* Ignores TIDINGS_E_STATE: the run has changed meanwhile, and there is nothing left to report. The
 * event's time shows that a newer prompt's turn is not meant. */
static int32_t send_if_turn_runs(struct hostkit *kit, const struct hook_call *call,
                                 const char *type, json_t *data, struct tidings_reply **ret_reply,
                                 struct tidings_error *error) {
  int32_t code = hook_send_event(kit, call, type, data, ret_reply, error);
  return code == TIDINGS_E_STATE ? TIDINGS_OK : code;
}

/* Some agents do not wait for the hook of a notice, so the notice may belong to the turn before.
 * The times prove nothing if the clock was set back to before the turn's start. */
static bool is_before(int64_t when_ms, const struct run *run) {
  return when_ms && when_ms < run->started_ms && run->started_ms <= clock_wall_ms();
}

static int32_t send_waiting(struct hostkit *kit, const struct hook_call *call, const char *kind,
                            const char *what, struct tidings_error *error) {
  struct run run;
  int32_t code = ask_run(kit, call, &run, error);
  if (code || !run.works || is_before(call->time_ms, &run)) return code;
  json_t *data = json_pack("{s:s}", "kind", kind);
  if (data && what[0]) json_object_set_new(data, "message", json_string(what));
  return send_if_turn_runs(kit, call, "turn.waiting", data, NULL, error);
}

int32_t hook_person_asked(struct hostkit *kit, const struct hook_call *call,
                          struct tidings_error *error) {
  return send_waiting(kit, call, "approval", call->tool, error);
}

int32_t hook_person_interrupted(struct hostkit *kit, const struct hook_call *call, int64_t when_ms,
                                struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct run run;
  int32_t code = ask_run(kit, call, &run, error);
  if (code || !(run.works || run.waits) || is_before(when_ms, &run)) return code;
  json_t *data = when_ms ? json_pack("{s:I}", "at", (json_int_t)when_ms) : json_object();
  return send_if_turn_runs(kit, call, "turn.aborted", data, ret_reply, error);
}

static int32_t stopped_at(struct hostkit *kit, const struct hook_call *call, int64_t when_ms,
                          struct tidings_error *error) {
  struct tidings_reply *reply = NULL;
  int32_t code = hook_person_interrupted(kit, call, when_ms, &reply, error);
  if (!code && hook_start_turn(reply))
    code = hook_send_event(kit, call, "turn.declined", json_object(), NULL, error);
  hostkit_reply_free(reply);
  return code;
}

int32_t hook_person_stopped(struct hostkit *kit, const struct hook_call *call,
                            struct tidings_error *error) {
  return stopped_at(kit, call, call->time_ms, error);
}

int32_t hook_person_requested(struct hostkit *kit, const struct hook_call *call,
                              struct tidings_error *error) {
  return stopped_at(kit, call, 0, error);
}

bool hook_person_stopped_tool(const struct hook_call *call) {
  if (call->moment != HOOK_AFTER_TOOL) return false;
  const struct host *host = call->host;
  if (json_is_true(hook_call_value(call, FIELD_STOPPED))) return true;
  if (!host->stopped_tool || strcmp(call->tool, host->stopped_tool) != 0) return false;
  const char *text = hook_call_result(call), *opening = host->result_opening;
  if (opening && strncmp(text, opening, strlen(opening)) == 0) text += strlen(opening);
  return strncmp(text, host->stopped_result, strlen(host->stopped_result)) == 0;
}

/* If the agent does not say since when it idles, a prompt may have come after the shortest time. */
static int64_t idle_since_ms(const struct hook_call *call) {
  return call->time_ms ? call->time_ms : call->begun_ms - IDLE_MS;
}

/* Ends the running turn, which a person has stopped. If no turn runs after that, drops the line
 * that was kept for a turn's end. */
static int32_t notice_idling(struct hostkit *kit, const struct hook_call *call,
                             struct tidings_error *error) {
  struct run run = {.works = false};
  int32_t code = stopped_at(kit, call, idle_since_ms(call), error);
  if (!code) code = ask_run(kit, call, &run, error);
  if (!code && !run.works && !run.waits) hook_say_forget(call);
  return code;
}

/* NULL: the notice does not matter. */
static const struct host_notice *find_notice(const struct hook_call *call) {
  const struct host_notice *notice = call->host->notices;
  const char *kind = hook_call_text(call, FIELD_NOTICE);
  while (notice && notice->kind && strcmp(notice->kind, kind) != 0) notice++;
  return notice && notice->kind ? notice : NULL;
}

bool hook_person_awaited(const struct hook_call *call) {
  const struct host_notice *notice = call->moment == HOOK_NOTICE ? find_notice(call) : NULL;
  return notice && notice->says == NOTICE_OF_IDLING;
}

int32_t hook_person_noticed(struct hostkit *kit, const struct hook_call *call,
                            struct tidings_error *error) {
  const struct host_notice *notice = find_notice(call);
  const char *message = hook_call_text(call, FIELD_MESSAGE);
  if (!notice) return TIDINGS_OK;
  if (notice->says == NOTICE_OF_IDLING) return notice_idling(kit, call, error);
  return send_waiting(kit, call, notice->says == NOTICE_OF_APPROVAL ? "approval" : "user-input",
                      message, error);
}
