/* SPDX-License-Identifier: MIT
 *
 * doctor/log.c: finds in hook.log the sessions whose hooks found no lasting agent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agents/call/owner.h"
#include "cli/doctor/doctor.h"
#include "command/json_value.h"
#include "command/paths.h"
#include "common/clock.h"
#include "common/file.h"

enum { LARGEST_LOG = 4 << 20, SHOWN_LINES = 3, MOST_SESSIONS = 8, RECENT_S = 24 * 3600 };

struct complaints {
  char *session;
  size_t count;
};

/* Returns where the session begins in "2026-11-23T20:35:21.004Z pid 4 claude Stop SESSION: TEXT";
 * NULL: it is another line, or an old one. */
static const char *complaint(const char *line, size_t *ret_len) {
  struct tm utc = {.tm_year = 0};
  const char *text = strstr(line, ": " OWNER_NOT_FOUND), *at = line;
  if (!text) text = strstr(line, ": " OWNER_HAS_ENDED);
  const char *rest = strptime(line, "%Y-%m-%dT%H:%M:%S", &utc);
  if (!text || !rest || (*rest != '.' && *rest != 'Z') ||
      clock_wall_ms() / 1000 - (int64_t)timegm(&utc) > RECENT_S)
    return NULL;
  for (int i = 0; i < 5; i++) {
    at = strchr(at, ' ');
    if (!at || ++at > text) return NULL;
  }
  *ret_len = (size_t)(text - at);
  return at;
}

static size_t count_complaints(char *text, struct complaints all[MOST_SESSIONS],
                               const char *last[SHOWN_LINES]) {
  size_t count = 0, len = 0;
  char *rest = NULL;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    const char *session = complaint(line, &len);
    size_t i = 0;
    memmove(last, last + 1, (SHOWN_LINES - 1) * sizeof *last);
    last[SHOWN_LINES - 1] = line;
    if (!session) continue;
    while (i < count && strncmp(all[i].session, session, len) != 0) i++;
    if (i == MOST_SESSIONS) continue;
    if (i == count) all[count++] = (struct complaints){strndup(session, len), 0};
    if (!all[i].session) return i;
    all[i].count++;
  }
  return count;
}

/* Does the session have a living process now? Then its past does not matter. */
static bool lives(const json_t *sessions, const char *id) {
  const json_t *session = NULL;
  size_t i = 0;
  json_array_foreach(sessions, i, session) {
    if (strcmp(json_value_text(session, "session"), id) == 0)
      return json_is_true(json_object_get(session, "alive"));
  }
  return false;
}

static bool report_session(struct doctor *doctor, const struct complaints *one) {
  if (one->count > 1)
    doctor_find(doctor, SEVERITY_WARNING, "sessions",
                "Let the agent call its hooks itself, without a wrapper that hides it, or give "
                "'tidings hook' the agent's process with --owner.",
                "%zu hook calls of session %s found no agent that lasts: 'tidings push' and 'run' "
                "do not find the session by its folder, and nothing wakes it",
                one->count, one->session);
  else
    doctor_find(doctor, SEVERITY_NOTE, "sessions", NULL,
                "a hook call of session %s found no agent: it had ended, or is hidden",
                one->session);
  return true;
}

void doctor_log(struct doctor *doctor, const json_t *sessions) {
  struct complaints all[MOST_SESSIONS];
  const char *last[SHOWN_LINES] = {NULL};
  char *path = paths_in_home("XDG_STATE_HOME", ".local/state", "tidings/logs/hook.log"),
       *text = NULL;
  size_t len = 0;
  bool said = false;
  if (!path || file_read_whole(path, LARGEST_LOG, &text, &len)) text = NULL;
  size_t count = text ? count_complaints(text, all, last) : 0;
  for (size_t i = 0; i < count; i++) {
    if (!lives(sessions, all[i].session)) said = report_session(doctor, &all[i]) || said;
    free(all[i].session);
  }
  for (size_t i = 0; said && i < SHOWN_LINES; i++) {
    if (last[i]) doctor_find(doctor, SEVERITY_NOTE, "hook.log", NULL, "%s", last[i]);
  }
  free(text);
  free(path);
}
