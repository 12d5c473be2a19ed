/* SPDX-License-Identifier: MIT
 */
#include "command/session_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/json_value.h"

/* If `folder` is `inside` or above it, returns the length of `folder`; 0: it is not. */
static size_t depth_of(const char *folder, const char *inside) {
  size_t len = strlen(folder);
  while (len > 1 && folder[len - 1] == '/') len--;
  if (!len || folder[0] != '/') return 0;
  if (len == 1) return 1;
  return strncmp(folder, inside, len) == 0 && (inside[len] == '/' || !inside[len]) ? len : 0;
}

/* A host may have named its folder by a symbolic link. */
static size_t real_depth_of(const char *folder, const char *inside) {
  size_t depth = depth_of(folder, inside);
  char *real = depth ? NULL : realpath(folder, NULL);
  if (real) depth = depth_of(real, inside);
  free(real);
  return depth;
}

/* Times are RFC 3339 in UTC, so they can be compared as texts. A missing time counts as the
 * earliest. */
static int compare_use(const json_t *one, const json_t *other) {
  int order = strcmp(json_value_text(one, "used"), json_value_text(other, "used"));
  return order ? order : strcmp(json_value_text(one, "since"), json_value_text(other, "since"));
}

bool session_choice_used_later(const json_t *session, const json_t *other) {
  return compare_use(session, other) > 0;
}

struct session_choice session_choice_by_folder(const json_t *sessions, const char *folder) {
  struct session_choice choice = {.session = NULL};
  const json_t *session = NULL;
  size_t i = 0, deepest = 0;
  json_array_foreach(sessions, i, session) {
    if (!json_is_true(json_object_get(session, "alive"))) continue;
    size_t depth = real_depth_of(json_value_text(session, "cwd"), folder);
    if (!depth) continue;
    choice.fit++;
    if (depth < deepest) continue;
    choice.nearest = depth > deepest ? 1 : choice.nearest + 1;
    if (depth > deepest || compare_use(session, choice.session) > 0) choice.session = session;
    deepest = depth;
  }
  choice.used = choice.session && json_value_text(choice.session, "used")[0];
  return choice;
}

void session_choice_why(const struct session_choice *choice, char *text, size_t size) {
  if (choice->fit == 1)
    snprintf(text, size, "it is the only running session of this folder or one above");
  else if (choice->nearest == 1)
    snprintf(text, size, "of %zu running sessions, its folder is the nearest", choice->fit);
  else
    snprintf(text, size, "of %zu running sessions in the nearest folder, it %s", choice->nearest,
             choice->used ? "was used last" : "was attached last, and none was used yet");
}
