/* SPDX-License-Identifier: MIT
 *
 * query/explain.c: the query `explain`: the story of one item; that of a message is in
 * explain_message.c.
 */
#include "common/error.h"
#include "query/past.h"

static const struct fate_range *find_fate(const struct fate_range *fates, size_t count,
                                          uint64_t n) {
  for (size_t i = 0; i < count; i++) {
    if (fates[i].first <= n && n <= fates[i].last) return &fates[i];
  }
  return NULL;
}

static void tell_push(const struct item *item, struct buffer *out) {
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
static void tell_recall(const struct question *question, const struct item *item,
                        const struct delivery *delivery, struct buffer *out) {
  const struct fate_range *fate = find_fate(delivery->recalled, delivery->recalled_count, item->n);
  if (!fate) return;
  buffer_format(out, " If the host takes it back, the item is %s: ", outcome_name(fate->outcome));
  past_write_reason(question, &item->note, fate, out);
  buffer_text(out, ".");
}

static void tell_delivery(const struct question *question, const struct item *item,
                          const struct delivery *delivery, const struct fate_range *fate,
                          struct buffer *out) {
  static const char *const on[] = {"", "on a tool result", "on a chat request", "", ""};
  bool shown = fate->outcome == OUTCOME_DELIVERED;
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
                outcome_name(fate->outcome));
  past_write_reason(question, &item->note, fate, out);
  buffer_text(out, delivery->state == DELIVERY_LEASED ? ", once the host has settled it." : ".");
  if (delivery->state == DELIVERY_LEASED) tell_recall(question, item, delivery, out);
  if (delivery->state == DELIVERY_REWOUND) {
    buffer_text(out, " At ");
    past_write_time(out, delivery->rewound_ms);
    buffer_text(out, " the transcript had lost that carrier.");
  }
}

/* A delivery that was rewound showed nothing, but what it removed stays removed. */
static bool ends_item(const struct delivery *delivery, const struct fate_range *fate) {
  return delivery->state == DELIVERY_COMMITTED ||
         (delivery->state == DELIVERY_REWOUND && fate->outcome != OUTCOME_DELIVERED);
}

int query_explain(struct question *question, struct tidings_error *error) {
  struct json_writer *writer = &question->writer;
  uint64_t n = public_id_n(question->request->id);
  struct buffer story = BUFFER_EMPTY;
  struct past past = {0};
  struct item item;
  const char *outcome = "pending";
  if (question->request->message.len) return query_explain_message(question, error);
  if (!question->op.session || public_id_session(question->request->id) != question->op.session) {
    return fail(error, TIDINGS_E_NOT_FOUND, "session %s has no item %llu",
                quote(question->request->session).text, (unsigned long long)question->request->id);
  }
  int code = item_get(question->op.txn, question->op.session, n, &question->op.arena, &item, error);
  if (code == TIDINGS_E_NOT_FOUND)
    code = fail(error, code, "session %s has no item %llu", quote(question->request->session).text,
                (unsigned long long)question->request->id);
  if (!code) code = past_read(question, false, &past, error);
  if (code) return code;
  tell_push(&item, &story);
  for (size_t i = 0; i < past.delivery_count; i++) {
    const struct delivery *delivery = &past.deliveries[i];
    const struct fate_range *fate = find_fate(delivery->fates, delivery->fate_count, n);
    if (!fate) continue;
    tell_delivery(question, &item, delivery, fate, &story);
    if (ends_item(delivery, fate)) outcome = outcome_name(fate->outcome);
    else if (delivery->state == DELIVERY_LEASED) outcome = "leased";
  }
  if (span_is(span_text(outcome), "pending"))
    buffer_text(
        &story,
        " It is pending: the next carrier takes it, if it is wanted then and there is room.");
  json_put_id(writer, "id", question->request->id);
  json_put_text(writer, "outcome", outcome);
  json_put_string(writer, "text", buffer_view(&story));
  if (story.failed) writer->out->failed = true;
  buffer_free(&story);
  return 0;
}
