/* SPDX-License-Identifier: MIT
 *
 * rules/producers/calls.h: which tool ran when, so that a file change that a tool made is not taken
 * for another program's. Pure: times are arguments.
 */
#ifndef RULES_PRODUCERS_CALLS_H
#define RULES_PRODUCERS_CALLS_H

#include "values/event.h"
#include "values/memory.h"

/* Notes which calls the event starts or ends, or that it ends all of them. Text
 * is the event's. Returns whether anything has changed. */
bool calls_take(struct memory *memory, const struct event *event, int64_t now_ms);
/* The same, but only for ends: an event that starts a call changes nothing. */
bool calls_end(struct memory *memory, const struct event *event, int64_t now_ms);
/* Takes over what `shared` says: calls that run, and the ends of those that `memory` has. Text is
 * shared's. Returns whether anything has changed. */
bool calls_update(struct memory *memory, const struct memory *shared);
/* Leaves out those that `shared` has, too, and knows better. */
void calls_leave_out(struct memory *memory, const struct memory *shared);
/* May an event of this type change them? */
bool calls_concerns(const struct event *event);

/* The host has died: its calls that ran, in `memory` and `shared`, are orphaned, and no others are.
 * Text is theirs. Returns whether there are any. */
bool calls_orphan(struct memory *memory, const struct memory *shared);

/* Returns the tool of the call during which the files of this report changed; of several calls, the
 * one that started last; empty: there is none. `alive`: the host is alive, so calls without an end
 * are still running. */
struct tidings_span calls_during(const struct memory *memory, const struct event *event,
                                 int64_t now_ms, bool alive);

#endif
