/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/marks.h: the places of deliveries in a transcript, and which of them a person
 * has taken back.
 */
#ifndef AGENTS_TRANSCRIPT_MARKS_H
#define AGENTS_TRANSCRIPT_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in the transcript where a marker ends a text. */
struct hook_mark {
  uint64_t delivery;
  size_t at;         /* where it is in the file */
  size_t begin, end; /* how many rewinds begin here, and how many end here */
  bool undone;       /* the model no longer has it */
};

struct hook_marks {
  struct hook_mark *all; /* in the order of the file; after hook_marks_count sorted by delivery */
  size_t count, room;
  bool any_undone;
};

/* Returns -1 if there is no memory. */
int hook_marks_add(struct hook_marks *marks, uint64_t delivery, size_t at, bool undone);
/* Notes a rewind, which undoes the marks from `from` on and before `to`. Only its start and end are
 * noted, because each of very many rewinds may undo everything before it. */
void hook_marks_undo(struct hook_marks *marks, size_t from, size_t to);
/* Call it after the last mark and rewind, and before the functions below. */
void hook_marks_count(struct hook_marks *marks);
void hook_marks_finish(struct hook_marks *marks);

/* hook_marks_gone: is the delivery only in undone parts? hook_marks_held: does the model have it?
 */
bool hook_marks_gone(const struct hook_marks *marks, uint64_t delivery);
bool hook_marks_held(const struct hook_marks *marks, uint64_t delivery);

#endif
