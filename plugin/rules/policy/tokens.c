/* SPDX-License-Identifier: MIT
 *
 * rules/policy/tokens.c: at most max_tokens for all lines together. In the order of fair.c each is
 * shown whole, or as its first line (a list of files: with fewer names); the first one that does
 * not fit waits, and so do all later ones. The very first is always shown, cut as short as allowed,
 * because otherwise it would wait for ever.
 */
#include "rules/policy/steps.h"
#include "values/outline.h"

static uint64_t count(const struct work *work, struct tidings_span text) {
  if (!text.len) return 0;
  if (work->counter && work->counter->count)
    return work->counter->count(work->counter->context, text);
  return (text.len + 3) / 4;
}

/* Counts the line's message, and the parts of its kind that the format shows beside it, which may
 * be long. */
static uint64_t cost(const struct work *work, const struct line *line) {
  const struct notification *note = &line->item->note;
  uint8_t format = work->settings->format;
  return count(work, line->message) +
         (render_shows_source(format, note) ? count(work, note->source) : 0) +
         (render_shows_name(format) ? count(work, note->name) : 0);
}

size_t policy_least_bytes(const struct line *line) {
  return outline_least_bytes(line->item->note.message, line->level == TIDINGS_LEVEL_CRITICAL);
}

/* Lists fewer files until they fit. */
static int shorten_list(const struct work *work, struct line *line, uint64_t left) {
  while (line->listed > 1 && cost(work, line) > left) {
    if (policy_write_files(work, line, line->listed - 1)) return -1;
  }
  return 0;
}

/* A cut that saves nothing is not made. */
static int cut_at(const struct work *work, struct line *line, size_t kept) {
  struct tidings_span cut;
  if (policy_write_cut(work, line, kept, &cut)) return -1;
  if (cut.len >= line->message.len) return 0;
  line->message = cut;
  line->shortened = true;
  return 0;
}

/* Cuts the text to its first line. If it `must` be shown, halves it further until it fits or may
 * not be shorter. */
static int shorten_text(const struct work *work, struct line *line, uint64_t left, bool must) {
  struct tidings_span message = line->item->note.message;
  size_t least = policy_least_bytes(line), kept = outline_first_line(message);
  if (kept < message.len && cut_at(work, line, kept)) return -1;
  while (must && kept > least && cost(work, line) > left) {
    kept = kept / 2 > least ? kept / 2 : least;
    if (cut_at(work, line, kept)) return -1;
  }
  return 0;
}

/* *ret_in: is there room for it? Then *left is less. Returns 0, or -1: no memory. */
static int admit(const struct work *work, struct line *line, bool must, uint64_t *left,
                 bool *ret_in) {
  const char *uncut = line->message.ptr;
  uint64_t whole = cost(work, line);
  if (whole > *left) {
    if (line->files ? shorten_list(work, line, *left) : shorten_text(work, line, *left, must))
      return -1;
    if (line->message.ptr != uncut) whole = cost(work, line);
  }
  *ret_in = must || whole <= *left;
  *left = whole < *left ? *left - whole : 0;
  return 0;
}

int policy_tokens(struct work *work) {
  uint64_t left = work->settings->max_tokens;
  if (!left || !work->line_count) return 0;
  size_t *order = arena_zalloc(work->arena, work->line_count, sizeof *order);
  bool *kept = arena_zalloc(work->arena, work->line_count, sizeof *kept);
  if (!order || !kept || policy_fair_order(work, order)) return -1;
  for (size_t i = 0; i < work->line_count; i++) {
    bool in = false;
    if (admit(work, &work->lines[order[i]], i == 0, &left, &in)) return -1;
    if (!in) break;
    kept[order[i]] = true;
  }
  policy_defer_lines(work, kept);
  return 0;
}
