/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/undone.h: which deliveries a person has taken back together with the prompts or
 * answers that carried them, as far as the agent's transcript says it. Knows files, and no store.
 */
#ifndef AGENTS_TRANSCRIPT_UNDONE_H
#define AGENTS_TRANSCRIPT_UNDONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agents/hosts/hosts.h"

/* One place in the transcript where a marker ends a text. */
struct hook_mark {
  uint64_t delivery;
  size_t at;         /* in the file */
  size_t begin, end; /* so many rewinds undo from here on, do not undo from here on */
  bool undone;       /* the model does not have it any more */
};

struct hook_marks {
  struct hook_mark *all;
  size_t count, capacity;
  bool any_undone;
};

/* Marks nothing as undone where the transcript does not say it, or cannot be read. Only whole lines
 * count. *ret_marks is to be finished. Returns -1 if there is no memory. */
int hook_undone_read(const char *path, const struct host *host, struct hook_marks *ret_marks);
void hook_marks_finish(struct hook_marks *marks);

/* Is the delivery in a part that is undone, and in no other? Does the model have it? */
bool hook_marks_gone(const struct hook_marks *marks, uint64_t delivery);
bool hook_marks_held(const struct hook_marks *marks, uint64_t delivery);

#endif
