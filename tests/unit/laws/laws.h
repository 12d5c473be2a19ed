/* SPDX-License-Identifier: MIT
 *
 * tests/unit/laws/laws.h: a round: the notifications of a random session, the policy's plan of
 * them, the rendered text, and what a reader finds in it. Each round has its own seed, so that one
 * that fails can be played alone: TIDINGS_LAWS_ROUND.
 */
#ifndef TESTS_UNIT_LAWS_H
#define TESTS_UNIT_LAWS_H

#include "items.h"
#include "reading/reading.h"
#include "render/render.h"
#include "values/event.h"

enum { MOST_TEXTS = 24, MOST_PATHS = 32, MOST_STEERED = 3, LEAST_SHOWN = 200 };

struct round {
  long number;
  struct arena arena;
  struct items items;
  int64_t now_ms;
  bool clock_jumps; /* else times are in the order of commit */
  /* The words of each message and path are its own: wQ07b, wQ07m and wQ07e, or wP07-. */
  struct tidings_span texts[MOST_TEXTS], paths[MOST_PATHS], steered[MOST_STEERED];
  bool clean[MOST_TEXTS];     /* nothing in it needs escaping */
  size_t text_of[MOST_ITEMS]; /* the index of an item's text; MOST_TEXTS: it has paths */
  size_t steered_count;

  const char *format; /* as in the configuration */
  struct settings settings;
  struct render_input input;
  size_t aims_at; /* the room is just enough for so many lines, or a byte less; 0: it is another
                     number */
  uint64_t room;  /* bytes of all parts; 0: no bound */
  uint64_t taken; /* how many of these the user's messages take */
  struct plan plan, roomy; /* roomy: what would be shown without any cap */
  struct reading reading;
  struct tidings_span bytes; /* all parts; for people */

  /* The outcome of the items. */
  const struct disposition *dispositions[MOST_ITEMS]; /* NULL: it is pending */
  size_t lines[MOST_ITEMS];    /* the line of the reading in which it is; or NO_LINE */
  uint64_t places[MOST_ITEMS]; /* the n of the oldest item it stands for */
};
#define NO_LINE SIZE_MAX

/* Fails the test and shows the round. */
#define LAW(round, holds, law, about)                                                              \
  cr_assert(holds, "round %ld, %s: %s, %zu:\n%.*s", (round)->number, (round)->format, law,         \
            (size_t)(about), SPAN_FORMAT((round)->bytes))

/* make.c: a round with its items, settings and steered messages. */
void laws_make(struct round *round, long number);
/* show.c: plans, renders, and reads what was rendered. */
void laws_show(struct round *round);

/* The kind of an item. */
static inline const struct notification *note_of(const struct round *round, size_t i) {
  return &round->items.items[i].note;
}
static inline bool ended_as(const struct round *round, size_t i, enum outcome outcome) {
  return round->dispositions[i] && round->dispositions[i]->outcome == outcome;
}
static inline bool is_critical(const struct round *round, size_t i) {
  return note_of(round, i)->level == TIDINGS_LEVEL_CRITICAL;
}
static inline bool is_file(const struct round *round, size_t i) {
  return note_of(round, i)->made_by == MADE_BY_FILE_CHANGED;
}
/* Does the item wait for room? A report of the model's own edit waits for watchers instead. */
static inline bool is_pending(const struct round *round, size_t i) {
  return !round->dispositions[i] &&
         !(is_file(round, i) && note_of(round, i)->caused_by.len && !is_critical(round, i));
}

/* Returns how many bytes of an item's message are shown at least. */
size_t law_least_of(const struct round *round, size_t i);

/* law_shown.c, law_files.c, law_order.c, law_time.c: the laws. */
void law_delivered_is_shown(const struct round *round);
void law_nothing_invented(const struct round *round);
void law_list_of_files(const struct round *round, size_t line);
void law_critical_first(const struct round *round);
void law_newest_state(const struct round *round);
void law_one_unit(const struct round *round);
void law_order_of_commit(const struct round *round);
void law_age(struct round *round); /* takes the ages off the texts: the others follow */
void law_room(const struct round *round);

#endif
