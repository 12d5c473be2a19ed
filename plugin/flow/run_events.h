/* SPDX-License-Identifier: MIT
 *
 * flow/run_events.h: events that step a session's run: messages, turns, phases, the session's life,
 * wake. Each is one write transaction, from the table's decision to its messages' rows.
 */
#ifndef FLOW_RUN_EVENTS_H
#define FLOW_RUN_EVENTS_H

#include "event/event.h"
#include "instance/instance.h"

/* One event being handled. */
struct happening {
  struct instance *instance;
  const struct settings *settings;
  const struct event *event;
  int64_t now_ms;
  store_deadline deadline;
  bool duplicate;
};

/* A message, turn, phase or session event, or wake. Always a reply. Errors as on_event. */
int take_run_event(struct happening *happening, const struct tidings_reply **ret_reply,
                   struct tidings_error *error);

/* After news that asks for something was stored: what it makes this host do, if it is the
 * session's. A reply only if there is an action, or none could be decided yet. Cannot fail: the
 * news is stored. */
void look_after_news(struct happening *happening, const struct tidings_reply **ret_reply);

#endif
