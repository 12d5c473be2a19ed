/* SPDX-License-Identifier: MIT
 *
 * command/session_near.c: see the header.
 */
#include "command/session_near.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command/json_value.h"

enum { LONGEST = 255, NEVER = LONGEST + 1 }; /* bytes of a session's name */

static unsigned least(unsigned one, unsigned other) { return one < other ? one : other; }

/* How many bytes must be put in, left out, replaced or swapped with their neighbour. */
static unsigned edits(const char *one, const char *other) {
  size_t rows = strlen(one), columns = strlen(other);
  unsigned older[LONGEST + 1] = {0}, above[LONGEST + 1] = {0}, row[LONGEST + 1] = {0};
  if (rows > LONGEST || columns > LONGEST) return NEVER;
  for (size_t at = 0; at <= columns; at++) row[at] = (unsigned)at;
  for (size_t i = 1; i <= rows; i++) {
    memcpy(older, above, sizeof older);
    memcpy(above, row, sizeof above);
    row[0] = (unsigned)i;
    for (size_t at = 1; at <= columns; at++) {
      bool same = one[i - 1] == other[at - 1];
      row[at] = least(above[at - 1] + !same, least(above[at], row[at - 1]) + 1);
      if (i > 1 && at > 1 && one[i - 1] == other[at - 2] && one[i - 2] == other[at - 1])
        row[at] = least(row[at], older[at - 2] + 1);
    }
  }
  return row[columns];
}

/* A name that goes on after what was typed is as near as one with a single slip. */
static unsigned distance(const json_t *session, const char *name) {
  const char *other = json_value_text(session, "session");
  enum { SHORTEST_START = 3 };
  size_t len = strlen(name);
  return len >= SHORTEST_START && strncmp(other, name, len) == 0 ? 1 : edits(name, other);
}

/* So few slips that hardly another name is meant. */
static unsigned most_slips(const char *name) {
  size_t len = strlen(name);
  return len < 3 ? 0 : len < 6 ? 2 : (unsigned)(len / 3);
}

const char *session_near_find(const json_t *sessions, const char *name) {
  unsigned nearest = most_slips(name) + 1;
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
  unsigned far = most_slips(name) + 1; /* beyond it no name is nearer than another */
  for (size_t i = 0; ordered && i < count; i++) {
    json_t *session = json_array_get(sessions, i);
    list[i] = (struct near){session, least(distance(session, name), far), i};
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
