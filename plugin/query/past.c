/* SPDX-License-Identifier: MIT
 */
#include "query/past.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"

static int no_memory_for_past(const struct past *past) {
  return fail(past->error, TIDINGS_E_NOMEM, "no memory to read a session's history");
}

static int keep_delivery(void *context, const struct delivery *delivery) {
  struct past *past = context;
  if (past->delivery_count == past->delivery_capacity) {
    struct delivery *larger =
        arena_enlarge(past->arena, past->deliveries, &past->delivery_capacity, sizeof *larger);
    if (!larger) return no_memory_for_past(past);
    past->deliveries = larger;
  }
  past->deliveries[past->delivery_count++] = *delivery;
  return 0;
}

static int keep_item(void *context, const struct item *item) {
  struct past *past = context;
  if (past->item_count == past->item_capacity) {
    struct item *larger =
        arena_enlarge(past->arena, past->items, &past->item_capacity, sizeof *larger);
    if (!larger) return no_memory_for_past(past);
    past->items = larger;
  }
  past->items[past->item_count++] = *item;
  return 0;
}

int past_read(struct question *question, bool items, struct past *past,
              struct tidings_error *error) {
  struct op *op = &question->op;
  past->arena = &op->arena;
  past->error = error;
  if (!op->session) return 0;
  int code = delivery_scan(op->txn, op->session, past->arena, keep_delivery, past, error);
  return code || !items ? code : past_read_items(question, 0, past, error);
}

int past_read_items(struct question *question, uint64_t first, struct past *past,
                    struct tidings_error *error) {
  struct op *op = &question->op;
  if (!op->session) return 0;
  return item_scan(op->txn, op->session, first, UINT64_MAX, past->arena, keep_item, past, error);
}

static int compare_item(const void *key, const void *element) {
  uint64_t n = *(const uint64_t *)key, other = ((const struct item *)element)->n;
  return n < other ? -1 : n > other;
}

const struct item *past_item(const struct past *past, uint64_t n) {
  if (!past->item_count) return NULL;
  return bsearch(&n, past->items, past->item_count, sizeof *past->items, compare_item);
}

/* Does the delivery show these items (*ret_shown), or what took their place? Reports of files take
 * no place. */
static bool shows_place(const struct delivery *delivery, const struct disposition_range *these,
                        bool *ret_shown) {
  *ret_shown = these->outcome == OUTCOME_DELIVERED;
  if (these->outcome != OUTCOME_SUPERSEDED) return *ret_shown;
  const struct disposition_range *by =
      past_find_disposition(delivery->dispositions, delivery->disposition_count, these->ref);
  return by && by->outcome == OUTCOME_DELIVERED;
}

int past_items_shown(const struct past *past, const struct delivery *delivery,
                     struct item **ret_items, size_t *ret_count) {
  size_t most = 0, count = 0;
  for (size_t i = 0; i < delivery->disposition_count; i++)
    most += delivery->dispositions[i].last - delivery->dispositions[i].first + 1;
  if (most > past->item_count) most = past->item_count;
  struct item *items = arena_zalloc(past->arena, most + 1, sizeof *items);
  if (!items) return -1;
  for (size_t i = 0; i < delivery->disposition_count; i++) {
    const struct disposition_range *disposition = &delivery->dispositions[i];
    bool shown, counts = shows_place(delivery, disposition, &shown);
    for (uint64_t n = disposition->first; counts && n <= disposition->last; n++) {
      const struct item *item = past_item(past, n);
      bool gives_place = item && item->note.made_by != MADE_BY_FILE_CHANGED;
      if (item && (shown || gives_place) && count < most) items[count++] = *item;
    }
  }
  *ret_items = items;
  *ret_count = count;
  return 0;
}

const struct disposition_range *past_find_disposition(const struct disposition_range *dispositions,
                                                      size_t count, uint64_t n) {
  for (size_t i = 0; i < count; i++) {
    if (dispositions[i].first <= n && n <= dispositions[i].last) return &dispositions[i];
  }
  return NULL;
}

void past_write_time(struct buffer *out, int64_t ms) {
  struct buffer quoted = BUFFER_EMPTY;
  struct json_writer writer = {.out = &quoted};
  json_put_time(&writer, NULL, ms);
  if (quoted.failed) out->failed = true;
  else buffer_append(out, quoted.bytes + 1, quoted.len - 2);
  buffer_free(&quoted);
}

const char *past_rollback(uint8_t settled_by) {
  static const char *const why[] = {
      "",
      "the host reported that it was not sent",
      "the resumed transcript does not contain it",
      "the host ended, or lost the session, before it confirmed that it was sent",
      "",
  };
  return why[settled_by];
}

void past_write_kind(const struct notification *note, struct buffer *out) {
  struct quoted source = quote(note->source), name = quote(note->name);
  if (!note->name.len) buffer_text(out, source.text);
  else buffer_format(out, "%.*s.%s", (int)strlen(source.text) - 1, source.text, name.text + 1);
}

