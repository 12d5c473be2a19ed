/* SPDX-License-Identifier: MIT
 *
 * entry/copy_in.h: the size rule of the contract for structs that come in: it copies a caller's
 * struct into a zeroed one of today's length. Nothing below entry/ looks at a size again.
 */
#ifndef ENTRY_COPY_IN_H
#define ENTRY_COPY_IN_H

#include <string.h>

#include <tidings/abi.h>

/* For structs that are not exactly as long as ours: from another minor version, or wrong. */
int entry_copy_grown(void *ours, size_t our_size, const void *theirs, size_t least,
                     const char *name, struct tidings_error *error);

/* `theirs` starts with its size, which must be at least `least`; NULL is an error. The common
 * cases, structs of today's length and of the first version's, are a comparison and copies of
 * constant length, because hooks are measured in nanoseconds. */
static inline int entry_copy_in(void *ours, size_t our_size, const void *theirs, size_t least,
                                const char *name, struct tidings_error *error) {
  uint32_t size = 0;
  if (theirs) memcpy(&size, theirs, sizeof size);
  if (size == our_size) {
    memcpy(ours, theirs, our_size);
    return 0;
  }
  if (size != least) return entry_copy_grown(ours, our_size, theirs, least, name, error);
  memcpy(ours, theirs, least);
  memset((char *)ours + least, 0, our_size - least);
  return 0;
}

/* `least` is the struct's length in the version that introduced it: TIDINGS_..._SIZE_1_0. `name` is
 * what errors call it. */
#define COPY_IN(ours, theirs, least, name, error)                                                  \
  entry_copy_in((ours), sizeof *(ours), (theirs), (least), (name), (error))

#endif
