/* SPDX-License-Identifier: MIT
 *
 * rules/policy/group.c: finds equal texts. It sorts them, so that texts made to collide in a hash
 * table cost nothing.
 */
#include <stdlib.h>

#include "common/fnv.h"
#include "rules/policy/steps.h"

struct entry {
  uint64_t hash; /* compared first: most texts differ in it */
  struct tidings_span text;
  size_t index;
};

static int compare_entries(const void *left, const void *right) {
  const struct entry *a = left, *b = right;
  if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
  if (a->text.len != b->text.len) return a->text.len < b->text.len ? -1 : 1;
  int order = a->text.len ? memcmp(a->text.ptr, b->text.ptr, a->text.len) : 0;
  if (order) return order;
  return a->index < b->index ? -1 : a->index > b->index;
}

int policy_group_equal(const struct tidings_span *texts, size_t count, struct arena *arena,
                       size_t *ret_leaders) {
  struct entry *entries = arena_array(arena, count, sizeof *entries);
  size_t runs = 0, leader = 0;
  if (!entries) return -1;
  for (size_t i = 0; i < count; i++) { /* neighbours that are equal need no sorting */
    if (i == 0 || !span_equal(texts[i - 1], texts[i]))
      entries[runs++] = (struct entry){fnv_span(FNV_START, texts[i]), texts[i], i};
    ret_leaders[i] = entries[runs - 1].index;
  }
  qsort(entries, runs, sizeof *entries, compare_entries);
  for (size_t r = 0; r < runs; r++) {
    if (r == 0 || !span_equal(entries[r - 1].text, entries[r].text)) leader = entries[r].index;
    ret_leaders[entries[r].index] = leader;
  }
  for (size_t i = 1; i < count; i++) {
    if (span_equal(texts[i - 1], texts[i])) ret_leaders[i] = ret_leaders[i - 1];
  }
  return 0;
}
