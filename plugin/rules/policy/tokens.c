/* SPDX-License-Identifier: MIT
 *
 * rules/policy/tokens.c: at most max_tokens for all lines together. In the order of fair.c each is
 * shown whole, or its first line, and the first for which there is no room waits with all behind
 * it. The very first is always shown, cut as short as it must be: else it would wait for ever.
 */
#include "common/utf8.h"
#include "render/missing.h"
#include "rules/policy/steps.h"

enum { LEAST_BYTES = 32 }; /* of the first line's text: what says nothing need not be shown */

static uint64_t cost(const struct work *work, struct tidings_span message) {
  if (work->counter && work->counter->count)
    return work->counter->count(work->counter->context, message);
  return (message.len + 3) / 4;
}

static size_t first_line_bytes(struct tidings_span message) {
  size_t len = 0;
  while (len < message.len && message.ptr[len] != '\n' && message.ptr[len] != '\r') len++;
  return len;
}

/* Halves what is shown of the message until it fits. */
static int cut_to_fit(const struct work *work, struct line *line, uint64_t left) {
  struct tidings_span message = line->message, cut = message;
  size_t kept = first_line_bytes(message);
  if (kept == message.len) kept = message.len / 2;
  do {
    kept = utf8_prefix(message, kept);
    if (render_cut(work->arena, message, kept, &cut)) return -1;
    kept /= 2;
  } while (kept >= LEAST_BYTES && cost(work, cut) > left);
  line->message = cut;
  line->shortened = true;
  return 0;
}

/* 1: it is in, and *left is less; 0: there is no room for it; -1: no memory. */
static int admit(const struct work *work, struct line *line, bool first, uint64_t *left) {
  uint64_t whole = cost(work, line->message);
  size_t line_bytes = first_line_bytes(line->message);
  if (whole <= *left) {
    *left -= whole;
    return 1;
  }
  if (line_bytes && line_bytes < line->message.len) {
    struct tidings_span cut;
    if (render_cut(work->arena, line->message, line_bytes, &cut)) return -1;
    uint64_t shorter = cost(work, cut);
    if (shorter <= *left) {
      line->message = cut;
      line->shortened = true;
      *left -= shorter;
      return 1;
    }
  }
  if (!first) return 0;
  if (line->message.len > 2 * (size_t)LEAST_BYTES && cut_to_fit(work, line, *left)) return -1;
  uint64_t cut = cost(work, line->message);
  *left = cut < *left ? *left - cut : 0;
  return 1;
}

int policy_tokens(struct work *work) {
  uint64_t left = work->settings->max_tokens;
  if (!left || !work->line_count) return 0;
  size_t *order = arena_zalloc(work->arena, work->line_count, sizeof *order);
  bool *kept = arena_zalloc(work->arena, work->line_count, sizeof *kept);
  if (!order || !kept || policy_fair_order(work, order)) return -1;
  for (size_t i = 0; i < work->line_count; i++) {
    int in = admit(work, &work->lines[order[i]], i == 0, &left);
    if (in < 0) return -1;
    if (!in) break;
    kept[order[i]] = true;
  }
  policy_defer_lines(work, kept);
  return 0;
}
