/* SPDX-License-Identifier: MIT
 */
#include "command/near.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LONGEST_WORD = 255, NEVER = LONGEST_WORD + 1 }; /* bytes of a name */

static unsigned least(unsigned one, unsigned other) { return one < other ? one : other; }

/* Counts the bytes that must be inserted, removed, replaced or swapped with their neighbour. */
static unsigned edits(const char *one, const char *other) {
  size_t rows = strlen(one), columns = strlen(other);
  unsigned older[LONGEST_WORD + 1] = {0}, above[LONGEST_WORD + 1] = {0},
                                row[LONGEST_WORD + 1] = {0};
  if (rows > LONGEST_WORD || columns > LONGEST_WORD) return NEVER;
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

unsigned near_distance(const char *typed, const char *name) {
  enum { SHORTEST_START = 3 };
  size_t len = strlen(typed);
  return len >= SHORTEST_START && strncmp(name, typed, len) == 0 ? 1 : edits(typed, name);
}

unsigned near_most(const char *typed) {
  size_t len = strlen(typed);
  return len < 3 ? 0 : len < 6 ? 2 : (unsigned)(len / 3);
}

const char *near_find(const char *typed, const char *const *names, size_t count) {
  unsigned nearest = near_most(typed) + 1;
  const char *found = NULL;
  for (size_t i = 0; i < count; i++) {
    unsigned away = near_distance(typed, names[i]);
    if (away >= nearest) continue;
    nearest = away;
    found = names[i];
  }
  return found;
}
