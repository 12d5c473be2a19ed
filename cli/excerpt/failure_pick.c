/* SPDX-License-Identifier: MIT
 *
 * excerpt/failure_pick.c: picks as many lines as fit: first the statements of the first failures
 * with their places, then their titles and details.
 */
#include <stdlib.h>

#include "cli/excerpt/failure.h"

struct picking {
  const struct failure_line **lines;
  size_t count;
  uint64_t before;
};

static bool is_wanted(const struct failure_line *line, unsigned roles) {
  return roles >> line->role & 1;
}

/* Picks all lines of these roles, or none if there is no room for all. */
static void pick_of_group(struct picking *picking, const struct failure_group *group,
                          unsigned roles) {
  size_t wanted = 0;
  for (size_t i = 0; i < group->count; i++)
    wanted += is_wanted(&group->lines[i], roles) && group->lines[i].number < picking->before;
  if (picking->count + wanted > FAILURE_LINES) return;
  for (size_t i = 0; i < group->count; i++) {
    if (is_wanted(&group->lines[i], roles) && group->lines[i].number < picking->before)
      picking->lines[picking->count++] = &group->lines[i];
  }
}

static void pick_of_groups(struct picking *picking, const struct failure_group *groups,
                           size_t count, unsigned roles) {
  for (size_t i = 0; i < count; i++) pick_of_group(picking, &groups[i], roles);
}

static void pick_weak(struct picking *picking, const struct failure *failure) {
  enum { MOST_WEAK = 4 };
  size_t count = failure->weak_count < FAILURE_LINES ? (size_t)failure->weak_count : FAILURE_LINES;
  for (size_t i = 0; i < count && picking->count < MOST_WEAK; i++) {
    const struct failure_line *line = &failure->weak[(failure->weak_count - 1 - i) % FAILURE_LINES];
    if (line->number < picking->before) picking->lines[picking->count++] = line;
  }
}

static int by_number(const void *a, const void *b) {
  const struct failure_line *const *one = a, *const *other = b;
  return (*one)->number < (*other)->number ? -1 : (*one)->number > (*other)->number;
}

size_t failure_pick(const struct failure *failure, uint64_t before,
                    const struct failure_line *ret_lines[FAILURE_LINES]) {
  enum {
    STATED = 1u << ROLE_STATEMENT | 1u << ROLE_PLACE,
    TITLES = 1u << ROLE_TITLE,
    DETAILS = 1u << ROLE_DETAIL
  };
  struct picking picking = {.lines = ret_lines, .before = before};
  pick_of_groups(&picking, failure->stated, failure->stated_count, STATED);
  pick_of_groups(&picking, failure->stated, failure->stated_count, TITLES);
  pick_of_groups(&picking, failure->stated, failure->stated_count, DETAILS);
  pick_of_groups(&picking, failure->titled, failure->titled_count, TITLES | STATED);
  if (!failure->stated_count && !failure->titled_count) pick_weak(&picking, failure);
  qsort(ret_lines, picking.count, sizeof *ret_lines, by_number);
  size_t count = 0; /* without repeated lines: two groups may name the same file */
  for (size_t i = 0; i < picking.count; i++) {
    if (!i || ret_lines[i]->number != ret_lines[i - 1]->number) ret_lines[count++] = ret_lines[i];
  }
  return count;
}
