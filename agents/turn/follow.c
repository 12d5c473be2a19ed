/* SPDX-License-Identifier: MIT
 *
 * agents/turn/follow.c: no agent reports which session a window showed before. So the session that
 * the same process used last in the same folder is taken, unless a turn runs in it, because a
 * process may have several windows.
 */
#include "agents/turn/follow.h"

#include <string.h>

#include "agents/deliver/status.h"
#include "agents/transcript/time.h"
#include "command/json_value.h"
#include "command/session_now.h"

enum { SESSIONS = 100, EVENTS = 16 }; /* one event passes on a limited number of notifications */

static bool follows(const struct hook_call *call, uint32_t owner) {
  const char *source = call->host->begins_anew;
  if (!owner || !source || call->of_subagent || call->moment != HOOK_SESSION_START) return false;
  if (strcmp(call->source, source) == 0) return true;
  return call->moved &&
         strcmp(call->source, "startup") == 0; /* after `/new`: the window had another session */
}

/* A session that began later cannot be the one before, which matters if this one's start is
 * reported late. */
static bool began_later(const struct hook_call *call, const json_t *session) {
  return call->late && hook_time_ms(json_value_text(session, "since")) > call->begun_ms;
}

static bool may_be_former(const struct hook_call *call, uint32_t owner, const json_t *session) {
  static const char *const at_work[] = {"busy", "retrying", "waiting"};
  const char *state = json_value_text(session, "state");
  for (size_t i = 0; call->host->queues && i < sizeof at_work / sizeof *at_work; i++) {
    if (strcmp(state, at_work[i]) == 0) return false;
  }
  return json_is_true(json_object_get(session, "alive")) && !began_later(call, session) &&
         json_integer_value(json_object_get(session, "pid")) == (json_int_t)owner &&
         strcmp(json_value_text(session, "host"), call->host->title) == 0 &&
         strcmp(json_value_text(session, "cwd"), call->cwd) == 0 &&
         strcmp(json_value_text(session, "session"), call->session) != 0;
}

/* Returns the time of the last use as text; the order of the texts is that of the times. */
static const char *used_at(const json_t *session) {
  const char *used = json_value_text(session, "used"), *since = json_value_text(session, "since");
  return strcmp(used, since) > 0 ? used : since;
}

static const json_t *find_former(const struct hook_call *call, uint32_t owner, const json_t *list) {
  const json_t *session, *former = NULL;
  size_t i;
  json_array_foreach(json_object_get(list, "sessions"), i, session) {
    if (!may_be_former(call, owner, session)) continue;
    if (!former || strcmp(used_at(session), used_at(former)) > 0) former = session;
  }
  return former;
}

/* Returns whether notifications are left for the next event. */
static bool is_left(const struct tidings_reply *reply) {
  static const struct json_rules rules = {.max_depth = 4};
  json_t *ledger = NULL;
  if (!reply || !reply->ledger.len ||
      json_value_read(&rules, reply->ledger, "ledger", &ledger, NULL))
    return false;
  bool left = json_integer_value(json_object_get(ledger, "left")) > 0;
  json_decref(ledger);
  return left;
}

/* Collects notifications and messages. If the reply offers a turn, the next prompt withdraws it, or
 * the process that waits beside the agent starts it. */
static int32_t collect(struct hostkit *kit, const struct hook_call *call, const char *former,
                       struct tidings_error *error) {
  bool left = true;
  int32_t code = TIDINGS_OK;
  for (int i = 0; !code && left && i < EVENTS; i++) {
    struct tidings_reply *reply = NULL;
    code = hook_send_event(kit, call, "session.collected", json_pack("{s:[s]}", "from", former),
                           &reply, error);
    left = !code && is_left(reply);
    hostkit_reply_free(reply);
  }
  return code;
}

/* Notes that the former session was left, so that later reports to it reach this session
 * (command/session_now.h). If it is resumed, its start reports its folder again. */
static int32_t leave(struct hostkit *kit, const char *former, struct tidings_error *error) {
  return kit_event(
      kit, kit_new_event("session.opened", former, json_pack("{s:s}", "host", SESSION_LEFT)), NULL,
      error);
}

int32_t hook_follow(struct hostkit *kit, const struct hook_call *call, uint32_t owner,
                    struct tidings_error *error) {
  json_t *list = NULL;
  if (!follows(call, owner)) return TIDINGS_OK;
  json_t *request =
      json_pack("{s:s, s:i, s:b}", "name", "sessions", "limit", SESSIONS, "details", 1);
  int32_t code = kit_query(kit, request, &list, error);
  if (code) return code;
  const json_t *former = find_former(call, owner, list);
  if (former) code = collect(kit, call, json_value_text(former, "session"), error);
  if (former && !code) code = leave(kit, json_value_text(former, "session"), error);
  json_decref(list);
  return code;
}
