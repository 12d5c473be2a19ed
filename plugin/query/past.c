/* SPDX-License-Identifier: MIT
 *
 * query/past.c: what became of things: history, explain, stream.
 */
#include <stdlib.h>

#include "common/error.h"
#include "query/inspect.h"

static const char *const state_names[] = {"", "leased", "committed", "rolled_back"};
static const char *const carrier_names[] = {"", "tool_result", "chat_request", "none", "closed"};
static const char *const settler_names[] = {"", "host", "resume", "recovery", "return"};

/* -- rows in memory ---------------------------------------------------------------------------- */

struct rows {
  struct arena *arena;
  struct delivery *deliveries;
  size_t delivery_count, delivery_capacity;
  struct item *items;
  size_t item_count, item_capacity;
  bool no_memory;
};

static void *enlarge(struct rows *rows, void *old, size_t count, size_t *capacity, size_t size) {
  size_t larger = *capacity ? *capacity * 2 : 64;
  void *memory = arena_zalloc(rows->arena, larger, size);
  rows->no_memory = !memory;
  if (!memory) return old;
  if (count) memcpy(memory, old, count * size);
  *capacity = larger;
  return memory;
}

static int keep_delivery(void *context, const struct delivery *delivery) {
  struct rows *rows = context;
  if (rows->delivery_count == rows->delivery_capacity) {
    rows->deliveries = enlarge(rows, rows->deliveries, rows->delivery_count,
                               &rows->delivery_capacity, sizeof *rows->deliveries);
    if (rows->no_memory) return 1;
  }
  rows->deliveries[rows->delivery_count++] = *delivery;
  return 0;
}

static int keep_item(void *context, const struct item *item) {
  struct rows *rows = context;
  if (rows->item_count == rows->item_capacity) {
    rows->items =
        enlarge(rows, rows->items, rows->item_count, &rows->item_capacity, sizeof *rows->items);
    if (rows->no_memory) return 1;
  }
  rows->items[rows->item_count++] = *item;
  return 0;
}

static int read_rows(struct inspection *inspection, bool items, struct rows *rows,
                     struct tidings_error *error) {
  int code = 0;
  rows->arena = &inspection->op.arena;
  if (!inspection->op.session) return 0;
  code = delivery_scan(inspection->op.txn, inspection->op.session, rows->arena, keep_delivery, rows,
                       error);
  if (!code && items)
    code = item_scan(inspection->op.txn, inspection->op.session, 0, UINT64_MAX, rows->arena,
                     keep_item, rows, error);
  if (!code && rows->no_memory)
    code = fail(error, TIDINGS_E_NOMEM, "no memory to read a session's history");
  return code;
}

static int compare_item(const void *key, const void *element) {
  uint64_t n = *(const uint64_t *)key, other = ((const struct item *)element)->n;
  return n < other ? -1 : n > other;
}

/* NULL: retention has forgotten it. */
static const struct item *find_item(const struct rows *rows, uint64_t n) {
  if (!rows->item_count) return NULL;
  return bsearch(&n, rows->items, rows->item_count, sizeof *rows->items, compare_item);
}

static const struct fate_range *find_fate(const struct delivery *delivery, uint64_t n) {
  for (size_t i = 0; i < delivery->fate_count; i++) {
    if (delivery->fates[i].first <= n && n <= delivery->fates[i].last) return &delivery->fates[i];
  }
  return NULL;
}

/* -- why --------------------------------------------------------------------------------------- */

static void write_shown(const struct inspection *inspection, const struct fate_range *fate,
                        struct buffer *out) {
  buffer_text(out, "shown to the assistant");
  if (fate->ref)
    buffer_format(out, " in the line of item %llu",
                  (unsigned long long)public_id(inspection->op.session, fate->ref));
  if (fate->reason == REASON_SHORTENED)
    buffer_text(out, ", shortened because of delivery.max_tokens");
}

