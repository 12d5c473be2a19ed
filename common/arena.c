/* SPDX-License-Identifier: MIT
 */
#include "common/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

enum { FIRST_CHUNK = 4096, LARGEST_STEP = 1 << 20, FIRST_ELEMENTS = 32 };

struct arena_chunk {
  struct arena_chunk *older;
  alignas(max_align_t) unsigned char bytes[];
};

static size_t round_up(size_t size) {
  return (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
}

static int grow(struct arena *arena, size_t size) {
  size_t capacity = arena->capacity ? arena->capacity * 2 : FIRST_CHUNK;
  if (capacity > LARGEST_STEP) capacity = LARGEST_STEP;
  if (capacity < size) capacity = size;
  if (capacity > SIZE_MAX - sizeof(struct arena_chunk)) return -1;
  struct arena_chunk *chunk = malloc(sizeof *chunk + capacity);
  if (!chunk) return -1;
  chunk->older = arena->chunks;
  arena->chunks = chunk;
  arena->used = 0;
  arena->capacity = capacity;
  return 0;
}

void *arena_alloc(struct arena *arena, size_t size) {
  if (size > SIZE_MAX / 2) return NULL;
  size = round_up(size ? size : 1);
  if (size > arena->capacity - arena->used && grow(arena, size)) return NULL;
  void *result = arena->chunks->bytes + arena->used;
  arena->used += size;
  return result;
}

void *arena_array(struct arena *arena, size_t count, size_t size) {
  return size && count > SIZE_MAX / size ? NULL : arena_alloc(arena, count * size);
}

void *arena_zalloc(struct arena *arena, size_t count, size_t size) {
  void *result = arena_array(arena, count, size);
  if (result) memset(result, 0, count * size);
  return result;
}

int arena_copy(struct arena *arena, struct tidings_span from, struct tidings_span *ret) {
  char *copy = arena_alloc(arena, from.len + 1);
  if (!copy) return -1;
  if (from.len) memcpy(copy, from.ptr, from.len);
  copy[from.len] = '\0';
  *ret = span_of(copy, from.len);
  return 0;
}

void *arena_enlarge(struct arena *arena, const void *old, size_t *capacity, size_t size) {
  size_t larger = *capacity ? *capacity * 2 : FIRST_ELEMENTS;
  void *result = larger > *capacity ? arena_array(arena, larger, size) : NULL;
  if (!result) return NULL;
  if (*capacity) memcpy(result, old, *capacity * size);
  *capacity = larger;
  return result;
}

void arena_free(struct arena *arena) {
  struct arena_chunk *chunk = arena->chunks;
  while (chunk) {
    struct arena_chunk *older = chunk->older;
    free(chunk);
    chunk = older;
  }
  *arena = (struct arena)ARENA_EMPTY;
}
