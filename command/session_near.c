/* SPDX-License-Identifier: MIT
 */
#include "command/session_near.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command/json_value.h"
#include "command/near.h"

static unsigned distance(const json_t *session, const char *name) {
  return near_distance(name, json_value_text(session, "session"));
}

const char *session_near_find(const json_t *sessions, const char *name) {
  unsigned nearest = near_most(name) + 1;
  const json_t *session = NULL;
  const char *found = NULL;
  size_t i = 0;
  json_array_foreach(sessions, i, session) {
    unsigned away = distance(session, name);
    if (away >= nearest) continue;
    nearest = away;
    found = json_value_text(session, "session");
  }
  return found;
}

struct near {
  json_t *session;
  unsigned away;
  size_t place;
};

static int compare(const void *one, const void *other) {
  const struct near *a = one, *b = other;
  if (a->away != b->away) return a->away < b->away ? -1 : 1;
  return a->place < b->place ? -1 : a->place > b->place;
}

json_t *session_near_order(const json_t *sessions, const char *name) {
  size_t count = json_array_size(sessions);
  struct near *list = calloc(count ? count : 1, sizeof *list);
  json_t *ordered = list ? json_array() : NULL;
  unsigned far = near_most(name) + 1; /* beyond it no name is nearer than another */
  for (size_t i = 0; ordered && i < count; i++) {
    json_t *session = json_array_get(sessions, i);
    unsigned away = distance(session, name);
    list[i] = (struct near){session, away < far ? away : far, i};
  }
  if (ordered) qsort(list, count, sizeof *list, compare);
  for (size_t i = 0; ordered && i < count; i++) {
    if (!json_array_append(ordered, list[i].session)) continue;
    json_decref(ordered);
    ordered = NULL;
  }
  free(list);
  return ordered;
}
