/* SPDX-License-Identifier: MIT
 *
 * query/history.c: the query `history`: it lists the deliveries, and says how each item ended.
 */
#include "query/past.h"

#include "store/list.h"

static const char *const state_names[] = {"", "leased", "committed", "rolled_back", "rewound"};
static const char *const settler_names[] = {"", "host", "resume", "recovery", "return"};

const char *query_carrier_name(uint8_t carrier) {
  static const char *const names[] = {"", "tool_result", "chat_request", "none", "closed"};
  return names[carrier];
}

/* An item that is on its way, or was taken back, was not shown. */
static const char *write_disposition(const struct question *question,
                                     const struct notification *note,
                                     const struct delivery *delivery,
                                     const struct disposition_range *disposition,
                                     struct buffer *why) {
  if (disposition->outcome == OUTCOME_DELIVERED && delivery->state == DELIVERY_LEASED) {
    buffer_text(why, "handed to the host, which has not confirmed yet that it was sent");
    return "leased";
  }
  if (disposition->outcome == OUTCOME_DELIVERED && delivery->state == DELIVERY_ROLLED_BACK) {
    buffer_format(why, "not shown: %s", past_rollback(delivery->settled_by));
    return "pending";
  }
  past_write_reason(question, note, disposition, why);
  return outcome_name(disposition->outcome);
}

static void write_dispositions(struct question *question, const struct past *past,
                               const struct delivery *delivery) {
  static const struct item forgotten;
  struct json_writer *writer = &question->writer;
  json_open(writer, "items", '[');
  for (size_t i = 0; i < delivery->disposition_count; i++) {
    const struct disposition_range *disposition = &delivery->dispositions[i];
    for (uint64_t n = disposition->first; n <= disposition->last; n++) {
      const struct item *item = past_item(past, n);
      struct buffer why = BUFFER_EMPTY;
      const char *outcome = write_disposition(question, item ? &item->note : &forgotten.note,
                                              delivery, disposition, &why);
      json_open(writer, NULL, '{');
      json_put_id(writer, "id", public_id(question->op.session, n));
      json_put_text(writer, "outcome", outcome);
      json_put_string(writer, "reason", buffer_view(&why));
      if (disposition->reason == REASON_COLLECTED) json_put_bool(writer, "moved", true);
      if (item) {
        query_write_kind(writer, &item->note);
        json_put_text(writer, "level", level_name(item->note.level));
        json_put_string(writer, "message", item->note.message);
        query_write_occurred(writer, &item->note);
        query_write_data(writer, &item->note);
      }
      json_close(writer, '}');
      if (why.failed) writer->out->failed = true;
      buffer_free(&why);
    }
  }
  json_close(writer, ']');
}

void past_write_delivery(struct question *question, const struct delivery *delivery) {
  struct json_writer *writer = &question->writer;
  json_put_id(writer, "id", delivery_id(question->op.session, delivery));
  json_put_text(writer, "outcome", state_names[delivery->state]);
  json_put_text(writer, "carrier", query_carrier_name(delivery->carrier));
  if (delivery->carrier == CARRIER_TOOL_RESULT) {
    json_put_string(writer, "call_id", delivery->call_id);
    json_put_string(writer, "tool", delivery->tool);
  }
  json_put_time(writer, "time", delivery->leased_ms);
  if (delivery->settled_by) json_put_time(writer, "settled_at", delivery->settled_ms);
  json_put_text(writer, "settled_by",
                delivery->settled_by ? settler_names[delivery->settled_by] : NULL);
  if (delivery->state == DELIVERY_REWOUND)
    json_put_time(writer, "rewound_at", delivery->rewound_ms);
}

static void write_delivery(struct question *question, const struct past *past,
                           const struct delivery *delivery) {
  json_open(&question->writer, NULL, '{');
  past_write_delivery(question, delivery);
  write_dispositions(question, past, delivery);
  json_close(&question->writer, '}');
}

struct dead_writing {
  struct json_writer *writer;
  bool any;
};

static int write_dead(void *context, const struct db_dead *dead) {
  struct dead_writing *writing = context;
  struct json_writer *writer = writing->writer;
  struct item item;
  if (!item_read_body(dead->body, &item)) return 0;
  if (!writing->any) json_open(writer, "dead_letters", '[');
  writing->any = true;
  json_open(writer, NULL, '{');
  json_put_text(writer, "outcome", dead->outcome);
  json_put_text(writer, "reason", dead->reason);
  json_put_time(writer, "time", item.pushed_ms);
  json_put_time(writer, "ended_at", dead->ended_ms);
  query_write_kind(writer, &item.note);
  json_put_text(writer, "level", level_name(item.note.level));
  json_put_string(writer, "message", item.note.message);
  query_write_data(writer, &item.note);
  json_close(writer, '}');
  return 0;
}

/* Writes "dead_letters": for a store in a database, the pushes that no host has read. */
static int write_dead_letters(struct question *question, struct tidings_error *error) {
  struct dead_writing writing = {.writer = &question->writer};
  int code = store_dead_letters(question->op.txn, question->op.name, question->request->limit,
                                write_dead, &writing, error);
  if (writing.any) json_close(writing.writer, ']');
  return code;
}

/* The newest `limit` deliveries and transitions, oldest first. */
int query_history(struct question *question, struct tidings_error *error) {
  struct json_writer *writer = &question->writer;
  struct past past = {0};
  int code = past_read(question, true, &past, error);
  if (code) return code;
  size_t limit = question->request->limit,
         first = past.delivery_count > limit ? past.delivery_count - limit : 0;
  json_put_u64(writer, "total", past.delivery_count);
  json_open(writer, "deliveries", '[');
  for (size_t i = first; i < past.delivery_count; i++)
    write_delivery(question, &past, &past.deliveries[i]);
  json_close(writer, ']');
  code = write_dead_letters(question, error);
  if (code) return code;
  uint64_t last = question->op.head.last_transition;
  return query_write_transitions(question, last > limit ? last - limit + 1 : 1, error);
}
