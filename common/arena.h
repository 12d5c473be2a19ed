/* SPDX-License-Identifier: MIT
 *
 * common/arena.h: memory that is freed all at once. Each call, and each reply, has one arena. An
 * allocation only moves a pointer. Alignment is that of max_align_t.
 */
#ifndef COMMON_ARENA_H
#define COMMON_ARENA_H

#include <stddef.h>

#include "common/span.h"

struct arena_chunk;
struct arena {
  struct arena_chunk *chunks; /* newest first */
  size_t used, capacity;      /* of the newest chunk */
};

#define ARENA_EMPTY                                                                                \
  { NULL, 0, 0 }

void *arena_alloc(struct arena *arena, size_t size); /* NULL: no memory */
void *arena_array(struct arena *arena, size_t count,
                  size_t size); /* not zeroed; NULL: no memory or overflow */
void *arena_zalloc(struct arena *arena, size_t count, size_t size); /* zeroed array; the same */
int arena_copy(struct arena *arena, struct tidings_span from,
               struct tidings_span *ret); /* 0, or -1: no memory. Adds a NUL after the bytes */
/* Returns an array with room for twice as many elements as the old one, which is full, or for 32 if
 * *capacity is 0, and copies the old elements to it. NULL: no memory; *capacity stays as it was. */
void *arena_enlarge(struct arena *arena, const void *old, size_t *capacity, size_t size);
void arena_free(struct arena *arena); /* and makes it empty */

#endif
