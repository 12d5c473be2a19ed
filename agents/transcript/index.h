/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/index.h: a sorted index of the records and messages in a transcript, so that a
 * transcript with many rewinds is read only once.
 */
#ifndef AGENTS_TRANSCRIPT_INDEX_H
#define AGENTS_TRANSCRIPT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

struct hook_index_entry {
  struct tidings_span id;
  uint64_t hash;  /* the hash of the id; hook_index_add sets it */
  size_t at, end; /* its place in the text; that of a record is its line, with the newline */
  bool is_record; /* false: it is a message inside of a record */
  size_t
      first_line; /* the start of the first record of this id up to here; SIZE_MAX: there is none */
};

struct hook_index {
  struct hook_index_entry
      *all; /* after sorting, the entries of one id are neighbours, in the order of the text */
  size_t count, room;
};

/* Returns -1 if there is no memory. */
int hook_index_add(struct hook_index *index, const struct hook_index_entry *entry);
/* Call it after the last entry is added, and before one is looked for. */
void hook_index_sort(struct hook_index *index);
void hook_index_finish(struct hook_index *index);

/* Returns the last entry of this id before `before`; NULL: there is none. */
const struct hook_index_entry *hook_index_last(const struct hook_index *index,
                                               struct tidings_span id, size_t before);
/* Returns the start of the first record of this id; SIZE_MAX: there is none before `before`. */
size_t hook_index_first_line(const struct hook_index *index, struct tidings_span id, size_t before);

#endif
