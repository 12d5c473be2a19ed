/* SPDX-License-Identifier: MIT
 *
 * entry/copy_in.h: applies the contract's size rule to structs that come in: it copies a caller's
 * struct into a zeroed struct of today's length. Code below entry/ reads no size.
 */
#ifndef ENTRY_COPY_IN_H
#define ENTRY_COPY_IN_H

#include <string.h>

#include <tidings/abi.h>

/* For structs that are longer or shorter than ours: they come from another minor version, or are
 * wrong. */
int entry_copy_grown(void *ours, size_t our_size, const void *theirs, size_t least,
                     const char *name, struct tidings_error *error);

/* `theirs` starts with its size, which must be at least `least`; NULL is an error. Structs of
 * today's length and of the first version's length are common, so they take only a comparison and a
 * copy of constant length, because a hook has to be fast. */
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
