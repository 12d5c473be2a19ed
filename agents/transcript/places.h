/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/places.h: where in a transcript which record or message is, sorted, so that a
 * transcript with many rewinds is read once and not once for each.
 */
#ifndef AGENTS_TRANSCRIPT_PLACES_H
#define AGENTS_TRANSCRIPT_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

struct hook_place {
  struct tidings_span id;
  uint64_t hash;     /* of the id; hook_places_add makes it */
  size_t at, end;    /* in the text; of a record its line, with the newline */
  bool is_record;    /* no message inside of one */
  size_t first_line; /* where a record of this id begins first, up to here; SIZE_MAX: nowhere */
};

struct hook_places {
  struct hook_place *all; /* once sorted: those of one id beside each other, in their order */
  size_t count, room;
};

/* Returns -1 if there is no memory. */
int hook_places_add(struct hook_places *places, const struct hook_place *place);
/* After the last one is added, and before one is looked for. */
void hook_places_sort(struct hook_places *places);
void hook_places_finish(struct hook_places *places);

/* The last one of this id before `before`; NULL: there is none. */
const struct hook_place *hook_places_last(const struct hook_places *places, struct tidings_span id,
                                          size_t before);
/* The begin of the first record of this id; SIZE_MAX: there is none before `before`. */
size_t hook_places_first_line(const struct hook_places *places, struct tidings_span id,
                              size_t before);

#endif
