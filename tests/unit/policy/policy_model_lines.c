/* SPDX-License-Identifier: MIT
 */
#include "policy_model_lines.h"

#include <stdlib.h>

static bool is_left_over(const struct model *model, size_t i) {
  return model->dispositions[i].outcome == OUTCOME_NONE;
}

/* -- coalesce ---------------------------------------------------------------------------------- */

static bool same_kind(const struct item *a, const struct item *b) {
  return span_equal(a->note.source, b->note.source) && span_equal(a->note.name, b->note.name) &&
         a->note.level == b->note.level && model_is_file(a) == model_is_file(b) &&
         (!model_is_file(a) || span_equal(a->note.tool, b->note.tool));
}

static void find_windows(const struct model *model, const struct items *items,
                         const struct settings *settings, size_t *ret_windows) {
  for (size_t i = 0; i < items->count; i++) {
    ret_windows[i] = i;
    for (size_t j = i; is_left_over(model, i) && j-- > 0;) {
      if (!is_left_over(model, j) || !same_kind(&items->items[j], &items->items[i])) continue;
      int64_t opened = items->items[ret_windows[j]].time_ms;
      if (settings->coalesce_window_ms && llabs((long long)(items->items[i].time_ms - opened)) <=
                                              (long long)settings->coalesce_window_ms)
        ret_windows[i] = ret_windows[j];
      break;
    }
  }
}

/* If files of one kind fill more than twenty windows, they share one. Returns true if this
 * happened. */
static bool join_many_files(const struct model *model, const struct items *items, size_t *windows) {
  bool any = false;
  for (size_t i = 0; i < items->count; i++) {
    size_t count = 0, first = SIZE_MAX;
    if (!is_left_over(model, i) || !model_is_file(&items->items[i])) continue;
    for (size_t j = 0; j < items->count; j++) {
      if (!is_left_over(model, j) || !same_kind(&items->items[j], &items->items[i])) continue;
      if (first == SIZE_MAX) first = j;
      count += windows[j] == j;
    }
    if (first != i || count <= 20) continue;
    any = true;
    for (size_t j = i; j < items->count; j++)
      if (is_left_over(model, j) && same_kind(&items->items[j], &items->items[i])) windows[j] = i;
  }
  return any;
}

struct tidings_span model_cut(struct model *model, const struct items *items,
                              const struct model_line *line, size_t kept) {
  struct tidings_span message = items->items[line->items[0]].note.message, copy;
  struct buffer out = BUFFER_EMPTY;
  while (kept && kept < message.len && (message.ptr[kept] & 0xC0) == 0x80) kept--;
  if (kept < message.len) {
    buffer_append(&out, message.ptr, kept);
    buffer_format(&out, "… (%zu more bytes)", message.len - kept);
  } else {
    buffer_span(&out, message);
  }
  if (line->count > 1) buffer_format(&out, " (%zu times)", line->count);
  cr_assert_eq(arena_copy(model->arena, buffer_view(&out), &copy), 0);
  buffer_free(&out);
  return copy;
}

/* A report of several files is shortened as a list. */
static void model_list_if_cut(const struct model *model, const struct items *items,
                              struct model_line *line) {
  const struct item *first = &items->items[line->items[0]];
  if (!model_is_file(first) || first->facts.path_count < 2) return;
  model_list(model, items, line);
  line->listed = line->file_count;
}

static void model_words(struct model *model, const struct items *items,
                        const struct settings *settings, struct model_line *line) {
  const struct item *first = &items->items[line->items[0]];
  bool same = true;
  for (size_t i = 0; i < line->count; i++)
    same = same && !model->shortened[line->items[i]] &&
           span_equal(items->items[line->items[i]].note.message, first->note.message);
  line->message = first->note.message;
  if (same && !(model_is_file(first) && model_is_undone(model, items, line))) {
    if (line->count > 1) line->message = model_cut(model, items, line, SIZE_MAX);
    model_list_if_cut(model, items, line);
    return;
  }
  model_list(model, items, line);
  size_t listed = line->file_count <= 20 ? line->file_count : 10;
  do {
    model_write_list(model, line, listed--);
  } while (listed && line->message.len > settings->message_bytes);
}

static void join(const struct model *model, const struct items *items, struct model_line *line,
                 size_t i) {
  if (model->places[i] < line->place) line->place = model->places[i];
  line->level = items->items[i].note.level;
  if (items->items[i].pinned) line->pinned = true;
  line->newest = items->items[i].n;
  line->time_ms =
      items->items[i].note.occurred_ms ? items->items[i].note.occurred_ms : items->items[i].time_ms;
  line->items[line->count++] = i;
}

