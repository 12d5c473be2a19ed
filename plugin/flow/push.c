/* SPDX-License-Identifier: MIT
 *
 * flow/push.c: stores a notification. This depends on no decision and waits for none: pushes that
 * wait at the same time are committed together.
 */
#include <stdio.h>

#include "common/error.h"
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

void push_say_cut(const struct op *op, const struct notification *note, size_t uncut_bytes) {
  const struct tidings_host *host = &op->instance->host;
  char line[320];
  int len = snprintf(line, sizeof line,
                     "the message of a notification (%s) has %zu bytes; it was cut to %u "
                     "(limits.message_bytes), and says so",
                     quote(note->source).text, uncut_bytes, op->settings->message_bytes);
  const struct tidings_span text = span_of(line, len > 0 ? (size_t)len : 0);
  host->log(host->context, TIDINGS_LOG_WARNING, &text);
}