/* Which entry of the configuration is against it. */
static void write_setting(const struct notification *note, enum reason reason, struct buffer *out) {
  struct quoted source = quote(note->source), name = quote(note->name);
  if (reason == REASON_SOURCE) {
    buffer_format(out, "conversation.notifications.kinds switches all of %s off", source.text);
  } else {
    buffer_format(out, "conversation.notifications.kinds switches %s of %s off", name.text,
                  source.text);
  }
  if (span_is(note->source, "tool")) buffer_text(out, ", by that name or by \"handle\"");
}

static void write_reason(const struct inspection *inspection, const struct notification *note,
                         const struct fate_range *fate, struct buffer *out) {
  struct quoted name = quote(note->name), tool = quote(note->tool), call = quote(note->caused_by);
  switch ((enum reason)fate->reason) {
  case REASON_SHOWN:
  case REASON_SHORTENED: write_shown(inspection, fate, out); break;
  case REASON_TTL:
    buffer_format(out, "its time to live of %lld ms was over", (long long)note->ttl_ms);
    break;
  case REASON_CAUSED_BY:
    buffer_format(out, "the assistant's own call %s caused it", call.text);
    break;
  case REASON_NEWER_KEY:
    buffer_format(out, "item %llu with the same key replaced it",
                  (unsigned long long)public_id(inspection->op.session, fate->ref));
    break;
  case REASON_MASTER_SWITCH: buffer_text(out, "conversation.notifications.enable is false"); break;
  case REASON_SOURCE:
  case REASON_KIND:
  case REASON_FLAT_KIND: write_setting(note, (enum reason)fate->reason, out); break;
  case REASON_TOOL:
    buffer_format(out, "conversation.tools.%s.notifications.%s is false", tool.text, name.text);
    break;
  case REASON_CAP_OLDEST:
    buffer_text(out,
                "more than delivery.max_items were pending and delivery.overflow is drop_oldest");
    break;
  case REASON_CAP_LOWEST:
    buffer_text(out,
                "more than delivery.max_items were pending and delivery.overflow is drop_lowest");
    break;
  case REASON_DAMAGED: buffer_text(out, "its record in the store is damaged"); break;
  case REASON_POLLED:
    buffer_text(out, "the assistant asked for the state of its handle itself");
    break;
  case REASON_RUNNING: buffer_text(out, "its handle went on running"); break;
  case REASON_OWN_EDIT:
    buffer_format(out, "item %llu says that the assistant's own call changed the same file",
                  (unsigned long long)public_id(inspection->op.session, fate->ref));
    break;
  case REASON_OPPOSITE:
    buffer_format(out,
                  "it and item %llu say the opposite of each other, and neither had been shown",
                  (unsigned long long)public_id(inspection->op.session, fate->ref));
    break;
  case REASON_SESSION_CLOSED: buffer_text(out, "the session was closed"); break;
  case REASON_NONE:
  case REASON_COUNT: buffer_text(out, "no reason was recorded"); break;
  }
}

/* -- history ----------------------------------------------------------------------------------- */

static void write_fates(struct inspection *inspection, const struct rows *rows,
                        const struct delivery *delivery) {
  static const struct item forgotten;
  struct json_writer *writer = &inspection->writer;
  json_open(writer, "items", '[');
  for (size_t i = 0; i < delivery->fate_count; i++) {
    const struct fate_range *fate = &delivery->fates[i];
    for (uint64_t n = fate->first; n <= fate->last; n++) {
      const struct item *item = find_item(rows, n);
      struct buffer why = BUFFER_EMPTY;
      write_reason(inspection, item ? &item->note : &forgotten.note, fate, &why);
      json_open(writer, NULL, '{');
      json_put_id(writer, "id", public_id(inspection->op.session, n));
      json_put_text(writer, "outcome", outcome_name(fate->outcome));
      json_put_string(writer, "reason", buffer_view(&why));
      if (item) {
        write_kind(writer, &item->note);
        json_put_text(writer, "level", level_name(item->note.level));
        json_put_string(writer, "message", item->note.message);
      }
      json_close(writer, '}');
      if (why.failed) writer->out->failed = true;
      buffer_free(&why);
    }
  }
  json_close(writer, ']');
}

