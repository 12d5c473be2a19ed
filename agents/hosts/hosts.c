/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/hosts.c: The row of an agent is in the file of its name.
 */
#include "agents/hosts/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "command/paths.h"

#define ROW(name) &host_##name,
const struct host *const hosts[] = {HOST_ROWS(ROW)};
const size_t host_count = sizeof hosts / sizeof hosts[0];

const struct host *host_find(const char *name) {
  for (size_t i = 0; i < host_count; i++) {
    if (strcmp(hosts[i]->name, name) == 0) return hosts[i];
  }
  return NULL;
}

bool host_is_woken_apart(const struct host *host) { return host->queues || host->scheduler; }

bool host_is_woken(const struct host *host) { return host->rewakes || host_is_woken_apart(host); }

const char *host_module(const struct host *host) {
  return host->module ? host->module : host->name;
}

bool host_borrows(const struct host *host, const struct host *lender) {
  for (const char *const *one = host->borrows; one && *one; one++) {
    if (strcmp(*one, lender->name) == 0) return true;
  }
  return false;
}

const struct host *host_find_title(const char *title) {
  for (size_t i = 0; i < host_count; i++) {
    if (strcmp(hosts[i]->title, title) == 0) return hosts[i];
  }
  return NULL;
}

char *host_home(const struct host *host) {
  const char *named = host->home_variable ? getenv(host->home_variable) : NULL;
  if (named && named[0]) return strdup(named);
  const char *base = host->base_variable ? getenv(host->base_variable) : NULL,
             *home = getenv("HOME");
  if (base && base[0]) return paths_join(base, host->base_folder);
  return home && home[0] ? paths_join(home, host->home_folder) : NULL;
}

/* A hook's text comes from outside the conversation. Some models take it for an attack if it speaks
 * as the system. */
const char *host_preset(const struct host *host) {
  return host->kind == HOST_NODE ? NULL : "plain";
}

/* White space as JavaScript trims it. */
static size_t blank_start(const char *text) {
  static const char *const wide[] = {"\u00a0", "\u1680", "\u2000", "\u2001", "\u2002",
                                     "\u2003", "\u2004", "\u2005", "\u2006", "\u2007",
                                     "\u2008", "\u2009", "\u200a", "\u2028", "\u2029",
                                     "\u202f", "\u205f", "\u3000", "\ufeff"};
  size_t at = strspn(text, " \t\n\v\f\r");
  for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
    if (strncmp(text + at, wide[i], strlen(wide[i])) == 0)
      return at + strlen(wide[i]) + blank_start(text + at + strlen(wide[i]));
  }
  return at;
}

bool host_forgets(const struct host *host, const char *text) {
  const char *start = text + blank_start(text);
  if (host->forgets && !*start) return true;
  for (const char *const *one = host->forgets; one && *one; one++) {
    if (strncmp(start, *one, strlen(*one)) == 0) return true;
  }
  return false;
}

const char *host_field_names(const struct host *host, enum host_field field) {
  static const char *const most[HOST_FIELDS] = {[FIELD_EVENT] = "hook_event_name",
                                                [FIELD_SESSION] = "session_id",
                                                [FIELD_CALL] = "tool_use_id tool_call_id",
                                                [FIELD_TRANSCRIPT] = "transcript_path",
                                                [FIELD_FOLDER] = "cwd",
                                                [FIELD_SOURCE] = "source",
                                                [FIELD_PROMPT] = "prompt",
                                                [FIELD_TOOL] = "tool_name",
                                                [FIELD_FAILURE] = "error",
                                                [FIELD_TIME] = "timestamp",
                                                [FIELD_AGENT] = "agent_id",
                                                [FIELD_PARENT] = "parent_agent_id",
                                                [FIELD_KIND] = "agent_type",
                                                [FIELD_WORDS] = "last_assistant_message",
                                                [FIELD_INPUT] = "tool_input",
                                                [FIELD_RESULT] = "tool_response",
                                                [FIELD_STOPPED] = "is_interrupt",
                                                [FIELD_AGAIN] = "stop_hook_active",
                                                [FIELD_DETAILS] = "error_details",
                                                [FIELD_NOTICE] = "notification_type",
                                                [FIELD_MESSAGE] = "message",
                                                [FIELD_FILE] = "file_path",
                                                [FIELD_USED] = "input_tokens",
                                                [FIELD_LIMIT] = "context_limit"};
  return host->fields && host->fields[field] ? host->fields[field] : most[field];
}

bool host_record_says(const struct host *host, enum host_says says) {
  for (const struct host_record *record = host->records; record && record->path; record++) {
    if (record->says == says) return true;
  }
  return false;
}

enum hook_moment host_moment(const struct host *host, const char *event) {
  for (const struct host_hook *hook = host->hooks; hook && hook->event; hook++) {
    if (strcmp(hook->event, event) == 0) return hook->moment;
  }
  return HOOK_OTHER;
}

const char *host_event(const struct host *host, enum hook_moment moment) {
  const struct host_hook *hook = host->hooks;
  while (hook && hook->event && hook->moment != moment) hook++;
  return hook ? hook->event : NULL;
}
