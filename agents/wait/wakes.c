/* SPDX-License-Identifier: MIT
 *
 * agents/wait/wakes.c: if the agent can be woken, a process waits at the session's place; but not
 * for an agent without a terminal, after --no-wake, or before the first prompt.
 */
#include "agents/wait/wakes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/hosts/hosts.h"
#include "agents/hosts/mcp.h"
#include "agents/wait/place.h"
#include "command/json_value.h"

/* Is no turn running? An offered turn may also wait for a prompt, unless the agent is woken by the
 * end of a process, which then has left its place. */
static bool is_idle(const struct host *host, const char *state) {
  return strcmp(state, "idle") == 0 || (!host->rewakes && strcmp(state, "starting") == 0);
}

/* Returns the length, or -1. */
static int explain_nobody(const struct host *host, char **ret_text) {
  const struct host_scheduler *scheduler = host->scheduler;
  if (!scheduler)
    return asprintf(ret_text,
                    "nothing waits to wake this %s (it has no terminal, is set up with --no-wake, "
                    "or had no prompt yet)",
                    host->title);
  return asprintf(ret_text,
                  "nothing waits to wake this %s (it has no terminal, is set up with --no-wake, "
                  "runs no scheduled tasks, is beside `%s %s`, or had no prompt yet)",
                  host->title, host->program, scheduler->server_word);
}

char *hook_wakes_not(const struct cli *cli, const char *session, const json_t *status) {
  const json_t *owner = json_object_get(status, "attachment");
  const struct host *host = host_find_title(json_value_text(owner, "host"));
  char *text = NULL;
  int len = 0;
  if (!host || host->kind == HOST_NODE || !json_is_true(json_object_get(owner, "alive")) ||
      !is_idle(host, json_value_text(status, "state")))
    return NULL;
  if (!host_is_woken(host)) len = asprintf(&text, "%s cannot be woken while it idles", host->title);
  else if (!json_object_get(owner, "machine") &&
           !hook_place_is_taken(cli, session, (uint32_t)json_value_count(owner, "pid")))
    len = explain_nobody(host, &text);
  return len < 0 ? NULL : text;
}

char *hook_wakes_ask(const struct cli *cli, struct hostkit *kit, const char *session) {
  json_t *status = NULL;
  if (kit_query(kit, json_pack("{s:s, s:s}", "name", "status", "session", session), &status, NULL))
    return NULL;
  char *why = hook_wakes_not(cli, session, status);
  json_decref(status);
  return why;
}

void hook_wakes_say(const struct cli *cli, char *why, const char *instead) {
  if (why) cli_warn(cli, "%s: %s", why, instead);
  free(why);
}

void hook_wakes_say_mcp(const struct cli *cli, struct hostkit *kit, const char *session) {
  json_t *status = NULL;
  if (kit_query(kit, json_pack("{s:s, s:s}", "name", "status", "session", session), &status, NULL))
    return;
  const json_t *owner = json_object_get(status, "attachment");
  const char *title = json_value_text(owner, "host"), *end = strstr(title, HOST_BY_MCP);
  if (end && strcmp(end, HOST_BY_MCP) == 0 && json_is_true(json_object_get(owner, "alive")))
    cli_warn(cli, "%s, starts no turns: the message stays in the queue", title);
  json_decref(status);
}
