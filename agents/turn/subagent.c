/* SPDX-License-Identifier: MIT
 *
 * agents/turn/subagent.c: The state's message in the store has the number of working subagents.
 * There the next call finds it, and it ends with the turn.
 */
#include "agents/turn/subagent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/deliver/status.h"
#include "agents/turn/report.h"

static const char words[] = "subagents at work: ";

static int32_t count_them(struct hostkit *kit, const struct hook_call *call, size_t *ret_count,
                          struct tidings_error *error) {
  json_t *status = NULL;
  unsigned count = 0;
  int32_t code = hook_status(kit, call, &status, error);
  if (code) return code;
  const char *state = json_string_value(json_object_get(status, "state")),
             *message = json_string_value(json_object_get(status, "message"));
  if (state && message && strcmp(state, "waiting") == 0 &&
      strncmp(message, words, sizeof words - 1) == 0)
    count = (unsigned)strtoul(message + sizeof words - 1, NULL, 10);
  json_decref(status);
  *ret_count = count;
  return TIDINGS_OK;
}

static int32_t wait_for(struct hostkit *kit, const struct hook_call *call, size_t count,
                        struct tidings_error *error) {
  char message[sizeof words + 24];
  snprintf(message, sizeof message, "%s%zu", words, count);
  return hook_send_event(kit, call, "turn.waiting", json_pack("{s:s}", "message", message), NULL,
                         error);
}

bool hook_runs_subagent(const struct hook_call *call) {
  return call->host->subagents && strcmp(call->tool, call->host->subagents->tool) == 0;
}

int32_t hook_subagent_starts(struct hostkit *kit, const struct hook_call *call,
                             struct tidings_error *error) {
  size_t count = 0;
  if (!hook_runs_subagent(call)) return TIDINGS_OK;
  int32_t code = count_them(kit, call, &count, error);
  return code ? code : wait_for(kit, call, count + 1, error);
}

int32_t hook_subagents(struct hostkit *kit, const struct hook_call *call, size_t *ret_count,
                       bool *ret_inner, struct tidings_error *error) {
  size_t count = 0;
  int32_t code = call->host->subagents ? count_them(kit, call, &count, error) : TIDINGS_OK;
  if (code) return code;
  *ret_count = count;
  *ret_inner = count && !hook_runs_subagent(call);
  return TIDINGS_OK;
}

int32_t hook_subagent_ended(struct hostkit *kit, const struct hook_call *call, size_t count,
                            struct tidings_error *error) {
  return count > 1 && hook_runs_subagent(call) ? wait_for(kit, call, count - 1, error) : TIDINGS_OK;
}

/* After the last subagent the turn goes on: while "waiting", it would get no other results. */
int32_t hook_subagent_ended_late(struct hostkit *kit, const struct hook_call *call,
                                 struct tidings_error *error) {
  size_t count = 0;
  int32_t code = hook_report_subagent(kit, call, error);
  if (!code) code = count_them(kit, call, &count, error);
  if (code || count != 1) return code ? code : hook_subagent_ended(kit, call, count, error);
  return hook_send_event(kit, call, "turn.started", json_object(), NULL, error);
}
