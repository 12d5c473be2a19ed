/* SPDX-License-Identifier: MIT
 *
 * policy/group.c: which texts are equal. By sorting, so that texts made to collide in a hash table cost nothing.
 */
#include <stdlib.h>

#include "policy/steps.h"

struct entry {
  uint64_t hash; /* compared first: most texts differ in it */
  struct tidings_span text;
  size_t index;
};

/* FNV-1a. */
static uint64_t hash_text(struct tidings_span text) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < text.len; i++) hash = (hash ^ (unsigned char)text.ptr[i]) * UINT64_C(1099511628211);
  return hash;
}

static int compare_entries(const void *left, const void *right) {
  const struct entry *a = left, *b = right;
  if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
  if (a->text.len != b->text.len) return a->text.len < b->text.len ? -1 : 1;
  int order = a->text.len ? memcmp(a->text.ptr, b->text.ptr, a->text.len) : 0;
  if (order) return order;
  return a->index < b->index ? -1 : a->index > b->index;
}

int group_equal(const struct tidings_span *texts, size_t count, struct arena *arena, size_t *ret_leaders) {
  struct entry *entries = arena_zalloc(arena, count, sizeof *entries);
  if (!entries) return -1;
  for (size_t i = 0; i < count; i++) entries[i] = (struct entry){hash_text(texts[i]), texts[i], i};
  qsort(entries, count, sizeof *entries, compare_entries);
  size_t leader = 0;
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || !span_equal(entries[i - 1].text, entries[i].text)) leader = entries[i].index;
    ret_leaders[entries[i].index] = leader;
  }
  return 0;
}
