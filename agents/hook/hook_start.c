/* SPDX-License-Identifier: MIT
 *
 * agents/hook/hook_start.c: see the header.
 */
#include "agents/hook/hook_start.h"

#include <string.h>

#include "agents/hook/hook_log.h"
#include "command/json_value.h"
#include "command/kit.h"

/* A session that is resumed by another process than the one in which it began, of an agent whose
 * transcript has what was said then. */
static int32_t was_said(struct hostkit *kit, const struct hook_call *call, bool *ret_said,
                        struct tidings_error *error) {
  json_t *status = NULL;
  *ret_said = false;
  if (!call->host->keeps_start || strcmp(call->source, "resume") != 0) return TIDINGS_OK;
  int32_t code = kit_query(kit, json_pack("{s:s, s:s}", "name", "status", "session", call->session),
                           &status, error);
  *ret_said = !code && json_value_count(json_object_get(status, "attachment"), "epoch") > 1;
  json_decref(status);
  return code;
}

int32_t hook_start_instruct(struct hostkit *kit, const struct hook_call *call,
                            struct hook_answer *ret_answer, struct tidings_error *error) {
  json_t *answer = NULL;
  bool said = false;
  if (call->moment != HOOK_SESSION_START || call->of_subagent || ret_answer->output) return 0;
  int32_t code = was_said(kit, call, &said, error);
  if (!code && !said)
    code = kit_query(kit, json_pack("{s:s, s:s}", "name", "instructions", "session", call->session),
                     &answer, error);
  if (code || said) return code;
  json_t *output = json_pack("{s:{s:s, s:s}}", "hookSpecificOutput", "hookEventName", call->event,
                             "additionalContext", json_value_text(answer, "text"));
  json_decref(answer);
  if (!output) return kit_no_memory(error);
  ret_answer->output = output;
  return TIDINGS_OK;
}

void hook_start_late(struct hostkit *kit, const struct hook_call *call) {
  struct tidings_error error = {.size = sizeof error};
  json_t *status = NULL;
  if (call->moment == HOOK_OTHER || call->of_subagent || call->cwd[0] != '/') return;
  if (kit_query(kit, json_pack("{s:s, s:s}", "name", "status", "session", call->session), &status,
                &error))
    return;
  const json_t *attachment = json_object_get(status, "attachment");
  bool unknown = json_is_true(json_object_get(attachment, "alive")) &&
                 !json_value_text(attachment, "cwd")[0] && !json_value_text(attachment, "host")[0];
  json_decref(status);
  if (!unknown) return;
  json_t *data = json_pack("{s:s, s:s}", "host", call->host->title, "cwd", call->cwd);
  if (kit_event(kit, kit_new_event("session.opened", call->session, data), NULL, &error))
    hook_log("cannot store where the session works: %s", error.text);
}
