/* SPDX-License-Identifier: MIT
 */
#include "mcp/calls.h"

#include <stdlib.h>
#include <string.h>

void mcp_call_finish(struct mcp_call *call) {
  free(call->id);
  free(call->tool);
  free(call->session);
  *call = (struct mcp_call){.id = NULL};
}

static char *copy_text(struct tidings_span text) {
  return text.ptr ? strndup(text.ptr, text.len) : strdup("");
}

static struct mcp_call *find_call(struct mcp_calls *calls, const struct mcp_id *id) {
  for (size_t i = 0; i < MCP_MOST_CALLS; i++) {
    struct mcp_call *call = &calls->places[i];
    if (!call->id) continue;
    const struct mcp_id noted = {.is_text = call->is_text, .text = span_text(call->id)};
    if (mcp_id_equal(&noted, id)) return call;
  }
  return NULL;
}

void mcp_calls_note(struct mcp_calls *calls, const struct mcp_message *message) {
  struct mcp_call *cancelled = find_call(calls, &message->cancelled);
  if (cancelled) mcp_call_finish(cancelled);
  if (message->kind != MCP_REQUEST || !span_is(message->method, "tools/call")) return;
  struct mcp_call call = {.id = copy_text(message->id.text),
                          .is_text = message->id.is_text,
                          .tool = copy_text(message->tool),
                          .session = copy_text(message->session)};
  if (!call.id || !call.tool || !call.session) {
    mcp_call_finish(&call);
    return;
  }
  struct mcp_call *place = &calls->places[calls->next];
  calls->next = (calls->next + 1) % MCP_MOST_CALLS;
  calls->any = true;
  mcp_call_finish(place);
  *place = call;
}

bool mcp_calls_take(struct mcp_calls *calls, const struct mcp_id *id, struct mcp_call *ret_call) {
  struct mcp_call *call = find_call(calls, id);
  if (!call) return false;
  *ret_call = *call;
  *call = (struct mcp_call){.id = NULL};
  return true;
}

void mcp_calls_finish(struct mcp_calls *calls) {
  for (size_t i = 0; i < MCP_MOST_CALLS; i++) mcp_call_finish(&calls->places[i]);
}