/* -- why --------------------------------------------------------------------------------------- */

static void write_shown(const struct question *question,
                        const struct disposition_range *disposition, struct buffer *out) {
  buffer_text(out, "shown to the assistant");
  if (disposition->ref)
    buffer_format(out, " in one line with others, the line of notification %llu",
                  (unsigned long long)public_id(question->op.session, disposition->ref));
  if (disposition->reason == REASON_SHORTENED)
    buffer_text(out, ", shortened because of the setting delivery.max_tokens or the room that the "
                     "host gave");
  if (disposition->reason == REASON_COUNTED)
    buffer_text(out, ", where its files are counted but not named");
}

/* Names the setting that filters the notification. */
static void write_setting(const struct notification *note, enum reason reason, struct buffer *out) {
  buffer_text(out, "the setting conversation.notifications.kinds switches off ");
  if (reason == REASON_SOURCE)
    buffer_format(out, "all notifications of %s", quote(note->source).text);
  else past_write_kind(note, out);
  if (span_is(note->source, "tool")) buffer_text(out, ", where \"handle\" also means \"tool\"");
}

static const char *subject_name(const struct notification *note) {
  switch (note->made_by) {
  case MADE_BY_FILE_CHANGED: return "files";
  case MADE_BY_MCP_STATE: return "server";
  case MADE_BY_BUDGET_USAGE: return "budget";
  case MADE_BY_RATE_LIMITED: return "rate limit";
  default: return "handle";
  }
}

static const char *const fixed_reasons[REASON_COUNT + 1] = {
    [REASON_MASTER_SWITCH] = "the setting conversation.notifications.enable is false",
    [REASON_DAMAGED] = "its record in the store is damaged",
    [REASON_POLLED] = "the assistant itself asked for the state of its handle",
    [REASON_RUNNING] = "its handle is running again",
    [REASON_OVER] = "the time to wait that it reports was over before it could be shown",
    [REASON_SILENT] = "it is never shown; it only takes back what has its key",
    [REASON_SESSION_CLOSED] = "the session was closed",
    [REASON_NONE] = "no reason was recorded",
    [REASON_COUNT] = "no reason was recorded",
};

void past_write_reason(const struct question *question, const struct notification *note,
                       const struct disposition_range *disposition, struct buffer *out) {
  struct quoted name = quote(note->name), tool = quote(note->tool), call = quote(note->caused_by);
  unsigned long long other = public_id(question->op.session, disposition->ref);
  switch ((enum reason)disposition->reason) {
  case REASON_SHOWN:
  case REASON_COUNTED:
  case REASON_SHORTENED: write_shown(question, disposition, out); break;
  case REASON_TTL:
    buffer_format(out, "its time to live of %lld ms had passed", (long long)note->ttl_ms);
    break;
  case REASON_CAUSED_BY:
    buffer_format(out, "the assistant's own call %s caused it", call.text);
    break;
  case REASON_SOURCE:
  case REASON_KIND:
  case REASON_FLAT_KIND: write_setting(note, (enum reason)disposition->reason, out); break;
  case REASON_TOOL:
    buffer_format(out, "the setting conversation.tools.%s.notifications.%s is %s", tool.text,
                  disposition->ref & 1 ? "\"enable\"" : name.text,
                  disposition->ref & 2 ? "\"critical\"" : "false");
    break;
  case REASON_NEWER_KEY:
    buffer_format(out, "notification %llu with the same key replaced it", other);
    break;
  case REASON_TAKEN_BACK:
    buffer_format(out, "notification %llu with the same key took it back", other);
    break;
  case REASON_OWN_EDIT:
    buffer_format(out, "notification %llu says that the assistant's own call changed the same file",
                  other);
    break;
  case REASON_OPPOSITE:
    buffer_format(out, "it and notification %llu cancel each other out, and neither had been shown",
                  other);
    break;
  case REASON_NEWER_STATE:
    buffer_format(out, "notification %llu reports a newer state of the same %s", other,
                  subject_name(note));
    break;
  case REASON_PARENT:
    buffer_format(out,
                  "the transcript has delivery %llu of the session that this one was forked from",
                  (unsigned long long)disposition->ref);
    break;
  case REASON_COLLECTED: buffer_text(out, "another session took it over"); break;
  case REASON_CAP_OLDEST:
  case REASON_CAP_LOWEST:
    buffer_format(out,
                  "more were pending than the setting delivery.max_items allows, and "
                  "delivery.overflow is %s",
                  disposition->reason == REASON_CAP_OLDEST ? "drop_oldest" : "drop_lowest");
    break;
  case REASON_MASTER_SWITCH:
  case REASON_DAMAGED:
  case REASON_POLLED:
  case REASON_RUNNING:
  case REASON_OVER:
  case REASON_SILENT:
  case REASON_SESSION_CLOSED:
  case REASON_NONE:
  case REASON_COUNT: buffer_text(out, fixed_reasons[disposition->reason]); break;
  }
}
