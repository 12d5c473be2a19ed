/* SPDX-License-Identifier: MIT
 */
#include "agents/turn/report.h"

#include <stdlib.h>
#include <string.h>

#include "agents/call/log.h"
#include "agents/deliver/status.h"
#include "command/json_value.h"
#include "common/span.h"
#include "common/utf8.h"

enum { MOST_WORDS = 4000, MOST_SLUG = 200 }; /* bytes; the plugin shows 500 characters */

static json_t *cut(const char *text, size_t most) {
  struct tidings_span span = span_text(text);
  return json_stringn(text, utf8_prefix(span, most));
}

/* -- subagents --------------------------------------------------------------------------------- */

/* Finds the last words in the result of the tool that runs a subagent. */
static const char *words_of_result(const struct hook_call *call) {
  const char *heading = call->host->subagents->heading, *text = hook_call_result(call),
             *words = strstr(text, heading);
  return words ? words + strlen(heading) : text;
}

/* Returns "TYPE ID", or one of the two. Free it; NULL: out of memory. */
static char *slug_of(const struct hook_call *call, bool by_tool) {
  const json_t *input = hook_call_value(call, FIELD_INPUT);
  const char *type = by_tool ? hook_member_text(input, call->host->subagents->kind)
                             : hook_call_text(call, FIELD_KIND),
             *id = by_tool ? "" : hook_call_text(call, FIELD_AGENT);
  char *slug = NULL;
  if (!type[0] && !id[0]) return strdup("subagent");
  return asprintf(&slug, "%s%s%s", type, type[0] && id[0] ? " " : "", id) < 0 ? NULL : slug;
}

/* Claude Code also calls this hook for its own requests to the model, such as suggestions for the
 * next prompt; these have no type. */
static bool is_the_agents_own(const struct hook_call *call) {
  const char *type = json_string_value(hook_call_value(call, FIELD_KIND));
  return type && !type[0];
}

int32_t hook_report_subagent(struct hostkit *kit, const struct hook_call *call,
                             struct tidings_error *error) {
  bool by_tool = call->moment == HOOK_AFTER_TOOL;
  if (!by_tool && is_the_agents_own(call)) return TIDINGS_OK;
  const char *words = by_tool ? words_of_result(call) : hook_call_text(call, FIELD_WORDS);
  char *slug = slug_of(call, by_tool);
  if (!slug) return kit_no_memory(error);
  json_t *data = json_pack("{s:o, s:o, s:s}", "slug", cut(slug, MOST_SLUG), "summary",
                           cut(words, MOST_WORDS), "activation", "passive");
  free(slug);
  return hook_send_event_once(kit, call, "subagent.finished", data, error);
}
