/* SPDX-License-Identifier: MIT
 *
 * rules/policy/coalesce.c: makes lines of the remaining items. Items of the same source, name and
 * level that were pushed within a window, counted from the first of them, may share a line: equal
 * messages do, and so do all changed files; the others stand next to each other. Only pending items
 * are considered; no carrier is ever delayed. Without a window only many changed files are joined.
 */
#include <stdlib.h>

#include "rules/policy/steps.h"

static void start_line(struct work *work, size_t i) {
  const struct item *item = &work->items[i];
  work->lines[work->line_count++] = (struct line){.item = item,
                                                  .message = item->note.message,
                                                  .place = work->places[i],
                                                  .group = work->places[i],
                                                  .newest = rank_of(work, i),
                                                  .time_ms = item_occurred_ms(item),
                                                  .count = 1,
                                                  .level = item->note.level,
                                                  .pinned = item->pinned};
}

static void join_line(struct work *work, struct line *line, size_t *tail, size_t i) {
  const struct item *item = &work->items[i];
  work->next[*tail] = i;
  *tail = i;
  line->count++;
  line->newest = rank_of(work, i);
  line->time_ms = item_occurred_ms(item);
  if (work->places[i] < line->place) line->place = work->places[i];
  line->pinned = line->pinned || item->pinned;
}

/* -- windows ----------------------------------------------------------------------------------- */

static bool is_within(const struct work *work, size_t first, size_t i) {
  int64_t apart, window = work->settings->coalesce_window_ms;
  if (__builtin_sub_overflow(work->items[i].time_ms, work->items[first].time_ms, &apart))
    return false;
  return apart <= window && apart >= -window;
}

/* Source, name and level as one text. Changed files never share a window with an item that only
 * reads like one. Files that changed while a tool ran do not share one with other files, because a
 * list mentions the tool for all of its files or for none. */
static int write_kind(const struct work *work, size_t i, struct tidings_span *ret) {
  const struct notification *note = &work->items[i].note;
  bool is_file = is_file_change(&work->items[i]);
  size_t tool_len = is_file ? note->tool.len : 0;
  size_t len = 3 + note->source.len + note->name.len + (is_file ? 1 + tool_len : 0);
  char *text = arena_alloc(work->arena, len);
  if (!text) return -1;
  char *at = text + 2 + note->source.len;
  text[0] = (char)note->level;
  text[1] = is_file ? 'f' : ' ';
  memcpy(text + 2, note->source.ptr, note->source.len);
  *at++ = '\0';
  if (note->name.len) memcpy(at, note->name.ptr, note->name.len);
  if (is_file) at[note->name.len] = '\0';
  if (tool_len) memcpy(at + note->name.len + 1, note->tool.ptr, tool_len);
  *ret = span_of(text, len);
  return 0;
}

/* Stands at the first item of a kind. */
struct kind {
  size_t first, open; /* the first items of its first and of its newest window */
  size_t windows;
};

static bool opens_window(const struct work *work, const struct kind *kind, size_t i) {
  return kind->open == NO_ITEM || !work->settings->coalesce_window_ms ||
         !is_within(work, kind->open, i);
}

/* Finds the first item of the window of each item that is left. Changed files that would fill more
 * lines than a list has names share a window, however far apart. */
static int find_windows(const struct work *work, size_t *ret_windows) {
  struct tidings_span *names = arena_zalloc(work->arena, work->item_count, sizeof *names);
  size_t *leaders = arena_array(work->arena, work->item_count, sizeof *leaders);
  struct kind *kinds = arena_array(work->arena, work->item_count, sizeof *kinds);
  if (!names || !leaders || !kinds) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    kinds[i] = (struct kind){.first = NO_ITEM, .open = NO_ITEM};
    if (is_left(work, i) && write_kind(work, i, &names[i])) return -1;
  }
  if (policy_group_equal(names, work->item_count, work->arena, leaders)) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    struct kind *kind = &kinds[leaders[i]];
    if (!is_left(work, i)) continue;
    if (opens_window(work, kind, i)) {
      kind->open = i;
      kind->windows++;
    }
    if (kind->first == NO_ITEM) kind->first = i;
    ret_windows[i] = kind->open;
  }
  for (size_t i = 0; i < work->item_count; i++) {
    const struct kind *kind = &kinds[leaders[i]];
    if (is_left(work, i) && is_file_change(&work->items[i]) && kind->windows > FILES_LISTED)
      ret_windows[i] = kind->first;
  }
  return 0;
}

