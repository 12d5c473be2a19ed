/* SPDX-License-Identifier: MIT
 *
 * rules/producers/producers.h: turns a subsystem's report into a notification, the withdrawal of
 * others, or nothing. Pure: its input is the report and what is remembered of the session; its
 * output is at most one notification and what to remember. Kinds and levels are those of
 * docs/semantics.md.
 */
#ifndef RULES_PRODUCERS_PRODUCERS_H
#define RULES_PRODUCERS_PRODUCERS_H

#include "common/arena.h"
#include "values/event.h"
#include "values/memory.h"
#include "values/settings.h"

struct produced {
  bool has_note; /* `note` is to be pushed */
  struct notification note;
  size_t uncut_bytes; /* the bytes of its message before it was cut; 0: it was not cut */
  /* pending notifications of this handle are withdrawn; empty: none is */
  struct tidings_span withdraw_handle;
  enum reason withdraw_reason;
  bool withdraws_critical; /* the report is critical itself */
  struct memory memory;    /* what to remember from now on */
};

/* `event` is a report (event_is_report). Text is in the arena or the event's. Returns 0, or -1: no
 * memory. */
int produce(const struct event *event, const struct settings *settings, const struct memory *memory,
            struct arena *arena, struct produced *ret_produced);

/* May such an event change what is remembered? */
static inline bool produce_remembers(const struct event *event) {
  return event->type == EVENT_BUDGET_USAGE ||
         (event->type == EVENT_FILE_CHANGED && event->report.caused_by.len);
}
/* Does it differ from what was remembered before? */
bool produce_changes_memory(const struct memory *before, const struct memory *after);

#endif