static void write_delivery(struct inspection *inspection, const struct rows *rows,
                           const struct delivery *delivery) {
  struct json_writer *writer = &inspection->writer;
  json_open(writer, NULL, '{');
  json_put_id(writer, "id", public_id(inspection->op.session, delivery->n));
  json_put_text(writer, "outcome", state_names[delivery->state]);
  json_put_text(writer, "carrier", carrier_names[delivery->carrier]);
  if (delivery->carrier == CARRIER_TOOL_RESULT) {
    json_put_string(writer, "call_id", delivery->call_id);
    json_put_string(writer, "tool", delivery->tool);
  }
  json_put_time(writer, "time", delivery->leased_ms);
  if (delivery->settled_by) json_put_time(writer, "settled_at", delivery->settled_ms);
  json_put_text(writer, "settled_by",
                delivery->settled_by ? settler_names[delivery->settled_by] : NULL);
  write_fates(inspection, rows, delivery);
  json_close(writer, '}');
}

/* The newest `limit` deliveries and transitions, oldest first. */
int inspect_history(struct inspection *inspection, struct tidings_error *error) {
  struct json_writer *writer = &inspection->writer;
  struct rows rows = {0};
  int code = read_rows(inspection, true, &rows, error);
  if (code) return code;
  size_t limit = inspection->query->limit,
         first = rows.delivery_count > limit ? rows.delivery_count - limit : 0;
  json_put_u64(writer, "total", rows.delivery_count);
  json_open(writer, "deliveries", '[');
  for (size_t i = first; i < rows.delivery_count; i++)
    write_delivery(inspection, &rows, &rows.deliveries[i]);
  json_close(writer, ']');
  return inspect_transitions(inspection, error);
}

/* -- explain ----------------------------------------------------------------------------------- */

static void write_time(struct buffer *out, int64_t ms) {
  struct buffer quoted = BUFFER_EMPTY;
  struct json_writer writer = {.out = &quoted};
  json_put_time(&writer, NULL, ms);
  if (quoted.failed) out->failed = true;
  else buffer_append(out, quoted.bytes + 1, quoted.len - 2);
  buffer_free(&quoted);
}

static void tell_push(const struct item *item, struct buffer *out) {
  const struct notification *note = &item->note;
  if (!note->message.len) {
    buffer_text(out, "Its record in the store is damaged.");
    return;
  }
  buffer_text(out, "Pushed at ");
  write_time(out, item->time_ms);
  buffer_format(out, " as %s", quote(note->source).text);
  if (note->name.len) buffer_format(out, ".%s", quote(note->name).text);
  buffer_format(out, ", %s.", level_name(note->level));
}

static void tell_delivery(const struct inspection *inspection, const struct item *item,
                          const struct delivery *delivery, const struct fate_range *fate,
                          struct buffer *out) {
  static const char *const on[] = {"", "on a tool result", "on a chat request", "", ""};
  static const char *const rolled_back[] = {
      "", "the host took it back", "the host did not name it on resuming", "its host was gone", ""};
  bool shown = fate->outcome == OUTCOME_DELIVERED;
  buffer_text(out, " At ");
  write_time(out, delivery->leased_ms);
  if (delivery->carrier == CARRIER_TOOL_RESULT || delivery->carrier == CARRIER_CHAT_REQUEST) {
    buffer_format(out, " delivery %llu went out %s",
                  (unsigned long long)public_id(inspection->op.session, delivery->n),
                  on[delivery->carrier]);
    buffer_text(out, shown ? " with it" : " without it");
  } else if (delivery->carrier != CARRIER_CLOSED) {
    buffer_text(out, " it was looked at");
  }
  if (delivery->state == DELIVERY_ROLLED_BACK) {
    buffer_format(out, "; that was rolled back: %s.", rolled_back[delivery->settled_by]);
    return;
  }
  buffer_format(out, "%s it %s %s: ", delivery->carrier == CARRIER_CLOSED ? "" : ";",
                delivery->state == DELIVERY_LEASED ? "will count as" : "was",
                outcome_name(fate->outcome));
  write_reason(inspection, &item->note, fate, out);
  buffer_text(out, delivery->state == DELIVERY_LEASED ? ", once the host has settled it." : ".");
}

