/* SPDX-License-Identifier: MIT
 *
 * rules/producers/producers.h: what subsystems report becomes news for the assistant, or takes news
 * back. Pure: a typed event and what is remembered in, at most one notification and what to
 * remember out. Kinds, levels and words are those of docs/semantics.md.
 */
#ifndef RULES_PRODUCERS_PRODUCERS_H
#define RULES_PRODUCERS_PRODUCERS_H

#include "event/event.h"
#include "values/memory.h"

struct produced {
  bool speaks; /* `note` is to be pushed */
  struct notification note;
  struct tidings_span withdraw_handle; /* pending news of it is withdrawn; empty: nothing is */
  enum reason withdraw_reason;
  struct memory memory; /* from now on */
};

/* `event` is a report (event_is_report). Text is in the arena or the event's. Returns 0, or -1: no
 * memory. */
int produce(const struct event *event, const struct settings *settings, const struct memory *memory,
            struct arena *arena, struct produced *ret_produced);

/* Does what comes of this event depend on what is remembered? */
static inline bool producer_remembers(enum event_type type) { return type == EVENT_BUDGET_USAGE; }

#endif
