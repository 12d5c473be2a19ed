/* SPDX-License-Identifier: MIT
 *
 * agents/turn/compact.c: see the header. These notifications and messages are still delivered
 * later: they are listed here only so that the model can plan with them, and nothing is settled.
 */
#include "agents/turn/compact.h"

#include <stdlib.h>
#include <string.h>

#include "agents/deliver/deliver.h"
#include "agents/deliver/status.h"
#include "command/json_value.h"

static size_t count_of(const json_t *ledger, const char *name) {
  return json_array_size(json_object_get(ledger, name));
}

/* NULL: out of memory. */
static char *words_of(const json_t *ledger, struct tidings_span json, size_t room) {
  char *text = NULL;
  int len = asprintf(&text,
                     "When the conversation was compacted, this was still waiting (JSON, not from "
                     "the user); it comes with later results and turns: %.*s",
                     (int)json.len, json.ptr);
  if (len >= 0 && (!room || (size_t)len <= room)) return text;
  if (len >= 0) free(text);
  len = asprintf(&text,
                 "When the conversation was compacted, %zu notifications and %zu messages were "
                 "still waiting; they come with later results and turns.",
                 count_of(ledger, "pending"), count_of(ledger, "queued"));
  return len < 0 ? NULL : text;
}

static int32_t read_ledger(const struct tidings_reply *reply, size_t room, char **ret_text,
                           struct tidings_error *error) {
  static const struct json_rules rules = {.max_depth = 64, .repeats = true};
  json_t *ledger = NULL;
  if (!reply || !reply->ledger.len) return TIDINGS_OK;
  int32_t code = json_value_read(&rules, reply->ledger, "ledger", &ledger, error);
  if (code) return code;
  if (count_of(ledger, "pending") + count_of(ledger, "queued")) {
    *ret_text = words_of(ledger, reply->ledger, room);
    if (!*ret_text) code = kit_no_memory(error);
  }
  json_decref(ledger);
  return code;
}

int32_t hook_compacted(struct hostkit *kit, const struct hook_call *call, size_t room,
                       char **ret_text, struct tidings_error *error) {
  struct tidings_reply *reply = NULL;
  int32_t code = hook_send_event(kit, call, "session.compacted", json_object(), &reply, error);
  if (!code) code = read_ledger(reply, room, ret_text, error);
  /* What is offered has no carrier here: it goes on when the agent idles, or after its turn. */
  if (!code && hook_start_turn(reply))
    code = hook_send_event(kit, call, "turn.declined", json_object(), NULL, error);
  hostkit_reply_free(reply);
  return code;
}