int inspect_explain(struct inspection *inspection, struct tidings_error *error) {
  struct json_writer *writer = &inspection->writer;
  uint64_t n = public_id_n(inspection->query->id);
  struct buffer story = BUFFER_EMPTY;
  struct rows rows = {0};
  struct item item;
  const char *outcome = "pending";
  if (!inspection->op.session ||
      public_id_session(inspection->query->id) != inspection->op.session) {
    return fail(error, TIDINGS_E_NOT_FOUND, "session %s has no item %llu",
                quote(inspection->query->session).text, (unsigned long long)inspection->query->id);
  }
  int code =
      item_get(inspection->op.txn, inspection->op.session, n, &inspection->op.arena, &item, error);
  if (code == TIDINGS_E_NOT_FOUND)
    code = fail(error, code, "session %s has no item %llu", quote(inspection->query->session).text,
                (unsigned long long)inspection->query->id);
  if (!code) code = read_rows(inspection, false, &rows, error);
  if (code) return code;
  tell_push(&item, &story);
  for (size_t i = 0; i < rows.delivery_count; i++) {
    const struct delivery *delivery = &rows.deliveries[i];
    const struct fate_range *fate = find_fate(delivery, n);
    if (!fate) continue;
    tell_delivery(inspection, &item, delivery, fate, &story);
    outcome = delivery->state == DELIVERY_COMMITTED ? outcome_name(fate->outcome)
              : delivery->state == DELIVERY_LEASED  ? "leased"
                                                    : "pending";
  }
  if (span_is(span_text(outcome), "pending"))
    buffer_text(
        &story,
        " It is pending: the next carrier takes it, if it is wanted then and there is room.");
  json_put_id(writer, "id", inspection->query->id);
  json_put_text(writer, "outcome", outcome);
  json_put_string(writer, "text", buffer_view(&story));
  if (story.failed) writer->out->failed = true;
  buffer_free(&story);
  return 0;
}

/* -- stream ------------------------------------------------------------------------------------ */

static void write_notification(struct json_writer *writer, const struct item *item) {
  write_kind(writer, &item->note);
  if (item->note.level != TIDINGS_LEVEL_INFO)
    json_put_text(writer, "level", level_name(item->note.level));
  json_put_string(writer, "message", item->note.message);
}

static void write_queued(struct json_writer *writer, const struct item *item) {
  json_open(writer, NULL, '{');
  json_put_time(writer, "timestamp", item->time_ms);
  json_put_text(writer, "type", "system_notification_queued");
  write_notification(writer, item);
  json_close(writer, '}');
}

/* Only what reached the transcript is an event of the stream; one that carried no notification has
 * no list of them. */
static void write_carrier(struct json_writer *writer, const struct rows *rows,
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
  for (size_t i = 0; i < delivery->fate_count; i++) {
    const struct fate_range *fate = &delivery->fates[i];
    for (uint64_t n = fate->first; fate->outcome == OUTCOME_DELIVERED && n <= fate->last; n++) {
      const struct item *item = find_item(rows, n);
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

/* A carrier stands behind the newest item that was there when it went out. */
int inspect_stream(struct inspection *inspection, struct tidings_error *error) {
  struct json_writer *writer = &inspection->writer;
  struct rows rows = {0};
  size_t item = 0;
  int code = read_rows(inspection, true, &rows, error);
  if (code) return code;
  json_open(writer, "events", '[');
  for (size_t i = 0; i < rows.delivery_count; i++) {
    while (item < rows.item_count && rows.items[item].n <= rows.deliveries[i].after)
      write_queued(writer, &rows.items[item++]);
    write_carrier(writer, &rows, &rows.deliveries[i]);
  }
  while (item < rows.item_count) write_queued(writer, &rows.items[item++]);
  json_close(writer, ']');
  return 0;
}
