/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/places.c: see the header.
 */
#include "agents/transcript/places.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agents/transcript/text.h"

static const char opening[] = "{\"id\":\"";

struct tidings_span hook_place_id(const char *at, const char *end) {
  struct tidings_span words = hook_text_quoted(at, end, opening);
  size_t len = sizeof opening - 1;
  return words.len > len ? span_of(words.ptr + len, words.len - len) : span_of(at, 0);
}

static int compare_ids(struct tidings_span one, struct tidings_span other) {
  if (one.len != other.len) return one.len < other.len ? -1 : 1;
  return memcmp(one.ptr, other.ptr, one.len);
}

static int compare_places(const void *one, const void *other) {
  const struct hook_place *a = one, *b = other;
  int ids = compare_ids(a->id, b->id);
  return ids ? ids : (a->at > b->at) - (a->at < b->at);
}

static int collect(struct tidings_span text, struct hook_places *places) {
  const char *end = text.ptr + text.len;
  const struct tidings_span words = span_of(opening, sizeof opening - 1);
  size_t capacity = 0;
  for (const char *at = text.ptr; (at = hook_text_find(at, end, words)); at++) {
    struct tidings_span id = hook_place_id(at, end);
    if (!id.len) continue;
    if (places->count == capacity) {
      capacity = capacity ? capacity * 2 : 256;
      struct hook_place *larger = reallocarray(places->all, capacity, sizeof *larger);
      if (!larger) return -1;
      places->all = larger;
    }
    bool begins_line = at == text.ptr || at[-1] == '\n';
    size_t offset = (size_t)(at - text.ptr);
    places->all[places->count++] = (struct hook_place){id, offset, begins_line ? offset : SIZE_MAX};
  }
  return 0;
}

/* Of one id all have the first of its lines. */
static void share_first_lines(struct hook_places *places) {
  for (size_t i = 0, next; i < places->count; i = next) {
    size_t first = SIZE_MAX;
    for (next = i;
         next < places->count && compare_ids(places->all[i].id, places->all[next].id) == 0;
         next++) {
      if (places->all[next].first_line < first) first = places->all[next].first_line;
    }
    for (size_t k = i; k < next; k++) places->all[k].first_line = first;
  }
}

int hook_places_read(struct tidings_span text, struct hook_places *ret_places) {
  struct hook_places places = {.all = NULL};
  if (collect(text, &places)) {
    hook_places_finish(&places);
    return -1;
  }
  if (places.count) qsort(places.all, places.count, sizeof *places.all, compare_places);
  share_first_lines(&places);
  *ret_places = places;
  return 0;
}

void hook_places_finish(struct hook_places *places) {
  free(places->all);
  *places = (struct hook_places){.all = NULL};
}

/* The last of this id before `before`; NULL: there is none. */
static const struct hook_place *find(const struct hook_places *places, struct tidings_span id,
                                     size_t before) {
  const struct hook_place sought = {.id = id, .at = before};
  size_t low = 0, high = places->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_places(&places->all[middle], &sought) < 0) low = middle + 1;
    else high = middle;
  }
  const struct hook_place *found = low ? &places->all[low - 1] : NULL;
  return found && compare_ids(found->id, id) == 0 ? found : NULL;
}

size_t hook_places_last(const struct hook_places *places, struct tidings_span id, size_t before) {
  const struct hook_place *found = find(places, id, before);
  return found ? found->at : SIZE_MAX;
}

size_t hook_places_first_line(const struct hook_places *places, struct tidings_span id,
                              size_t before) {
  const struct hook_place *found = find(places, id, before);
  return found && found->first_line < before ? found->first_line : SIZE_MAX;
}
