/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/places.h: where in a transcript which message begins, sorted, so that a
 * transcript with many rewinds is read once and not once for each.
 */
#ifndef AGENTS_TRANSCRIPT_PLACES_H
#define AGENTS_TRANSCRIPT_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/span.h"

struct hook_place {
  struct tidings_span id;
  size_t at;         /* in the text */
  size_t first_line; /* where the message begins a line first; SIZE_MAX: nowhere */
};

struct hook_places {
  struct hook_place *all; /* by id, then by place */
  size_t count;
};

/* Every `{"id":"X"` of the text. Returns -1 if there is no memory. */
int hook_places_read(struct tidings_span text, struct hook_places *ret_places);
void hook_places_finish(struct hook_places *places);

/* The id of the message that begins at `at`, or an empty span. */
struct tidings_span hook_place_id(const char *at, const char *end);

/* The last place of this message before `before`, the first one that begins a line. SIZE_MAX: there
 * is none. */
size_t hook_places_last(const struct hook_places *places, struct tidings_span id, size_t before);
size_t hook_places_first_line(const struct hook_places *places, struct tidings_span id,
                              size_t before);

#endif
