/* SPDX-License-Identifier: MIT
 */
#include "agents/transcript/marks.h"

#include <stdlib.h>

int hook_marks_add(struct hook_marks *marks, uint64_t delivery, size_t at, bool undone) {
  if (marks->count == marks->room) {
    size_t room = marks->room ? marks->room * 2 : 64;
    struct hook_mark *larger = reallocarray(marks->all, room, sizeof *larger);
    if (!larger) return -1;
    marks->all = larger;
    marks->room = room;
  }
  marks->all[marks->count++] = (struct hook_mark){delivery, at, 0, 0, undone};
  marks->any_undone = marks->any_undone || undone;
  return 0;
}

/* Finds the first mark at `at` or after it. */
static size_t first_from(const struct hook_marks *marks, size_t at) {
  size_t low = 0, high = marks->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (marks->all[middle].at < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

void hook_marks_undo(struct hook_marks *marks, size_t from, size_t to) {
  size_t first = first_from(marks, from), after = first_from(marks, to);
  if (first >= after) return;
  marks->all[first].begin++;
  if (after < marks->count) marks->all[after].end++;
}

static int compare_marks(const void *one, const void *other) {
  const struct hook_mark *a = one, *b = other;
  if (a->delivery != b->delivery) return a->delivery < b->delivery ? -1 : 1;
  return (int)a->undone - (int)b->undone;
}

void hook_marks_count(struct hook_marks *marks) {
  size_t rewinds = 0;
  for (size_t i = 0; i < marks->count; i++) {
    struct hook_mark *mark = &marks->all[i];
    rewinds += mark->begin;
    rewinds -= mark->end;
    if (rewinds) mark->undone = marks->any_undone = true;
  }
  if (marks->count) qsort(marks->all, marks->count, sizeof *marks->all, compare_marks);
}

/* Looks for a mark in the sorted list, where a delivery's valid marks precede its undone ones. */
static bool is_marked(const struct hook_marks *marks, uint64_t delivery, bool undone) {
  const struct hook_mark sought = {.delivery = delivery, .undone = undone};
  return marks->count &&
         bsearch(&sought, marks->all, marks->count, sizeof *marks->all, compare_marks);
}

bool hook_marks_held(const struct hook_marks *marks, uint64_t delivery) {
  return is_marked(marks, delivery, false);
}

bool hook_marks_gone(const struct hook_marks *marks, uint64_t delivery) {
  return is_marked(marks, delivery, true) && !hook_marks_held(marks, delivery);
}

void hook_marks_finish(struct hook_marks *marks) {
  free(marks->all);
  *marks = (struct hook_marks){.all = NULL};
}