static bool shares_line(const struct items *items, size_t i, size_t j) {
  const struct item *a = &items->items[i], *b = &items->items[j];
  return model_is_file(a) || span_equal(a->note.message, b->note.message);
}

static void model_coalesce(struct model *model, const struct items *items,
                           const struct settings *settings) {
  bool used[MOST_ITEMS] = {false}, on = settings->coalesce_window_ms > 0;
  size_t windows[MOST_ITEMS];
  find_windows(model, items, settings, windows);
  on = join_many_files(model, items, windows) || on;
  for (size_t i = 0; i < items->count; i++) on = on || model->shortened[i];
  if (on) model_undo(model, items, windows);
  for (size_t i = 0; i < items->count; i++) {
    if (!is_left_over(model, i) || used[i]) continue;
    struct model_line *line = &model->lines[model->shown++];
    *line = (struct model_line){.place = UINT64_MAX, .group = model->places[i]};
    join(model, items, line, i);
    for (size_t j = 0; on && j < items->count; j++) {
      if (!is_left_over(model, j) || windows[j] != windows[i]) continue;
      if (model->places[j] < line->group) line->group = model->places[j];
      if (j <= i || !shares_line(items, i, j)) continue;
      join(model, items, line, j);
      used[j] = true;
    }
    if (on) model_words(model, items, settings, line);
    else line->message = items->items[i].note.message;
    if (!on) model_list_if_cut(model, items, line);
  }
}

/* -- rank -------------------------------------------------------------------------------------- */

static bool goes_before(const struct settings *settings, const struct model_line *a,
                        const struct model_line *b) {
  if (settings->order == ORDER_LEVEL && a->level != b->level) return a->level > b->level;
  if (settings->order == ORDER_NEWEST) {
    const struct model_line *other = a;
    a = b;
    b = other;
  }
  return a->group != b->group ? a->group < b->group : a->place < b->place;
}

static void model_rank(struct model *model, const struct settings *settings) {
  for (size_t i = 1; i < model->shown; i++) {
    for (size_t at = i; at && goes_before(settings, &model->lines[at], &model->lines[at - 1]);
         at--) {
      struct model_line line = model->lines[at];
      model->lines[at] = model->lines[at - 1];
      model->lines[at - 1] = line;
    }
  }
}

/* -- cap --------------------------------------------------------------------------------------- */

static bool is_critical_line(const struct model_line *line) {
  return line->level == TIDINGS_LEVEL_CRITICAL;
}

static struct tidings_span source_of(const struct items *items, const struct model_line *line) {
  return items->items[line->items[0]].note.source;
}

/* Returns how many lines of the same source and level have their turn before line `at`. */
static size_t turn_of(const struct model *model, const struct items *items, size_t at) {
  size_t turn = 0;
  const struct model_line *line = &model->lines[at];
  for (size_t other = 0; other < at; other++) {
    const struct model_line *rival = &model->lines[other];
    turn +=
        line->level == rival->level && span_equal(source_of(items, line), source_of(items, rival));
  }
  return turn;
}

bool model_has_turn_before(const struct model *model, const struct items *items, size_t a,
                           size_t b) {
  const struct model_line *one = &model->lines[a], *other = &model->lines[b];
  if (is_critical_line(one) != is_critical_line(other)) return is_critical_line(one);
  if (one->pinned != other->pinned) return one->pinned;
  if (one->level != other->level) return one->level > other->level;
  size_t turn_a = turn_of(model, items, a), turn_b = turn_of(model, items, b);
  return turn_a != turn_b ? turn_a < turn_b : a < b;
}

/* Should line b be left out rather than line a? */
static bool outranks(const struct model *model, const struct items *items, uint8_t overflow,
                     size_t a, size_t b) {
  const struct model_line *one = &model->lines[a], *other = &model->lines[b];
  if (overflow == OVERFLOW_DEFER) return model_has_turn_before(model, items, a, b);
  if (is_critical_line(one) != is_critical_line(other)) return is_critical_line(one);
  if (one->pinned != other->pinned) return one->pinned;
  if (is_critical_line(one) && is_critical_line(other)) return one->newest < other->newest;
  if (overflow == OVERFLOW_DROP_LOWEST && one->level != other->level)
    return one->level > other->level;
  return one->newest > other->newest;
}

static void drop(struct model *model, const struct model_line *line, uint8_t overflow) {
  for (size_t i = 0; i < line->count; i++) {
    struct disposition *disposition = &model->dispositions[line->items[i]];
    disposition->outcome = OUTCOME_DROPPED;
    disposition->reason = overflow == OVERFLOW_DROP_OLDEST ? REASON_CAP_OLDEST : REASON_CAP_LOWEST;
  }
}

