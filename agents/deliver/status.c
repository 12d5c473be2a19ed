/* SPDX-License-Identifier: MIT
 */
#include "agents/deliver/status.h"

#include <inttypes.h>
#include <string.h>

#include "command/json_value.h"
#include "command/session_now.h"

void hook_seen_finish(struct hook_seen *seen) {
  json_decref(seen->status);
  seen->status = NULL;
}

void hook_status_changed(const struct hook_call *call) {
  if (call->seen) hook_seen_finish(call->seen);
}

static bool has_host(const json_t *status) {
  const json_t *attachment = json_object_get(status, "attachment");
  const char *host = json_value_text(attachment, "host");
  return json_is_true(json_object_get(attachment, "alive")) &&
         (json_value_text(attachment, "cwd")[0] || (host[0] && strcmp(host, SESSION_LEFT) != 0));
}

int32_t hook_status(struct hostkit *kit, const struct hook_call *call, json_t **ret_status,
                    struct tidings_error *error) {
  json_t *status = call->seen ? json_incref(call->seen->status) : NULL;
  if (!status) {
    json_t *request = json_pack("{s:s, s:s}", "name", "status", "session", call->session);
    int32_t code = kit_query(kit, request, &status, error);
    if (code) return code;
    if (call->seen) {
      call->seen->status = json_incref(status);
      if (has_host(status)) call->seen->knows_the_host = true;
    }
  }
  *ret_status = status;
  return TIDINGS_OK;
}

int32_t hook_send_event(struct hostkit *kit, const struct hook_call *call, const char *type,
                        json_t *data, struct tidings_reply **ret_reply,
                        struct tidings_error *error) {
  hook_status_changed(call);
  return kit_event(kit, kit_new_event(type, call->session, data), ret_reply, error);
}

int32_t hook_send_event_once(struct hostkit *kit, const struct hook_call *call, const char *type,
                             json_t *data, struct tidings_error *error) {
  json_t *event = kit_new_event(type, call->session, data);
  if (event)
    json_object_set_new(
        event, "id",
        json_sprintf("hook:%s:%d:%" PRId64, call->session, (int)call->process, call->begun_ms));
  hook_status_changed(call);
  return kit_event(kit, event, NULL, error);
}

int32_t hook_status_is_offered(struct hostkit *kit, const struct hook_call *call, bool *ret_is,
                               struct tidings_error *error) {
  json_t *status = NULL;
  int32_t code = hook_status(kit, call, &status, error);
  if (code) return code;
  *ret_is = strcmp(json_value_text(status, "state"), "starting") == 0;
  json_decref(status);
  return TIDINGS_OK;
}

bool hook_status_has_leases(struct hostkit *kit, const struct hook_call *call) {
  json_t *status = NULL;
  if (hook_status(kit, call, &status, NULL)) return true;
  bool has = json_array_size(json_object_get(status, "leased")) > 0;
  json_decref(status);
  return has;
}
