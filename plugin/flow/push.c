/* SPDX-License-Identifier: MIT
 *
 * flow/push.c: stores a notification. This depends on no decision and waits for none: pushes that
 * wait at the same time are committed together.
 */
#include <stdio.h>

#include "common/error.h"
#include "flow/internal.h"

/* Deletes history in a write of its own. Commits the write if anything was deleted, or if `must`.
 */
static int give_up_some(struct op *op, bool must, size_t *ret_count) {
  struct store_txn *txn;
  int code = store_write(op->instance->store, NULL, op->deadline, &txn, NULL);
  if (code) return code;
  code = store_give_up(txn, op->now_ms, ret_count, NULL);
  if (!code && (*ret_count || must)) return store_commit(txn, NULL);
  store_end(txn);
  return code;
}

/* Deletes history and tries again as long as there is time. A page can be used again only by the
 * second write after the one that freed it, so one more write follows the last. */
int push_store(struct op *op, const struct push *push, bool *ret_duplicate,
               struct tidings_error *error) {
  struct store *store = op->instance->store;
  size_t gave = 0;
  bool full = false;
  int code = store_push(store, push, op->deadline, ret_duplicate, &full, error);
  while (code && full && store_deadline_left_ms(op->deadline)) {
    size_t before = gave;
    if (give_up_some(op, before, &gave) || (!gave && !before)) return code;
    full = false;
    code = store_push(store, push, op->deadline, ret_duplicate, &full, error);
  }
  return code;
}

int push_notification(struct op *op, const struct event *event, bool *ret_duplicate,
                      struct tidings_error *error) {
  struct notification note = event->notification;
  if (note.due_ms) note.due_ms += op->ahead_ms; /* the event's time is by the host's clock */
  const struct push push = {
      .session = op->name,
      .note = &note,
      .source = event->source,
      .id = event->id,
      .now_ms = op->now_ms,
      .dedup_window_ms = op->settings->dedup_window_ms,
      .pending_limit = op->settings->pending_per_session,
      .source_per_minute = op->settings->source_per_minute,
      .rings = notification_rings(&note),
  };
  return push_store(op, &push, ret_duplicate, error);
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
