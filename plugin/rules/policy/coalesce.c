/* SPDX-License-Identifier: MIT
 *
 * rules/policy/coalesce.c: what is left becomes lines. Items of the same source and name that were
 * pushed within a window, counted from the first of them, share one; it is only about what waits
 * now, and never holds a carrier back.
 */
#include <stdlib.h>

#include "rules/policy/steps.h"

static void start_line(struct work *work, size_t i) {
  const struct item *item = &work->items[i];
  work->lines[work->line_count++] = (struct line){.item = item,
                                                  .message = item->note.message,
                                                  .place = work->places[i],
                                                  .newest = item->n,
                                                  .count = 1,
                                                  .level = item->note.level,
                                                  .pinned = item->pinned};
}

static void join_line(struct work *work, struct line *line, size_t *tail, size_t i) {
  const struct item *item = &work->items[i];
  work->next[*tail] = i;
  *tail = i;
  line->count++;
  line->newest = item->n;
  if (work->places[i] < line->place) line->place = work->places[i];
  if (item->note.level > line->level) line->level = item->note.level;
  line->pinned = line->pinned || item->pinned;
}

static bool is_within(const struct work *work, const struct line *line, size_t i) {
  int64_t apart, window = work->settings->coalesce_window_ms;
  if (__builtin_sub_overflow(work->items[i].time_ms, line->item->time_ms, &apart)) return false;
  return apart <= window && apart >= -window;
}

/* Source and name as one text. */
static int write_kind(const struct work *work, size_t i, struct tidings_span *ret) {
  const struct notification *note = &work->items[i].note;
  char *text = arena_alloc(work->arena, note->source.len + 1 + note->name.len);
  if (!text) return -1;
  memcpy(text, note->source.ptr, note->source.len);
  text[note->source.len] = '\0';
  if (note->name.len) memcpy(text + note->source.len + 1, note->name.ptr, note->name.len);
  *ret = span_of(text, note->source.len + 1 + note->name.len);
  return 0;
}

/* The items that are left, by kind: leaders as in policy_group_equal, in terms of items. */
static int group_kinds(const struct work *work, size_t *ret_leaders) {
  struct tidings_span *kinds = arena_zalloc(work->arena, work->item_count, sizeof *kinds);
  if (!kinds) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    if (is_left(work, i) && write_kind(work, i, &kinds[i])) return -1;
  }
  return policy_group_equal(kinds, work->item_count, work->arena, ret_leaders);
}

static int join_lines(struct work *work) {
  struct open_line {
    size_t line, tail;
    bool open;
  };
  size_t *leaders = arena_array(work->arena, work->item_count, sizeof *leaders);
  struct open_line *open =
      arena_zalloc(work->arena, work->item_count, sizeof *open); /* at the leader of a kind */
  if (!leaders || !open || group_kinds(work, leaders)) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    struct open_line *here = &open[leaders[i]];
    if (!is_left(work, i)) continue;
    if (here->open && is_within(work, &work->lines[here->line], i)) {
      join_line(work, &work->lines[here->line], &here->tail, i);
    } else {
      *here = (struct open_line){.line = work->line_count, .tail = i, .open = true};
      start_line(work, i);
    }
  }
  for (size_t l = 0; l < work->line_count; l++) {
    if (work->lines[l].count > 1 && policy_write_common(work, &work->lines[l])) return -1;
  }
  return 0;
}

int policy_coalesce(struct work *work) {
  work->lines = arena_array(work->arena, work->item_count, sizeof *work->lines);
  work->next = arena_array(work->arena, work->item_count, sizeof *work->next);
  if (!work->lines || !work->next) return -1;
  for (size_t i = 0; i < work->item_count; i++) work->next[i] = NO_ITEM;
  if (work->settings->coalesce_window_ms) return join_lines(work);
  for (size_t i = 0; i < work->item_count; i++) {
    if (is_left(work, i)) start_line(work, i);
  }
  return 0;
}
