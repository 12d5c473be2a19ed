/* SPDX-License-Identifier: MIT
 *
 * guard.h: structs that end where a page ends, and the next page cannot be touched: whoever reads
 * or writes past a struct's end crashes. It knows nothing of the contract.
 */
#ifndef GROWTH_GUARD_H
#define GROWTH_GUARD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define GUARD_FILL 0xA5           /* what a struct has after what its reader knows */
#define GUARD_PAGE ((size_t)4096) /* of x86-64 and arm64 as Debian has them */

/* A copy of `size` bytes, at the very end of a page. Their sizes are multiples of their alignment,
 * so that it is aligned. */
static inline void *guard_copy(const void *data, size_t size) {
  size_t room = (size + GUARD_PAGE - 1) / GUARD_PAGE * GUARD_PAGE;
  char *pages =
      mmap(NULL, room + GUARD_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + room, GUARD_PAGE, PROT_NONE)) {
    perror("guard_copy");
    exit(2);
  }
  memset(pages, GUARD_FILL, room);
  return memcpy(pages + room - size, data, size);
}

/* From here on nobody may touch it at all. */
static inline void guard_drop(const void *copy, size_t size) {
  size_t room = (size + GUARD_PAGE - 1) / GUARD_PAGE * GUARD_PAGE;
  char *end = NULL;
  memcpy(&end, &copy, sizeof end);
  if (copy && munmap(end + size - room, room + GUARD_PAGE)) perror("guard_drop");
}

/* A guarded copy of a struct whose writer knows more fields than `known` bytes, all of them in
 * use. */
static inline void *guard_grown(const void *data, size_t known, size_t size) {
  char *copy = guard_copy(data, size);
  memset(copy + known, GUARD_FILL, size - known);
  return copy;
}

/* Whether each byte of a struct after the first `known` ones is `byte`. */
static inline int guard_tail_is(const void *copy, size_t known, size_t size, unsigned char byte) {
  const unsigned char *bytes = copy;
  for (; known < size; known++) {
    if (bytes[known] != byte) return 0;
  }
  return 1;
}

#endif
