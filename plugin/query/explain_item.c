/* SPDX-License-Identifier: MIT
 *
 * query/explain_item.c: what happened to one item, in sentences: its push, and what each delivery
 * did with it.
 */
#include "common/error.h"
#include "query/past.h"
#include "store/outlines.h"

static void explain_push(const struct item *item, struct buffer *out) {
  const struct notification *note = &item->note;
  if (!note->message.len) {
    buffer_text(out, "The record of this notification in the store is damaged.");
    return;
  }
  buffer_text(out, "The notification ");
  past_write_kind(note, out);
  buffer_format(out, ", level %s, was received at ", level_name(note->level));
  past_write_time(out, item->pushed_ms);
  buffer_byte(out, '.');
  if (note->due_ms) {
    buffer_text(out, " It is for ");
    past_write_time(out, note->due_ms);
    buffer_text(out, " or later.");
  }
  if (!note->occurred_ms) return;
  buffer_text(out, " It is about something that happened at ");
  past_write_time(out, note->occurred_ms);
  buffer_byte(out, '.');
}

static void write_removal(const struct question *question, const struct item *item,
                          const struct disposition_range *disposition, struct buffer *out) {
  past_write_reason(question, &item->note, disposition, out);
  buffer_format(out, " (outcome: %s).", outcome_name(disposition->outcome));
}

/* Adds that the item was withdrawn while it is on the carrier. */
static void explain_recall(const struct question *question, const struct item *item,
                           const struct delivery *delivery, struct buffer *out) {
  const struct disposition_range *disposition =
      past_find_disposition(delivery->recalled, delivery->recalled_count, item->n);
  if (!disposition) return;
  buffer_text(out, " If the host reports that it was not sent, it is removed instead: ");
  write_removal(question, item, disposition, out);
}

static void explain_lease(const struct question *question, const struct item *item,
                          const struct delivery *delivery,
                          const struct disposition_range *disposition, struct buffer *out) {
  if (disposition->outcome != OUTCOME_DELIVERED) {
    buffer_text(out, " it was left out. When the host confirms that delivery, it is removed: ");
    write_removal(question, item, disposition, out);
    return;
  }
  buffer_text(out,
              " it was handed to the host. When the host confirms that it was sent, it counts as ");
  past_write_reason(question, &item->note, disposition, out);
  buffer_byte(out, '.');
  explain_recall(question, item, delivery, out);
}

static void explain_ending(const struct question *question, const struct item *item,
                           const struct disposition_range *disposition, struct buffer *out) {
  if (disposition->outcome != OUTCOME_DELIVERED) {
    buffer_text(out, " it was removed, not shown: ");
    write_removal(question, item, disposition, out);
    return;
  }
  buffer_text(out, disposition->reason == REASON_PARENT ? " it counted as shown: " : " it was ");
  past_write_reason(question, &item->note, disposition, out);
  buffer_byte(out, '.');
}

static void explain_delivery(const struct question *question, const struct item *item,
                             const struct delivery *delivery,
                             const struct disposition_range *disposition, struct buffer *out) {
  static const char *const with[] = {"", "a tool result", "a chat request", "", ""};
  buffer_text(out, " At ");
  past_write_time(out, delivery->leased_ms);
  if (with[delivery->carrier][0])
    buffer_format(out, ", in delivery %llu with %s,",
                  (unsigned long long)delivery_id(question->op.session, delivery),
                  with[delivery->carrier]);
  if (delivery->state == DELIVERY_ROLLED_BACK)
    buffer_format(out, " it was %s. That delivery was rolled back: %s.",
                  disposition->outcome == OUTCOME_DELIVERED ? "handed to the host" : "left out",
                  past_rollback(delivery->settled_by));
  else if (delivery->state == DELIVERY_LEASED)
    explain_lease(question, item, delivery, disposition, out);
  else explain_ending(question, item, disposition, out);
  if (delivery->state != DELIVERY_REWOUND) return;
  buffer_text(out, " At ");
  past_write_time(out, delivery->rewound_ms);
  buffer_text(out, " the host reported that the transcript no longer contains that delivery.");
}

/* A delivery that was rewound showed nothing, but what it removed stays removed. */
static bool ends_item(const struct delivery *delivery,
                      const struct disposition_range *disposition) {
  return delivery->state == DELIVERY_COMMITTED ||
         (delivery->state == DELIVERY_REWOUND && disposition->outcome != OUTCOME_DELIVERED);
}

void past_explain_item(const struct question *question, const struct item *item,
                       const struct past_disposition *dispositions, size_t count,
                       struct buffer *out, struct past_end *ret_end) {
  struct past_end end = {.outcome = "pending"};
  explain_push(item, out);
  for (size_t i = 0; i < count; i++) {
    const struct delivery *delivery = dispositions[i].delivery;
    bool ends = ends_item(delivery, dispositions[i].disposition);
    explain_delivery(question, item, delivery, dispositions[i].disposition, out);
    if (!ends && delivery->state != DELIVERY_LEASED) continue;
    end.outcome = ends ? outcome_name(dispositions[i].disposition->outcome) : "leased";
    end.by = dispositions[i];
  }
  if (!end.by.delivery && !head_has_pending(&question->op.head, item->n)) {
    end.outcome = "ended"; /* the row of the delivery that ended it is gone */
    buffer_text(out, " It has ended; how it ended is no longer stored.");
  } else if (!end.by.delivery && item->ended) {
    end.outcome = outcome_name(OUTCOME_WITHDRAWN);
    buffer_text(out,
                " It was withdrawn while a delivery of another session had it: the first host "
                "that opens this session removes it, unless its transcript has that delivery.");
  } else if (!end.by.delivery && !item_is_due(item, question->op.now_ms))
    buffer_text(out, " It waits for that time.");
  else if (!end.by.delivery)
    buffer_text(out, " It is pending: it will be shown with the next tool result or chat request, "
                     "if it is still wanted then and there is room for it.");
  *ret_end = end;
}
