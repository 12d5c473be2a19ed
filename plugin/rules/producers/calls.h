/* SPDX-License-Identifier: MIT
 *
 * rules/producers/calls.h: remembers which tool ran when, so that a file change made by a tool is
 * not taken for a change by another program. Pure: times are arguments.
 */
#ifndef RULES_PRODUCERS_CALLS_H
#define RULES_PRODUCERS_CALLS_H

#include "values/event.h"
#include "values/memory.h"

/* Notes which calls the event starts or ends, or that it ends all calls. The text stays the
 * event's. Returns whether anything has changed. */
bool calls_take(struct memory *memory, const struct event *event, int64_t now_ms);
/* The same, but only for ends: an event that starts a call changes nothing. */
bool calls_end(struct memory *memory, const struct event *event, int64_t now_ms);
/* Takes over from `shared` the calls that run, and the ends of calls that `memory` has. The text
 * stays that of `shared`. Returns whether anything has changed. */
bool calls_update(struct memory *memory, const struct memory *shared);
/* Removes from `memory` the calls that `shared` also has and knows better. */
void calls_leave_out(struct memory *memory, const struct memory *shared);
/* May an event of this type change the calls? */
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
