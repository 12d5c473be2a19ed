/* SPDX-License-Identifier: MIT
 *
 * rules/producers/edits.h: remembers which files the assistant has edited: if one of them changes
 * later, it has to be read again. Pure.
 */
#ifndef RULES_PRODUCERS_EDITS_H
#define RULES_PRODUCERS_EDITS_H

#include "common/arena.h"
#include "values/event.h"
#include "values/memory.h"

/* Remembers the files of a file.changed that one of the assistant's own calls has caused. If there
 * are more than MEMORY_EDITS, the oldest are forgotten. Text is in the arena. Returns 0, or -1: no
 * memory. */
int edits_take(struct memory *memory, const struct report *report, struct arena *arena);
/* Would edits_take change anything? */
bool edits_are_new(const struct memory *memory, const struct report *report);
/* Sets `edited` of every other file.changed. Returns 0, or -1: no memory. */
int edits_mark(const struct memory *memory, struct report *report, struct arena *arena);

#endif
