/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/index.h: where in a transcript each record or message is, sorted, so that a
 * transcript with many rewinds is read once and not once for each.
 */
#ifndef AGENTS_TRANSCRIPT_INDEX_H
#define AGENTS_TRANSCRIPT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

struct hook_index_entry {
  struct tidings_span id;
  uint64_t hash;     /* of the id; hook_index_add makes it */
  size_t at, end;    /* in the text; of a record its line, with the newline */
  bool is_record;    /* no message inside of one */
  size_t first_line; /* where a record of this id begins first, up to here; SIZE_MAX: nowhere */
};

struct hook_index {
  struct hook_index_entry *all; /* once sorted: those of one id beside each other, in their order */
  size_t count, room;
};

/* Returns -1 if there is no memory. */
int hook_index_add(struct hook_index *index, const struct hook_index_entry *entry);
/* After the last one is added, and before one is looked for. */
void hook_index_sort(struct hook_index *index);
void hook_index_finish(struct hook_index *index);

/* The last one of this id before `before`; NULL: there is none. */
const struct hook_index_entry *hook_index_last(const struct hook_index *index,
                                               struct tidings_span id, size_t before);
/* The begin of the first record of this id; SIZE_MAX: there is none before `before`. */
size_t hook_index_first_line(const struct hook_index *index, struct tidings_span id, size_t before);

#endif