void model_keep_lines(struct model *model, const bool *kept, uint8_t overflow) {
  size_t shown = 0;
  for (size_t a = 0; a < model->shown; a++) {
    if (kept[a]) model->lines[shown++] = model->lines[a];
    else if (overflow == OVERFLOW_DEFER || is_critical_line(&model->lines[a]) ||
             model->lines[a].pinned) {
      model->deferred++;
      model->waiting += model->lines[a].count;
    } else drop(model, &model->lines[a], overflow);
  }
  model->shown = shown;
}

static void model_cap(struct model *model, const struct items *items,
                      const struct settings *settings) {
  bool kept[MOST_ITEMS];
  for (size_t a = 0; a < model->shown; a++) {
    size_t better = 0;
    for (size_t b = 0; b < model->shown; b++)
      better += b != a && outranks(model, items, settings->overflow, b, a);
    kept[a] = !settings->max_items || better < settings->max_items;
  }
  model_keep_lines(model, kept, settings->overflow);
}

/* -- tokens ------------------------------------------------------------------------------------ */

static uint64_t cost(struct tidings_span message) {
  return message.len / 4 + (message.len % 4 ? 1 : 0);
}

static bool is_blank(char byte) { return byte == ' ' || byte == '\n'; }

static size_t first_line_of(struct tidings_span message) {
  size_t len = 0;
  while (len < message.len && is_blank(message.ptr[len])) len++;
  while (len < message.len && message.ptr[len] != '\n') len++;
  return len;
}

size_t model_least(const struct items *items, const struct model_line *line) {
  struct tidings_span message = items->items[line->items[0]].note.message;
  size_t first = first_line_of(message), least = 203;
  if (is_critical_line(line) || first <= 200) return first;
  while ((message.ptr[least] & 0xC0) == 0x80) least--;
  return least;
}

static void shorten(struct model *model, const struct items *items, struct model_line *line,
                    size_t kept) {
  struct tidings_span cut = model_cut(model, items, line, kept);
  if (cut.len >= line->message.len) return;
  line->message = cut;
  line->shortened = true;
}

/* Cuts a line to so much room. False: the line waits. */
static bool squeeze(struct model *model, const struct items *items, struct model_line *line,
                    bool must, uint64_t room) {
  struct tidings_span message = items->items[line->items[0]].note.message;
  size_t first = first_line_of(message), least = model_least(items, line);
  if (cost(line->message) <= room) return true;
  if (line->file_count) {
    for (size_t listed = line->listed; listed > 1 && cost(line->message) > room;)
      model_write_list(model, line, --listed);
    return must || cost(line->message) <= room;
  }
  if (first < message.len) shorten(model, items, line, first);
  for (size_t kept = first; must && kept > least && cost(line->message) > room;) {
    kept = kept / 2 > least ? kept / 2 : least;
    shorten(model, items, line, kept);
  }
  return must || cost(line->message) <= room;
}

static void model_tokens(struct model *model, const struct items *items,
                         const struct settings *settings) {
  bool kept[MOST_ITEMS] = {false}, done[MOST_ITEMS] = {false};
  uint64_t room = settings->max_tokens;
  if (!room) return;
  for (size_t turn = 0; turn < model->shown; turn++) {
    size_t next = MOST_ITEMS;
    for (size_t a = 0; a < model->shown; a++) {
      if (!done[a] && (next == MOST_ITEMS || model_has_turn_before(model, items, a, next)))
        next = a;
    }
    if (next == MOST_ITEMS) break;
    done[next] = true;
    if (!squeeze(model, items, &model->lines[next], turn == 0, room)) break;
    uint64_t used = cost(model->lines[next].message);
    room = used < room ? room - used : 0;
    kept[next] = true;
  }
  model_keep_lines(model, kept, OVERFLOW_DEFER);
}

/* Makes dropped items wait again, because the line in whose favour they were dropped is not
 * shown. */
static void take_back_dropped(struct model *model, size_t lines) {
  model->deferred += lines;
  for (size_t i = 0; i < MOST_ITEMS; i++) {
    if (model->dispositions[i].outcome != OUTCOME_DROPPED) continue;
    model->dispositions[i] = (struct disposition){.n = model->dispositions[i].n};
    model->waiting++;
  }
}

void model_lines(struct model *model, const struct items *items, const struct settings *settings,
                 const struct room *room) {
  model_coalesce(model, items, settings);
  memcpy(model->made, model->lines, sizeof model->made);
  model->made_count = model->shown;
  model_rank(model, settings);
  if (room) model_set_aside(model, items, room);
  size_t lines = model->shown + model->deferred;
  model_cap(model, items, settings);
  size_t dropped = lines - model->shown - model->deferred;
  model_tokens(model, items, settings);
  if (!room) return;
  model_fit(model, items, room);
  if (!model->shown) take_back_dropped(model, dropped);
}
