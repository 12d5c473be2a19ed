/* SPDX-License-Identifier: MIT
 *
 * query/timeline.c: the query `timeline`: the data for `tidings timeline` and `tidings tail`. It
 * has each item with its explanation, each delivery with the texts that it showed, and the steps of
 * the run.
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/error.h"
#include "query/past.h"

/* A rewind's time is set before others can see it; this bounds the difference. */
enum { REWIND_SLACK_MS = 600000 };

/* Returns how far the asker knows the session: not at all if its answer was about an earlier one of
 * the same name, which was forgotten since. */
static const struct query_place *known_place(const struct question *question) {
  static const struct query_place nothing;
  const struct query_place *after = &question->request->after;
  return after->session && after->session != question->op.session ? &nothing : after;
}

/* Is the delivery new to the asker, or may it have changed since the asker asked last? */
static bool is_selected(const struct delivery *delivery, const struct query_place *after) {
  if (delivery->n > after->delivery) return true;
  bool rewound = delivery->state == DELIVERY_REWOUND;
  if (!rewound && delivery->settled_by != SETTLED_BY_RESUME) return false;
  int64_t changed_ms = rewound ? delivery->rewound_ms : delivery->settled_ms;
  return changed_ms > 0 && (uint64_t)changed_ms + REWIND_SLACK_MS >= after->queried_ms;
}

/* -- which deliveries each item was in --------------------------------------------------------- */

/* The dispositions of item i, in the order of deliveries, are list[start[i]..start[i + 1]]. */
struct by_item {
  size_t *start;
  struct past_disposition *list;
};

/* The first item whose number is at least `n`. */
static size_t first_item(const struct past *past, uint64_t n) {
  size_t from = 0, to = past->item_count;
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    if (past->items[middle].n < n) from = middle + 1;
    else to = middle;
  }
  return from;
}

/* Counts the deliveries that each item was in; with `at` it writes them down instead. */
static void add_to_items(const struct past *past, struct by_item *by_item, size_t *at) {
  for (size_t i = 0; i < past->delivery_count; i++) {
    const struct delivery *delivery = &past->deliveries[i];
    for (size_t j = 0; j < delivery->disposition_count; j++) {
      const struct disposition_range *disposition = &delivery->dispositions[j];
      for (size_t k = first_item(past, disposition->first);
           k < past->item_count && past->items[k].n <= disposition->last; k++) {
        if (at) by_item->list[at[k]++] = (struct past_disposition){delivery, disposition};
        else by_item->start[k + 1]++;
      }
    }
  }
}

/* -1: no memory. */
static int sort_by_item(const struct past *past, struct by_item *ret) {
  struct by_item by_item = {0};
  size_t *at = arena_zalloc(past->arena, past->item_count + 1, sizeof *at);
  by_item.start = arena_zalloc(past->arena, past->item_count + 1, sizeof *by_item.start);
  if (!at || !by_item.start) return -1;
  add_to_items(past, &by_item, NULL);
  for (size_t i = 0; i < past->item_count; i++) {
    by_item.start[i + 1] += by_item.start[i];
    at[i] = by_item.start[i];
  }
  size_t count = by_item.start[past->item_count];
  by_item.list = arena_zalloc(past->arena, count + 1, sizeof *by_item.list);
  if (!by_item.list) return -1;
  add_to_items(past, &by_item, at);
  *ret = by_item;
  return 0;
}

/* -- items ------------------------------------------------------------------------------------- */

