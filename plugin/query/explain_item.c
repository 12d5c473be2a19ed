/* SPDX-License-Identifier: MIT
 *
 * query/explain_item.c: what happened to one item, in sentences: its push, and what each delivery
 * did with it.
 */
#include "common/error.h"
#include "query/past.h"

static void explain_push(const struct item *item, struct buffer *out) {
  const struct notification *note = &item->note;
  if (!note->message.len) {
    buffer_text(out, "Its record in the store is damaged.");
    return;
  }
  buffer_text(out, "Pushed at ");
  past_write_time(out, item->time_ms);
  buffer_format(out, " as %s", quote(note->source).text);
  if (note->name.len) buffer_format(out, ".%s", quote(note->name).text);
  buffer_format(out, ", %s.", level_name(note->level));
  if (!note->occurred_ms) return;
  buffer_text(out, " It happened at ");
  past_write_time(out, note->occurred_ms);
  buffer_byte(out, '.');
}

/* It was withdrawn while it is on the carrier. */
static void explain_recall(const struct question *question, const struct item *item,
                           const struct delivery *delivery, struct buffer *out) {
  const struct disposition_range *disposition =
      past_find_disposition(delivery->recalled, delivery->recalled_count, item->n);
  if (!disposition) return;
  buffer_format(out,
                " If the host takes it back, the item is %s: ", outcome_name(disposition->outcome));
  past_write_reason(question, &item->note, disposition, out);
  buffer_text(out, ".");
}

static void explain_delivery(const struct question *question, const struct item *item,
                             const struct delivery *delivery,
                             const struct disposition_range *disposition, struct buffer *out) {
  static const char *const on[] = {"", "on a tool result", "on a chat request", "", ""};
  bool shown = disposition->outcome == OUTCOME_DELIVERED;
  buffer_text(out, " At ");
  past_write_time(out, delivery->leased_ms);
  if (delivery->carrier == CARRIER_TOOL_RESULT || delivery->carrier == CARRIER_CHAT_REQUEST) {
    buffer_format(out, " delivery %llu went out %s",
                  (unsigned long long)public_id(question->op.session, delivery->n),
                  on[delivery->carrier]);
    buffer_text(out, shown ? " with it" : " without it");
  } else if (delivery->carrier != CARRIER_CLOSED) {
    buffer_text(out, " it was looked at");
  }
  if (delivery->state == DELIVERY_ROLLED_BACK) {
    buffer_format(out, "; that was rolled back: %s.", past_rollback(delivery->settled_by));
    return;
  }
  buffer_format(out, "%s it %s %s: ", delivery->carrier == CARRIER_CLOSED ? "" : ";",
                delivery->state == DELIVERY_LEASED ? "will count as" : "was",
                outcome_name(disposition->outcome));
  past_write_reason(question, &item->note, disposition, out);
  buffer_text(out, delivery->state == DELIVERY_LEASED ? ", once the host has settled it." : ".");
  if (delivery->state == DELIVERY_LEASED) explain_recall(question, item, delivery, out);
  if (delivery->state == DELIVERY_REWOUND) {
    buffer_text(out, " At ");
    past_write_time(out, delivery->rewound_ms);
    buffer_text(out, " the transcript had lost that carrier.");
  }
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
  if (!end.by.delivery)
    buffer_text(
        out, " It is pending: the next carrier takes it, if it is wanted then and there is room.");
  *ret_end = end;
}
