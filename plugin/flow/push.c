/* SPDX-License-Identifier: MIT
 *
 * flow/push.c: stores a notification. This depends on no decision and waits for none: pushes that
 * wait at the same time are committed together.
 */
#include "flow/internal.h"

int push_notification(struct op *op, const struct event *event, bool *ret_duplicate,
                      struct tidings_error *error) {
  const struct push push = {
      .session = op->name,
      .note = &event->notification,
      .source = event->source,
      .id = event->id,
      .now_ms = op->now_ms,
      .dedup_window_ms = op->settings->dedup_window_ms,
      .pending_limit = op->settings->pending_per_session,
      .source_per_minute = op->settings->source_per_minute,
      .rings = notification_rings(&event->notification),
  };
  return store_push(op->instance->store, &push, op->deadline, ret_duplicate, error);
}
