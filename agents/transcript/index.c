/* SPDX-License-Identifier: MIT
 */
#include "agents/transcript/index.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/fnv.h"

static int compare_ids(const struct hook_index_entry *one, const struct hook_index_entry *other) {
  struct tidings_span a = one->id, b = other->id;
  if (one->hash != other->hash) return one->hash < other->hash ? -1 : 1;
  if (a.len != b.len) return a.len < b.len ? -1 : 1;
  return a.len ? memcmp(a.ptr, b.ptr, a.len) : 0;
}

static int compare_entries(const void *one, const void *other) {
  const struct hook_index_entry *a = one, *b = other;
  int order = compare_ids(a, b);
  if (order) return order;
  return a->at < b->at ? -1 : a->at > b->at;
}

int hook_index_add(struct hook_index *index, const struct hook_index_entry *entry) {
  if (index->count == index->room) {
    size_t room = index->room ? index->room * 2 : 256;
    struct hook_index_entry *larger = reallocarray(index->all, room, sizeof *larger);
    if (!larger) return -1;
    index->all = larger;
    index->room = room;
  }
  index->all[index->count] = *entry;
  index->all[index->count++].hash = fnv_span(FNV_START, entry->id);
  return 0;
}

void hook_index_sort(struct hook_index *index) {
  if (index->count) qsort(index->all, index->count, sizeof *index->all, compare_entries);
  for (size_t i = 0, next; i < index->count; i = next) {
    size_t first = SIZE_MAX;
    for (next = i; next < index->count && compare_ids(&index->all[i], &index->all[next]) == 0;
         next++) {
      if (first == SIZE_MAX && index->all[next].is_record) first = index->all[next].at;
      index->all[next].first_line = first;
    }
  }
}

void hook_index_finish(struct hook_index *index) {
  free(index->all);
  *index = (struct hook_index){.all = NULL};
}

const struct hook_index_entry *hook_index_last(const struct hook_index *index,
                                               struct tidings_span id, size_t before) {
  const struct hook_index_entry sought = {.id = id, .hash = fnv_span(FNV_START, id), .at = before};
  size_t low = 0, high = index->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_entries(&index->all[middle], &sought) < 0) low = middle + 1;
    else high = middle;
  }
  const struct hook_index_entry *found = low ? &index->all[low - 1] : NULL;
  return found && compare_ids(found, &sought) == 0 ? found : NULL;
}

size_t hook_index_first_line(const struct hook_index *index, struct tidings_span id,
                             size_t before) {
  const struct hook_index_entry *found = hook_index_last(index, id, before);
  return found ? found->first_line : SIZE_MAX;
}
