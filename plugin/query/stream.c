/* SPDX-License-Identifier: MIT
 *
 * query/stream.c: the query `stream`: it lists what was queued and what reached the transcript.
 */
#include "query/past.h"

static void write_notification(struct json_writer *writer, const struct item *item) {
  query_write_kind(writer, &item->note);
  if (item->note.level != TIDINGS_LEVEL_INFO)
    json_put_text(writer, "level", level_name(item->note.level));
  json_put_string(writer, "message", item->note.message);
  query_write_occurred(writer, &item->note);
  query_write_data(writer, &item->note);
}

static void write_queued(struct json_writer *writer, const struct item *item) {
  json_open(writer, NULL, '{');
  json_put_time(writer, "timestamp", item->pushed_ms);
  json_put_text(writer, "type", "system_notification_queued");
  write_notification(writer, item);
  json_close(writer, '}');
}

/* Only what reached the transcript is an event of the stream; one that carried no notification has
 * no list of them. */
static void write_carrier(struct json_writer *writer, const struct past *past,
                          const struct delivery *delivery) {
  if (delivery->state != DELIVERY_COMMITTED ||
      (delivery->carrier != CARRIER_TOOL_RESULT && delivery->carrier != CARRIER_CHAT_REQUEST))
    return;
  bool chat = delivery->carrier == CARRIER_CHAT_REQUEST;
  json_open(writer, NULL, '{');
  json_put_time(writer, "timestamp", delivery->leased_ms);
  json_put_text(writer, "type", chat ? "chat_request" : "tool_call_response");
  if (chat) json_put_text(writer, "source", delivery->source ? "system" : "user");
  else json_put_string(writer, "id", delivery->call_id);
  bool any = false;
  for (size_t i = 0; i < delivery->disposition_count; i++) {
    const struct disposition_range *disposition = &delivery->dispositions[i];
    for (uint64_t n = disposition->first;
         disposition->outcome == OUTCOME_DELIVERED && n <= disposition->last; n++) {
      const struct item *item = past_item(past, n);
      if (!item) continue;
      if (!any) json_open(writer, "notifications", '[');
      any = true;
      json_open(writer, NULL, '{');
      write_notification(writer, item);
      json_close(writer, '}');
    }
  }
  if (any) json_close(writer, ']');
  json_close(writer, '}');
}

/* A carrier stands after the newest item that was there when it went out. */
int query_stream(struct question *question, struct tidings_error *error) {
  struct json_writer *writer = &question->writer;
  struct past past = {0};
  size_t item = 0;
  int code = past_read(question, true, &past, error);
  if (code) return code;
  json_open(writer, "events", '[');
  for (size_t i = 0; i < past.delivery_count; i++) {
    while (item < past.item_count && past.items[item].n <= past.deliveries[i].after)
      write_queued(writer, &past.items[item++]);
    write_carrier(writer, &past, &past.deliveries[i]);
  }
  while (item < past.item_count) write_queued(writer, &past.items[item++]);
  json_close(writer, ']');
  return 0;
}
