/* SPDX-License-Identifier: MIT
 */
#include "agents/deliver/usage.h"

#include "agents/call/log.h"
#include "agents/deliver/status.h"

void hook_report_usage(struct hostkit *kit, const struct hook_call *call, int64_t used,
                       int64_t limit) {
  struct tidings_error error = {.size = sizeof error};
  if (used <= 0 || limit <= 0) return;
  json_t *data = json_pack("{s:I, s:I}", "used", (json_int_t)used, "limit", (json_int_t)limit);
  if (hook_send_event(kit, call, "budget.usage", data, NULL, &error)) hook_log("%s", error.text);
}

void hook_report_usage_said(struct hostkit *kit, const struct hook_call *call) {
  hook_report_usage(kit, call, json_integer_value(hook_call_value(call, FIELD_USED)),
                    json_integer_value(hook_call_value(call, FIELD_LIMIT)));
}
