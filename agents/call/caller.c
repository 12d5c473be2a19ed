/* SPDX-License-Identifier: MIT
 *
 * agents/call/caller.c: decides by names alone which agent calls. It opens no transcript, because
 * at a session's start there is none yet.
 */
#include "agents/call/caller.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/call/field.h"

/* Returns the pattern with the session's id in it, escaped, because an id may have any characters.
 * Free it; NULL: out of memory. */
static char *pattern_of(const char *transcript, const char *session) {
  char *pattern = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&pattern, &len);
  const char *mark = strstr(transcript, "%s");
  if (!out) return NULL;
  fprintf(out, "*/%.*s", mark ? (int)(mark - transcript) : (int)strlen(transcript), transcript);
  for (const char *at = session; mark && *at; at++) fprintf(out, "\\%c", *at);
  if (mark) fputs(mark + 2, out);
  if (fclose(out) == 0) return pattern;
  free(pattern);
  return NULL;
}

static bool is_below(const char *path, const char *folder, const char *rest) {
  size_t folder_len = strlen(folder), rest_len = strcspn(rest, "*%");
  return strncmp(path, folder, folder_len) == 0 && path[folder_len] == '/' &&
         strncmp(path + folder_len + 1, rest, rest_len) == 0;
}

/* Is it a transcript in the agent's own folder, or in a folder with the same layout? The agent may
 * see another HOME than its hooks. */
static bool is_transcript_of(const struct host *host, const char *path, const char *session) {
  const char *transcript = host->caller.transcript;
  if (!transcript || !path[0]) return false;
  char *home = host_home(host), *pattern = pattern_of(transcript, session);
  bool is = (home && is_below(path, home, transcript)) ||
            (pattern && session[0] && fnmatch(pattern, path, 0) == 0);
  free(pattern);
  free(home);
  return is;
}

static bool has_any(const json_t *input, const char *const *names) {
  for (; names && *names; names++) {
    if (json_object_get(input, *names)) return true;
  }
  return false;
}

static bool has_all(const json_t *input, const char *const *names) {
  for (; *names; names++) {
    if (!json_object_get(input, *names)) return false;
  }
  return true;
}

/* Is it the agent? A call with the transcript of another program comes from that program. */
static bool is_caller(const struct host *host, const json_t *input) {
  const struct host_caller *caller = &host->caller;
  const char *path = hook_field_text(host, input, FIELD_TRANSCRIPT);
  if (is_transcript_of(host, path, hook_field_text(host, input, FIELD_SESSION))) return true;
  if (!caller->fields || (caller->transcript && path[0])) return false;
  return has_all(input, caller->fields) && !has_any(input, caller->never);
}

const struct host *hook_caller(const struct host *host, const json_t *input) {
  if (is_caller(host, input)) return host;
  for (size_t i = 0; i < host_count; i++) {
    if (host_borrows(hosts[i], host) && is_caller(hosts[i], input)) return hosts[i];
  }
  return NULL;
}