static void write_explanation(struct question *question, const struct item *item,
                              const struct past_disposition *dispositions, size_t count) {
  struct json_writer *writer = &question->writer;
  struct buffer explanation = BUFFER_EMPTY, why = BUFFER_EMPTY;
  struct past_end end;
  past_explain_item(question, item, dispositions, count, &explanation, &end);
  json_put_text(writer, "outcome", end.outcome);
  if (end.by.delivery) {
    past_write_reason(question, &item->note, end.by.disposition, &why);
    json_put_string(writer, "reason", buffer_view(&why));
    json_put_id(writer, "delivery", delivery_id(question->op.session, end.by.delivery));
    json_put_time(writer, "taken_at", end.by.delivery->leased_ms);
  }
  json_put_string(writer, "text", buffer_view(&explanation));
  if (explanation.failed || why.failed) writer->out->failed = true;
  buffer_free(&explanation);
  buffer_free(&why);
}

static void write_item(struct question *question, const struct item *item,
                       const struct past_disposition *dispositions, size_t count) {
  struct json_writer *writer = &question->writer;
  const struct notification *note = &item->note;
  json_open(writer, NULL, '{');
  json_put_id(writer, "id", public_id(question->op.session, item->n));
  json_put_time(writer, "time", item->pushed_ms);
  query_write_due(writer, note->due_ms);
  query_write_occurred(writer, note);
  query_write_kind(writer, note);
  json_put_text(writer, "level", level_name(note->level));
  json_put_string(writer, "message", note->message);
  if (note->handle.len) json_put_string(writer, "handle", note->handle);
  write_explanation(question, item, dispositions, count);
  json_close(writer, '}');
}

static bool has_one_selected(const struct query_place *after,
                             const struct past_disposition *dispositions, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (is_selected(dispositions[i].delivery, after)) return true;
  return false;
}

/* Writes the items that are new, and those of the deliveries that are written. */
static int write_items(struct question *question, const struct past *past,
                       struct tidings_error *error) {
  const struct query_place *after = known_place(question);
  struct by_item by_item = {0};
  if (sort_by_item(past, &by_item)) return fail(error, TIDINGS_E_NOMEM, "no memory for a timeline");
  json_open(&question->writer, "items", '[');
  for (size_t i = 0; i < past->item_count; i++) {
    size_t first = by_item.start[i], count = by_item.start[i + 1] - first;
    bool fresh =
        past->items[i].n > after->item || has_one_selected(after, by_item.list + first, count);
    if (fresh) write_item(question, &past->items[i], by_item.list + first, count);
  }
  json_close(&question->writer, ']');
  return 0;
}

/* -- deliveries -------------------------------------------------------------------------------- */

static int write_delivered(struct question *question, const struct past *past, size_t i,
                           struct tidings_error *error) {
  const struct delivery *delivery = &past->deliveries[i];
  struct json_writer *writer = &question->writer;
  json_open(writer, NULL, '{');
  past_write_delivery(question, delivery);
  json_put_u64(writer, "number", delivery->n);
  json_put_u64(writer, "epoch", delivery->epoch);
  bool first = i == 0 || delivery->n == question->op.head.preamble;
  int code = past_write_shown(question, past, delivery, first, error);
  json_close(writer, '}');
  return code;
}

/* *ret_open: the number before that of the first delivery that may still change. */
static int write_deliveries(struct question *question, const struct past *past, uint64_t *ret_open,
                            struct tidings_error *error) {
  uint64_t open = question->op.head.last_delivery;
  int code = 0;
  json_open(&question->writer, "deliveries", '[');
  for (size_t i = 0; i < past->delivery_count && !code; i++) {
    const struct delivery *delivery = &past->deliveries[i];
    if (delivery->state == DELIVERY_LEASED && delivery->n <= open) open = delivery->n - 1;
    if (is_selected(delivery, known_place(question)))
      code = write_delivered(question, past, i, error);
  }
  json_close(&question->writer, ']');
  *ret_open = open;
  return code;
}

/* The number of the oldest item that may have to be written. */
static uint64_t first_selected(const struct past *past, const struct query_place *after) {
  uint64_t first = after->item + 1;
  for (size_t i = 0; i < past->delivery_count; i++) {
    const struct delivery *delivery = &past->deliveries[i];
    if (is_selected(delivery, after) && delivery->disposition_count &&
        delivery->dispositions[0].first < first)
      first = delivery->dispositions[0].first;
  }
  return first;
}

