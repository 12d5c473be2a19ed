/* SPDX-License-Identifier: MIT
 *
 * tests/unit/laws/law_shown.c: the bytes contain everything that is delivered: whole, visibly cut,
 * or in a counted list of files. They contain nothing that is not delivered, and nothing else.
 */
#include <ctype.h>

#include "laws.h"
#include "says.h"

static size_t first_of_line(const struct round *round, size_t line) {
  size_t i = 0;
  while (i < round->items.count && round->lines[i] != line) i++;
  return i;
}

/* -- delivered means shown --------------------------------------------------------------------- */

size_t law_least_of(const struct round *round, size_t i) {
  struct tidings_span message = note_of(round, i)->message;
  size_t len = 0;
  while (len < message.len && memchr(" \t\r\n", message.ptr[len], 4)) len++;
  while (len < message.len && message.ptr[len] != '\n' && message.ptr[len] != '\r') len++;
  return len < LEAST_SHOWN || is_critical(round, i) ? len : LEAST_SHOWN;
}

static bool is_one_text(const struct round *round, size_t line) {
  size_t first = first_of_line(round, line);
  for (size_t i = first; i < round->items.count; i++) {
    if (round->lines[i] == line &&
        !span_equal(note_of(round, i)->message, note_of(round, first)->message))
      return false;
  }
  return true;
}

/* Texts that need no escaping must be shown byte by byte, with indentation and empty lines. */
static void expect_exact(const struct round *round, size_t first, size_t times,
                         struct tidings_span text) {
  struct tidings_span message = note_of(round, first)->message;
  if (round->text_of[first] == MOST_TEXTS || !round->clean[round->text_of[first]] || times > 1)
    return;
  LAW(round, span_equal(text, message), "the text of a message has changed", first);
}

static void expect_line(const struct round *round, size_t line) {
  size_t first = first_of_line(round, line), times = 0, kept = 0;
  enum says says = SAYS_OTHER;
  struct tidings_span text = round->reading.lines[line].text;
  LAW(round, first < round->items.count, "a line of which no item was delivered", line);
  for (size_t i = 0; i < round->items.count; i++) times += round->lines[i] == line;
  if (is_one_text(round, line))
    cr_assert_eq(says_message(text, note_of(round, first)->message, times, &says, &kept), 0);
  if (says == SAYS_OTHER) {
    law_list_of_files(round, line);
    return;
  }
  if (says == SAYS_ALL) expect_exact(round, first, times, text);
  for (size_t i = 0; i < round->items.count; i++) {
    if (round->lines[i] != line) continue;
    bool cut = round->dispositions[i]->reason == REASON_SHORTENED;
    LAW(round, cut || round->dispositions[i]->reason == REASON_SHOWN, "what is shown has a reason",
        i);
    LAW(round, cut == (says == SAYS_CUT), "a message is cut, or only said to be", i);
  }
  LAW(round, says != SAYS_CUT || kept >= law_least_of(round, first),
      "a cut that shows less than a line or 200 bytes", first);
}

/* -- what is not delivered --------------------------------------------------------------------- */

static bool is_word(const char *at) {
  return *at == 'w' && (at[1] == 'Q' || at[1] == 'P') && isdigit((unsigned char)at[2]) &&
         isdigit((unsigned char)at[3]) && memchr(at[1] == 'Q' ? "bme" : "---", at[4], 3);
}

/* Does a delivered item have the word that begins here, such as "wQ07b" or "wP07-"? */
static bool may_stand(const struct round *round, const char *at) {
  at++;
  size_t number = 10 * (size_t)(at[1] - '0') + (size_t)(at[2] - '0');
  for (size_t i = 0; i < round->items.count; i++) {
    if (round->lines[i] == NO_LINE) continue;
    if (*at == 'Q' && round->text_of[i] == number) return true;
    for (size_t p = 0; *at == 'P' && p < round->items.items[i].facts.path_count; p++)
      if (span_equal(round->items.items[i].facts.paths[p], round->paths[number])) return true;
  }
  return false;
}

static void expect_no_other_words(const struct round *round) {
  for (size_t at = 0; at + 5 <= round->bytes.len; at++) {
    const char *word = round->bytes.ptr + at;
    if (is_word(word)) LAW(round, may_stand(round, word), "what is not delivered is not shown", at);
  }
}

void law_delivered_is_shown(const struct round *round) {
  LAW(round, round->reading.line_count == round->plan.line_count, "a line for each in the plan",
      round->plan.line_count);
  for (size_t i = 0; i < round->items.count; i++) {
    if (ended_as(round, i, OUTCOME_DELIVERED))
      LAW(round, round->lines[i] != NO_LINE, "a delivered item without a line", i);
  }
  for (size_t line = 0; line < round->reading.line_count; line++) expect_line(round, line);
  expect_no_other_words(round);
}

/* -- nothing is invented ----------------------------------------------------------------------- */

static bool is_same_bare(struct tidings_span text, struct tidings_span original) {
  struct buffer one = BUFFER_EMPTY, other = BUFFER_EMPTY;
  reading_write_bare(text, &one);
  reading_write_bare(original, &other);
  bool same = span_equal(buffer_view(&one), buffer_view(&other));
  buffer_free(&one);
  buffer_free(&other);
  return same;
}

static void expect_head(const struct round *round, size_t line) {
  const struct reading_line *read = &round->reading.lines[line];
  const struct notification *note = note_of(round, first_of_line(round, line));
  bool has_source = read->source.len > 0, has_name = read->name.len > 0;
  LAW(round, !has_source || is_same_bare(read->source, note->source), "another source", line);
  LAW(round, !has_name || is_same_bare(read->name, note->name), "another name", line);
  LAW(round, note->level >= read->least && note->level <= read->most, "another level", line);
}

/* If changed files would fill more lines than this, they share one line, however far apart their
 * times are. */
enum { MOST_FILE_LINES = 20 };

static bool has_many_files(const struct round *round) {
  size_t count = 0;
  for (size_t i = 0; i < round->items.count; i++) count += is_file(round, i);
  return count > MOST_FILE_LINES;
}

/* Checks that only items of one kind that were pushed within a window share a line. */
static void expect_alike(const struct round *round, size_t line) {
  size_t first = first_of_line(round, line);
  const struct notification *one = note_of(round, first);
  for (size_t i = first + 1; i < round->items.count; i++) {
    const struct notification *other = note_of(round, i);
    int64_t apart = round->items.items[i].time_ms - round->items.items[first].time_ms;
    if (round->lines[i] != line) continue;
    LAW(round,
        span_equal(one->source, other->source) && span_equal(one->name, other->name) &&
            one->level == other->level,
        "unlike notifications share a line", i);
    LAW(round,
        round->clock_jumps || apart <= round->settings.coalesce_window_ms ||
            (is_file(round, first) && has_many_files(round)),
        "a line of what is further apart than the window", i);
    LAW(round,
        (is_file(round, first) && is_file(round, i)) || span_equal(one->message, other->message),
        "different messages share a line", i);
  }
}

void law_nothing_invented(const struct round *round) {
  for (size_t line = 0; line < round->reading.line_count; line++) {
    expect_head(round, line);
    expect_alike(round, line);
  }
  LAW(round, round->reading.steered_count == round->steered_count, "every steered message stands",
      round->steered_count);
  for (size_t s = 0; s < round->steered_count; s++)
    LAW(round, is_same_bare(round->reading.steered[s], round->steered[s]), "a steered message", s);
}
