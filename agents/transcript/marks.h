/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/marks.h: where in a transcript deliveries are, and which of these places a
 * person has taken back.
 */
#ifndef AGENTS_TRANSCRIPT_MARKS_H
#define AGENTS_TRANSCRIPT_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in the transcript where a marker ends a text. */
struct hook_mark {
  uint64_t delivery;
  size_t at;         /* in the file */
  size_t begin, end; /* so many rewinds undo from here on, do not undo from here on */
  bool undone;       /* the model does not have it any more */
};

struct hook_marks {
  struct hook_mark *all; /* in the order of the file; once counted, by delivery */
  size_t count, room;
  bool any_undone;
};

/* Returns -1 if there is no memory. */
int hook_marks_add(struct hook_marks *marks, uint64_t delivery, size_t at, bool undone);
/* A rewind undoes those at `from` and later, and before `to`. It may undo all that is before it,
 * and there may be as many rewinds as lines: so only where it begins and ends is noted. */
void hook_marks_undo(struct hook_marks *marks, size_t from, size_t to);
/* After the last one, and before a delivery is asked for. */
void hook_marks_count(struct hook_marks *marks);
void hook_marks_finish(struct hook_marks *marks);

/* Is the delivery in a part that is undone, and in no other? Does the model have it? */
bool hook_marks_gone(const struct hook_marks *marks, uint64_t delivery);
bool hook_marks_held(const struct hook_marks *marks, uint64_t delivery);

#endif
