/* SPDX-License-Identifier: MIT
 *
 * guard.h: makes structs that end where a page ends, before a page that cannot be accessed, so that
 * reading or writing past a struct's end crashes.
 */
#ifndef GROWTH_GUARD_H
#define GROWTH_GUARD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define GUARD_FILL 0xA5           /* the bytes after the fields that the reader knows */
#define GUARD_PAGE ((size_t)4096) /* on x86-64, and on arm64 in Debian */

/* Copies `size` bytes to the very end of a page. The size of a struct is a multiple of its
 * alignment, so the copy is aligned. */
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

/* Removes the copy: from then on any access crashes. */
static inline void guard_drop(const void *copy, size_t size) {
  size_t room = (size + GUARD_PAGE - 1) / GUARD_PAGE * GUARD_PAGE;
  char *end = NULL;
  memcpy(&end, &copy, sizeof end);
  if (copy && munmap(end + size - room, room + GUARD_PAGE)) perror("guard_drop");
}

/* Makes a guarded copy of a longer struct, of which the reader knows only the first `known`
 * bytes. */
static inline void *guard_grown(const void *data, size_t known, size_t size) {
  char *copy = guard_copy(data, size);
  memset(copy + known, GUARD_FILL, size - known);
  return copy;
}

/* Are all bytes after the first `known` ones equal to `byte`? */
static inline int guard_tail_is(const void *copy, size_t known, size_t size, unsigned char byte) {
  const unsigned char *bytes = copy;
  for (; known < size; known++) {
    if (bytes[known] != byte) return 0;
  }
  return 1;
}

#endif
