/* SPDX-License-Identifier: MIT
 *
 * agents/turn/rewind.c: a rewind event names every remaining delivery: all committed ones, except
 * those that the transcript has only in undone parts. A delivery that a compaction has removed is
 * in no part and remains. The event also names deliveries that the transcript has again. It does
 * not apply to deliveries after `newest`, because another hook call may deliver meanwhile.
 */
#include "agents/turn/rewind.h"

#include <stdlib.h>
#include <string.h>

#include "agents/call/log.h"
#include "agents/deliver/sign.h"
#include "agents/deliver/status.h"
#include "agents/transcript/undone.h"
#include "agents/turn/person.h"
#include "command/json_value.h"

enum { MOST_DELIVERIES = 10000 }; /* the query's limit */

/* Is it time to look for a rewind? A prompt follows each rewind. In Claude Code that prompt itself
 * shows the rewind, and is written after its hook was called. */
static bool is_time(const struct hook_call *call) {
  const struct host *host = call->host;
  if (host->undoing == HOST_UNDOES_UNSEEN || call->of_subagent) return false;
  return call->moment == HOOK_PROMPT ||
         (call->moment == HOOK_STOP && host->undoing == HOST_UNDOES_BY_SIBLINGS);
}

/* The remaining deliveries after a rewind. */
struct left {
  json_t *ids; /* their ids; NULL: the store need not change */
  json_t *newest;
};

static bool is_carrier(const json_t *delivery) {
  const char *carrier = json_value_text(delivery, "carrier");
  return strcmp(carrier, "tool_result") == 0 || strcmp(carrier, "chat_request") == 0;
}

/* Names the remaining deliveries; none if a delivery is leased, or if memory runs out. */
static struct left name_left(const json_t *history, const struct hook_marks *marks) {
  const json_t *deliveries = json_object_get(history, "deliveries"), *delivery;
  struct left left = {.ids = json_array()};
  bool differs = false, leased = false;
  size_t i;
  json_array_foreach(deliveries, i, delivery) {
    json_t *id = json_object_get(delivery, "id");
    const char *outcome = json_value_text(delivery, "outcome");
    uint64_t n = json_is_string(id) ? strtoull(json_string_value(id), NULL, 10) : 0;
    bool committed = strcmp(outcome, "committed") == 0, gone = hook_marks_gone(marks, n),
         back = strcmp(outcome, "rewound") == 0 && hook_marks_held(marks, n);
    left.newest = id;
    leased = leased || strcmp(outcome, "leased") == 0;
    if (!is_carrier(delivery)) continue;
    differs = differs || back || (committed && gone);
    if (left.ids && (back || (committed && !gone))) json_array_append(left.ids, id);
  }
  if (left.ids && differs && !leased) {
    json_incref(left.newest);
    return left;
  }
  json_decref(left.ids);
  return (struct left){.ids = NULL};
}

/* Asks for all deliveries, because an older delivery that is not listed could not be named and
 * would become pending again. */
static struct left ask_left(struct hostkit *kit, const struct hook_call *call,
                            const struct hook_marks *marks) {
  struct tidings_error error = {.size = sizeof error};
  struct left left = {.ids = NULL};
  json_t *history = NULL;
  json_t *request = json_pack("{s:s, s:s, s:i}", "name", "history", "session", call->session,
                              "limit", MOST_DELIVERIES);
  if (kit_query(kit, request, &history, &error)) {
    hook_log("cannot look up what a person has taken back: %s", error.text);
    return left;
  }
  if (json_value_count(history, "total") <= MOST_DELIVERIES) left = name_left(history, marks);
  json_decref(history);
  return left;
}

static int32_t send_rewound(struct hostkit *kit, const struct hook_call *call,
                            const struct left *left, struct tidings_error *error) {
  return hook_send_event(kit, call, "session.rewound",
                         json_pack("{s:O, s:O}", "deliveries", left->ids, "newest", left->newest),
                         NULL, error);
}

/* Reports the rewind. If the store still has a running turn, that turn has ended without a hook
 * call. */
static void report_left(struct hostkit *kit, const struct hook_call *call,
                        const struct left *left) {
  struct tidings_error error = {.size = sizeof error};
  int32_t code = send_rewound(kit, call, left, &error);
  if (code == TIDINGS_E_STATE) {
    code = hook_person_stopped(kit, call, &error);
    if (!code) code = send_rewound(kit, call, left, &error);
  }
  if (code) hook_log("cannot report what a person has taken back: %s", error.text);
}

void hook_rewind_report(struct hostkit *kit, const struct hook_call *call) {
  struct hook_marks marks = {.all = NULL};
  if (!is_time(call) || hook_status_has_leases(kit, call) ||
      hook_sign_ready(kit, call->session, NULL))
    return;
  if (hook_undone_read(call->transcript, call->host, &marks)) return;
  struct left left = {.ids = NULL};
  if (marks.any_undone) left = ask_left(kit, call, &marks);
  if (left.ids) report_left(kit, call, &left);
  json_decref(left.ids);
  json_decref(left.newest);
  hook_marks_finish(&marks);
}
