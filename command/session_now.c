/* SPDX-License-Identifier: MIT
 */
#include "command/session_now.h"

#include <string.h>

#include "command/json_value.h"

enum { SESSIONS = 100 };

/* Does the window of this session show another session, so that its process lives but nobody works
 * in it? */
static bool was_left(const json_t *attachment) {
  return json_is_true(json_object_get(attachment, "alive")) &&
         !json_value_text(attachment, "cwd")[0] &&
         strcmp(json_value_text(attachment, "host"), SESSION_LEFT) == 0;
}

/* Returns the time of the last use. These texts can be compared. */
static const char *used_at(const json_t *session) {
  const char *used = json_value_text(session, "used"), *since = json_value_text(session, "since");
  return strcmp(used, since) > 0 ? used : since;
}

/* Only the sessions that a person sees have a folder; those of subagents, and those that were left,
 * have none. */
static const json_t *find_used_last(const json_t *list, json_int_t pid) {
  const json_t *session, *last = NULL;
  size_t i;
  json_array_foreach(json_object_get(list, "sessions"), i, session) {
    if (!json_is_true(json_object_get(session, "alive")) ||
        json_integer_value(json_object_get(session, "pid")) != pid ||
        !json_value_text(session, "cwd")[0])
      continue;
    if (!last || strcmp(used_at(session), used_at(last)) > 0) last = session;
  }
  return last;
}

char *session_now(struct hostkit *kit, const char *session) {
  json_t *status = NULL, *list = NULL;
  const json_t *last = NULL;
  json_t *request = json_pack("{s:s, s:s}", "name", "status", "session", session);
  if (kit_query(kit, request, &status, NULL)) return strdup(session);
  const json_t *attachment = json_object_get(status, "attachment");
  request =
      was_left(attachment) ? json_pack("{s:s, s:i}", "name", "sessions", "limit", SESSIONS) : NULL;
  if (request && !kit_query(kit, request, &list, NULL))
    last = find_used_last(list, json_integer_value(json_object_get(attachment, "pid")));
  char *now = strdup(last ? json_value_text(last, "session") : session);
  json_decref(list);
  json_decref(status);
  return now;
}