/* -- lines ------------------------------------------------------------------------------------- */

/* Finds the first item of the line of each item that is left. */
static int find_lines(const struct work *work, const size_t *windows, size_t *ret_leaders) {
  struct line_key {
    size_t window, message;
  } *keys = arena_zalloc(work->arena, work->item_count, sizeof *keys);
  struct tidings_span *texts = arena_zalloc(work->arena, work->item_count, sizeof *texts);
  if (!keys || !texts) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    if (is_left(work, i) && !is_file_change(&work->items[i]))
      texts[i] = work->items[i].note.message;
  }
  if (policy_group_equal(texts, work->item_count, work->arena, ret_leaders)) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    if (!is_left(work, i)) continue;
    keys[i] = (struct line_key){windows[i] + 1, texts[i].len ? ret_leaders[i] + 1 : 0};
    texts[i] = span_of((const char *)&keys[i], sizeof keys[i]);
  }
  return policy_group_equal(texts, work->item_count, work->arena, ret_leaders);
}

static int join_lines(struct work *work, const size_t *windows) {
  struct open_line {
    size_t line, tail;
  } *open = arena_array(work->arena, work->item_count, sizeof *open); /* at the leader of a line */
  size_t *leaders = arena_array(work->arena, work->item_count, sizeof *leaders);
  uint64_t *groups = arena_array(work->arena, work->item_count, sizeof *groups); /* of a window */
  if (!open || !leaders || !groups || find_lines(work, windows, leaders)) return -1;
  for (size_t i = 0; i < work->item_count; i++) groups[i] = UINT64_MAX;
  for (size_t i = 0; i < work->item_count; i++) {
    if (!is_left(work, i)) continue;
    struct open_line *here = &open[leaders[i]];
    if (work->places[i] < groups[windows[i]]) groups[windows[i]] = work->places[i];
    if (leaders[i] != i) {
      join_line(work, &work->lines[here->line], &here->tail, i);
      continue;
    }
    *here = (struct open_line){.line = work->line_count, .tail = i};
    start_line(work, i);
  }
  for (size_t l = 0; l < work->line_count; l++) {
    struct line *line = &work->lines[l];
    line->group = groups[windows[first_of(work, line)]];
    if (policy_write_line(work, line)) return -1;
  }
  return 0;
}

static int coalesce_lines(struct work *work) {
  size_t *windows = arena_array(work->arena, work->item_count, sizeof *windows);
  if (!windows || find_windows(work, windows) || policy_trace_files(work, windows, &work->trace))
    return -1;
  work->slots = arena_array(work->arena, work->trace.count, sizeof *work->slots);
  if (!work->slots) return -1;
  for (size_t m = 0; m < work->trace.count; m++) work->slots[m] = NO_ITEM;
  policy_end_undone(work, &work->trace);
  return join_lines(work, windows);
}

/* Might changed files have to be listed, though nothing else is joined? Many reports share a list,
 * and one of several files becomes a list if there is not enough room for it. */
static bool may_list_files(const struct work *work) {
  size_t count = 0;
  for (size_t i = 0; i < work->item_count; i++) {
    if (!is_left(work, i) || !is_file_change(&work->items[i])) continue;
    if (work->items[i].shortened || names_several_files(&work->items[i]) || ++count > FILES_LISTED)
      return true;
  }
  return false;
}

int policy_coalesce(struct work *work) {
  work->lines = arena_array(work->arena, work->item_count, sizeof *work->lines);
  work->next = arena_array(work->arena, work->item_count, sizeof *work->next);
  if (!work->lines || !work->next) return -1;
  for (size_t i = 0; i < work->item_count; i++) work->next[i] = NO_ITEM;
  if (work->settings->coalesce_window_ms || may_list_files(work)) return coalesce_lines(work);
  for (size_t i = 0; i < work->item_count; i++) {
    if (is_left(work, i)) start_line(work, i);
  }
  return 0;
}
