/* SPDX-License-Identifier: MIT
 *
 * tests/unit/laws/law_order.c: more important items come first and are not lost; the newest state
 * is shown; waiting items are counted in lines; and inside a level the order of commit stays.
 */
#include "laws.h"

/* -- critical first ---------------------------------------------------------------------------- */

static size_t index_of(const struct round *round, uint64_t n) {
  size_t i = 0;
  while (i < round->items.count && round->items.items[i].n != n) i++;
  return i;
}

static void expect_critical_stays(const struct round *round, size_t i) {
  const struct disposition *disposition = round->dispositions[i];
  if (!is_critical(round, i) || !disposition) return;
  LAW(round, disposition->outcome != OUTCOME_DROPPED, "a critical is dropped", i);
  LAW(round, disposition->outcome != OUTCOME_WITHDRAWN, "a critical is withdrawn", i);
  bool gives_way =
      disposition->outcome == OUTCOME_SUPERSEDED || disposition->outcome == OUTCOME_ANNIHILATED;
  LAW(round, !gives_way || is_critical(round, index_of(round, disposition->ref)),
      "a critical gives way to less", i);
}

static bool is_pinned(const struct round *round, size_t line) {
  for (size_t i = 0; i < round->items.count; i++)
    if (round->lines[i] == line && round->items.items[i].pinned) return true;
  return false;
}

static uint8_t level_of(const struct round *round, size_t line) {
  size_t i = 0;
  while (i < round->items.count && round->lines[i] != line) i++;
  return note_of(round, i)->level;
}

/* The words of any format around one line. */
enum { MOST_FRAME = 800 };

/* Is the item too long for this room, or nearly so? The length is certain only for a text that
 * needs no escaping. */
static bool may_step_aside(const struct round *round, size_t i) {
  bool clean = round->text_of[i] < MOST_TEXTS && round->clean[round->text_of[i]];
  return round->room &&
         (!clean || law_least_of(round, i) + MOST_FRAME > round->room - round->taken);
}

static void expect_no_waiting_for_less(const struct round *round, size_t line) {
  uint8_t level = level_of(round, line);
  if (is_pinned(round, line) && level < TIDINGS_LEVEL_CRITICAL) level = TIDINGS_LEVEL_CRITICAL - 1;
  for (size_t i = 0; i < round->items.count; i++) {
    bool lost =
        ended_as(round, i, OUTCOME_DROPPED) && round->dispositions[i]->reason == REASON_CAP_LOWEST;
    if (is_pending(round, i) && !may_step_aside(round, i))
      LAW(round, note_of(round, i)->level <= level, "it waits for less", i);
    if (lost) LAW(round, note_of(round, i)->level <= level, "it is dropped for less", i);
  }
}

void law_critical_first(const struct round *round) {
  bool by_level = round->settings.order == ORDER_LEVEL;
  for (size_t i = 0; i < round->items.count; i++) expect_critical_stays(round, i);
  for (size_t line = 0; line < round->reading.line_count; line++) {
    if (line && by_level)
      LAW(round, level_of(round, line - 1) >= level_of(round, line), "what is more comes first",
          line);
    expect_no_waiting_for_less(round, line);
  }
}

/* -- the newest state stays valid -------------------------------------------------------------- */

static bool is_same_state(const struct item *a, const struct item *b) {
  if (a->note.made_by != b->note.made_by) return false;
  if (a->note.made_by == MADE_BY_HANDLE_STATE) return span_equal(a->note.handle, b->note.handle);
  if (a->note.made_by == MADE_BY_RATE_LIMITED)
    return span_equal(a->facts.provider, b->facts.provider);
  return a->note.made_by == MADE_BY_MCP_STATE && span_equal(a->facts.server, b->facts.server);
}

void law_newest_state(const struct round *round) {
  for (size_t i = 0; i < round->items.count; i++) {
    bool stands = ended_as(round, i, OUTCOME_DELIVERED) || is_pending(round, i);
    if (!stands) continue;
    for (size_t j = i + 1; j < round->items.count; j++) {
      bool newer = ended_as(round, j, OUTCOME_DELIVERED) || is_pending(round, j);
      if (!newer || !is_same_state(&round->items.items[i], &round->items.items[j])) continue;
      LAW(round, is_critical(round, i) && !is_critical(round, j), "an older state beside a newer",
          i);
    }
  }
}

/* -- one unit ---------------------------------------------------------------------------------- */

/* Does the line wait? It does if one of its items waits; older reports of files may have ended. */
static bool line_waits(const struct round *round, uint64_t first) {
  const struct plan *roomy = &round->roomy;
  for (size_t d = 0; d < roomy->disposition_count; d++) {
    const struct disposition *disposition = &roomy->dispositions[d];
    uint64_t of = disposition->ref ? disposition->ref : disposition->n;
    if (disposition->outcome == OUTCOME_DELIVERED && of == first &&
        !round->dispositions[index_of(round, disposition->n)])
      return true;
  }
  return false;
}

void law_one_unit(const struct round *round) {
  const struct reading *reading = &round->reading;
  size_t waiting = 0;
  for (size_t l = 0; l < round->roomy.line_count; l++)
    waiting += line_waits(round, round->roomy.lines[l].item->n);
  if (!reading->line_count) return;
  LAW(round, reading->waiting == waiting, "as many lines wait as it says", waiting);
  if (round->settings.format != FORMAT_XML_BATCH || !waiting) return;
  LAW(round, reading->showing == reading->line_count, "showing counts lines", reading->showing);
  LAW(round, reading->total == reading->line_count + waiting, "total counts lines", reading->total);
}

/* -- the order of commit ----------------------------------------------------------------------- */

static uint64_t place_of(const struct round *round, size_t line) {
  uint64_t place = UINT64_MAX;
  for (size_t i = 0; i < round->items.count; i++)
    if (round->lines[i] == line && round->places[i] < place) place = round->places[i];
  return place;
}

/* Does the line have a neighbour of the same kind, shown or not, that may be older than `place`? */
static bool has_older_neighbour(const struct round *round, size_t line, uint64_t place) {
  size_t first = 0;
  while (round->lines[first] != line) first++;
  const struct notification *one = note_of(round, first);
  if (!round->settings.coalesce_window_ms) return false;
  for (size_t i = 0; i < round->items.count; i++) {
    const struct notification *other = note_of(round, i);
    bool was_line = is_pending(round, i) || ended_as(round, i, OUTCOME_DELIVERED) ||
                    ended_as(round, i, OUTCOME_DROPPED);
    if (was_line && round->places[i] < place && one->level == other->level &&
        span_equal(one->source, other->source) && span_equal(one->name, other->name))
      return true;
  }
  return false;
}

void law_order_of_commit(const struct round *round) {
  bool newest = round->settings.order == ORDER_NEWEST;
  bool by_level =
      round->settings.order == ORDER_LEVEL || round->settings.format == FORMAT_MARKDOWN ||
      round->settings.format == FORMAT_OPENAI || round->settings.format == FORMAT_ANTHROPIC;
  for (size_t line = 1; line < round->reading.line_count; line++) {
    size_t older = newest ? line : line - 1, newer = newest ? line - 1 : line;
    uint64_t first = place_of(round, older), second = place_of(round, newer);
    if (by_level && level_of(round, older) != level_of(round, newer)) continue;
    LAW(round, first < second || has_older_neighbour(round, older, second),
        "the order of commit inside a level", line);
  }
}
