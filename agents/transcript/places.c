/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/places.c: see the header.
 */
#include "agents/transcript/places.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/fnv.h"

static int compare_ids(const struct hook_place *one, const struct hook_place *other) {
  struct tidings_span a = one->id, b = other->id;
  if (one->hash != other->hash) return one->hash < other->hash ? -1 : 1;
  if (a.len != b.len) return a.len < b.len ? -1 : 1;
  return a.len ? memcmp(a.ptr, b.ptr, a.len) : 0;
}

static int compare_places(const void *one, const void *other) {
  const struct hook_place *a = one, *b = other;
  int order = compare_ids(a, b);
  if (order) return order;
  return a->at < b->at ? -1 : a->at > b->at;
}

int hook_places_add(struct hook_places *places, const struct hook_place *place) {
  if (places->count == places->room) {
    size_t room = places->room ? places->room * 2 : 256;
    struct hook_place *larger = reallocarray(places->all, room, sizeof *larger);
    if (!larger) return -1;
    places->all = larger;
    places->room = room;
  }
  places->all[places->count] = *place;
  places->all[places->count++].hash = fnv_span(FNV_START, place->id);
  return 0;
}

void hook_places_sort(struct hook_places *places) {
  if (places->count) qsort(places->all, places->count, sizeof *places->all, compare_places);
  for (size_t i = 0, next; i < places->count; i = next) {
    size_t first = SIZE_MAX;
    for (next = i; next < places->count && compare_ids(&places->all[i], &places->all[next]) == 0;
         next++) {
      if (first == SIZE_MAX && places->all[next].is_record) first = places->all[next].at;
      places->all[next].first_line = first;
    }
  }
}

void hook_places_finish(struct hook_places *places) {
  free(places->all);
  *places = (struct hook_places){.all = NULL};
}

const struct hook_place *hook_places_last(const struct hook_places *places, struct tidings_span id,
                                          size_t before) {
  const struct hook_place sought = {.id = id, .hash = fnv_span(FNV_START, id), .at = before};
  size_t low = 0, high = places->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_places(&places->all[middle], &sought) < 0) low = middle + 1;
    else high = middle;
  }
  const struct hook_place *found = low ? &places->all[low - 1] : NULL;
  return found && compare_ids(found, &sought) == 0 ? found : NULL;
}

size_t hook_places_first_line(const struct hook_places *places, struct tidings_span id,
                              size_t before) {
  const struct hook_place *found = hook_places_last(places, id, before);
  return found ? found->first_line : SIZE_MAX;
}