/* -- what retention has removed ---------------------------------------------------------------- */

/* Numbers have no gaps, so a number that is missing belonged to something forgotten. */
static void write_forgotten(struct question *question, const struct past *past) {
  struct json_writer *writer = &question->writer;
  uint64_t items = question->last - past->item_count;
  uint64_t deliveries = question->op.head.last_delivery - past->delivery_count;
  size_t i = past->item_count;
  if (!items && !deliveries) return;
  while (i > 1 && past->items[i - 1].n == past->items[i - 2].n + 1) i--;
  json_open(writer, "forgotten", '{');
  json_put_u64(writer, "items", items);
  json_put_u64(writer, "deliveries", deliveries);
  if (i && items) json_put_time(writer, "before", past->items[i - 1].pushed_ms);
  json_close(writer, '}');
}

/* -- people's messages, and triggers' ---------------------------------------------------------- */

static int write_message_of(struct question *question, const struct message *message,
                            struct tidings_error *error) {
  struct op *op = &question->op;
  struct json_writer *writer = &question->writer;
  struct tidings_span content, trigger;
  int code = content_get(op->txn, op->session, message->n, &op->arena, &content, &trigger, error);
  if (code) return code;
  json_open(writer, NULL, '{');
  json_put_string(writer, "id", message->id);
  json_put_time(writer, "time", message->stamp_ms);
  json_put_text(writer, "state", message_state_name(message->state));
  json_put_text(writer, "delivery", message->steer ? "steer" : "queue");
  json_put_string(writer, "content", content);
  if (trigger.len) json_put_raw(writer, "trigger", trigger);
  json_close(writer, '}');
  return 0;
}

static int write_submitted(struct question *question, struct tidings_error *error) {
  struct op *op = &question->op;
  struct message *messages = NULL;
  size_t count = 0;
  int code =
      op->session ? message_all(op->txn, op->session, &op->arena, &messages, &count, error) : 0;
  json_open(&question->writer, "messages", '[');
  for (size_t i = 0; i < count && !code; i++)
    code = write_message_of(question, &messages[i], error);
  json_close(&question->writer, ']');
  return code;
}

/* Writes the members that are only in an answer for the whole session. */
static int write_rest(struct question *question, const struct past *past,
                      struct tidings_error *error) {
  const struct query_place *after = known_place(question);
  if (after->item || after->delivery || after->transition) return 0;
  write_forgotten(question, past);
  return write_submitted(question, error);
}

/* -- the query --------------------------------------------------------------------------------- */

int query_timeline(struct question *question, struct tidings_error *error) {
  struct json_writer *writer = &question->writer;
  const struct head *head = &question->op.head;
  const struct query_place *after = known_place(question);
  struct past past = {0};
  uint64_t open = 0;
  char end[96];
  json_put_string(writer, "session", question->request->session);
  json_put_time(writer, "time", question->op.now_ms);
  query_write_attachment(writer, &question->op);
  int code = past_read(question, false, &past, error);
  if (!code) code = past_read_items(question, first_selected(&past, after), &past, error);
  if (!code) code = write_items(question, &past, error);
  if (!code) code = write_deliveries(question, &past, &open, error);
  if (!code) code = query_write_transitions(question, after->transition + 1, error);
  if (!code) code = write_rest(question, &past, error);
  if (code) return code;
  (void)snprintf(end, sizeof end, "%" PRIu64 ".%" PRIu64 ".%" PRIu64 ".%" PRId64 ".%" PRIu32,
                 question->last, open, head->last_transition,
                 question->op.now_ms > 0 ? question->op.now_ms : 0, /* `after` has no sign */
                 question->op.session);
  json_put_text(writer, "end", end);
  return 0;
}
