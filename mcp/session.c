/* SPDX-License-Identifier: MIT
 */
#include "mcp/session.h"

#include <stdlib.h>
#include <string.h>

#include "agents/hosts/hosts.h"
#include "agents/hosts/mcp.h"
#include "command/json_value.h"
#include "command/mailbox.h"
#include "common/clock.h"
#include "mcp/agent.h"
#include "mcp/writer.h"

#define SESSION_ADDRESS "session:"
enum { BUSY_MS = 2000, LAST_DELIVERIES = 100 };

static json_t *status_of(struct hostkit *kit, const char *session) {
  json_t *status = NULL;
  (void)kit_query(kit, json_pack("{s:s, s:s}", "name", "status", "session", session), &status,
                  NULL);
  return status;
}

/* Do the agent's own hooks, or its module, deliver to that session? */
static bool is_hooked(const json_t *attachment) {
  const struct host *host = host_find_title(json_value_text(attachment, "host"));
  return host && json_is_true(json_object_get(attachment, "alive"));
}

bool mcp_session_is_hooked(struct hostkit *kit, const char *session) {
  json_t *status = status_of(kit, session);
  bool hooked = is_hooked(json_object_get(status, "attachment"));
  json_decref(status);
  return hooked;
}

char *mcp_session_find_hooked(const struct mcp_owner *owner) {
  json_t *answer = NULL;
  const json_t *session = NULL, *found = NULL;
  size_t i = 0;
  (void)kit_query(owner->kit, json_pack("{s:s, s:i}", "name", "sessions", "limit", 10000), &answer,
                  NULL);
  json_array_foreach(json_object_get(answer, "sessions"), i, session) {
    if (json_value_count(session, "pid") == owner->pid && is_hooked(session)) {
      found = session;
      break;
    }
  }
  char *name = found ? strdup(json_value_text(found, "session")) : NULL;
  json_decref(answer);
  return name;
}

/* Rolls back deliveries of wrappers that were killed together with their writers, because no other
 * process settles them. */
static void give_back_orphans(struct hostkit *kit, const char *session) {
  json_t *status = status_of(kit, session);
  const json_t *lease = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(status, "leased"), i, lease) {
    if (!mcp_writer_has_ended(json_value_text(lease, "call_id"))) continue;
    uint64_t delivery = strtoull(json_value_text(lease, "id"), NULL, 10);
    (void)kit_settle(kit, delivery, TIDINGS_ROLLED_BACK, BUSY_MS, NULL, NULL);
  }
  json_decref(status);
}

static int32_t send_opened(const struct mcp_owner *owner, const char *session, const char *folder) {
  json_t *title = json_sprintf("%s" HOST_BY_MCP, owner->agent);
  json_t *data = json_pack("{s:o, s:s}", "host", title, "cwd", folder);
  return kit_event(owner->kit, kit_new_event("session.opened", session, data), NULL, NULL);
}

bool mcp_session_withdraw(struct hostkit *kit, const char *session) {
  json_t *status = status_of(kit, session);
  const char *state = json_value_text(status, "state");
  bool offered = strcmp(state, "starting") == 0,
       ours = state[0] && !is_hooked(json_object_get(status, "attachment"));
  json_decref(status);
  if (!offered || !ours) return ours;
  return kit_event(kit, kit_new_event("turn.declined", session, json_object()), NULL, NULL) == 0;
}

int32_t mcp_session_attach(const struct mcp_owner *owner, const char *session, const char *folder) {
  struct mailbox_moved moved;
  int32_t code = TIDINGS_E_BUSY;
  int64_t until_ms = clock_mono_ms() + BUSY_MS;
  while (code == TIDINGS_E_BUSY && clock_mono_ms() < until_ms)
    code = send_opened(owner, session, folder);
  if (code) return code;
  give_back_orphans(owner->kit, session);
  until_ms = clock_mono_ms() + BUSY_MS;
  do code = mailbox_collect(owner->kit, session, folder, &moved, NULL);
  while (code == TIDINGS_E_BUSY && clock_mono_ms() < until_ms); /* waits, because no later call
                                                                   tries this again */
  return TIDINGS_OK;
}

int32_t mcp_session_attach_to_folder(const struct mcp_owner *owner, const char *folder,
                                     char **ret_name) {
  enum { MOST_AGENTS = 64 };
  int32_t code = TIDINGS_E_OWNED;
  for (unsigned n = 1; code == TIDINGS_E_OWNED && n <= MOST_AGENTS; n++) {
    char *name = mcp_agent_session_name(owner->agent, folder, n);
    code = name ? mcp_session_attach(owner, name, folder) : TIDINGS_E_NOMEM;
    if (code) free(name);
    else *ret_name = name;
  }
  return code;
}

/* Returns the sender that the delivery's last such item names; NULL: none does. */
static const char *sender_of(const json_t *delivery) {
  const json_t *items = json_object_get(delivery, "items");
  for (size_t i = json_array_size(items); i; i--) {
    const char *from =
        json_value_text(json_object_get(json_array_get(items, i - 1), "data"), "from");
    if (strncmp(from, SESSION_ADDRESS, sizeof SESSION_ADDRESS - 1) == 0) return from;
  }
  return NULL;
}

char *mcp_session_last_sender(struct hostkit *kit, const char *session) {
  json_t *history = NULL;
  const char *from = NULL;
  (void)kit_query(
      kit,
      json_pack("{s:s, s:s, s:i}", "name", "history", "session", session, "limit", LAST_DELIVERIES),
      &history, NULL);
  const json_t *deliveries = json_object_get(history, "deliveries");
  for (size_t i = json_array_size(deliveries); i && !from; i--)
    from = sender_of(json_array_get(deliveries, i - 1));
  char *copy = from ? strdup(from) : NULL;
  json_decref(history);
  return copy;
}
