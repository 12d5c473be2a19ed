/* SPDX-License-Identifier: MIT
 *
 * inspect/counts.c: how a session stands: pending, status, stats.
 */
#include <stdlib.h>

#include "base/error.h"
#include "delivery/ledger.h"
#include "inspect/inspect.h"

int inspect_pending(struct inspection *inspection, struct tidings_error *error) {
  struct json_writer *writer = &inspection->writer;
  const struct item *items = NULL;
  size_t count = 0;
  int code = item_pending(inspection->txn, inspection->session, &inspection->head, &inspection->arena, &items, &count, error);
  if (code) return code;
  json_put_u64(writer, "count", count);
  json_put_u64(writer, "leased", ledger_leased(&inspection->head));
  json_open(writer, "items", '[');
  for (size_t i = 0; i < count && i < inspection->query->limit; i++) {
    json_open(writer, NULL, '{');
    json_put_id(writer, "id", public_id(inspection->session, items[i].n));
    write_kind(writer, &items[i].note);
    json_put_text(writer, "level", level_name(items[i].note.level));
    json_put_string(writer, "message", items[i].note.message);
    json_put_time(writer, "time", items[i].time_ms);
    json_close(writer, '}');
  }
  json_close(writer, ']');
  return 0;
}

static void write_attachment(struct json_writer *writer, const struct head *head) {
  if (!head->owner.pid) {
    json_put_text(writer, "attachment", NULL);
    return;
  }
  json_open(writer, "attachment", '{');
  json_put_u64(writer, "pid", head->owner.pid);
  json_put_bool(writer, "alive", owner_alive(&head->owner));
  json_put_u64(writer, "epoch", head->epoch);
  json_put_time(writer, "since", head->attached_ms);
  json_put_string(writer, "cwd", head->cwd);
  json_put_string(writer, "host", head->host);
  json_close(writer, '}');
}

/* This version runs no turns: a session is idle. */
int inspect_status(struct inspection *inspection, struct tidings_error *error) {
  struct json_writer *writer = &inspection->writer;
  (void)error;
  json_put_text(writer, "state", "idle");
  json_open(writer, "messages", '[');
  json_close(writer, ']');
  json_put_text(writer, "started_at", NULL);
  json_put_u64(writer, "attempt", 0);
  json_put_text(writer, "message", NULL);
  json_open(writer, "orphaned", '[');
  json_close(writer, ']');
  write_attachment(writer, &inspection->head);
  return 0;
}

/* -- stats --------------------------------------------------------------------------------------------------------------------------------------- */

struct source_count {
  struct tidings_span source;
  uint64_t count;
};

struct tally {
  struct arena *arena;
  struct source_count *sources;
  size_t source_count, source_capacity;
  uint64_t levels[LEVEL_COUNT];
  bool no_memory;
};

static int count_item(void *context, const struct item *item) {
  struct tally *tally = context;
  struct source_count *found = NULL;
  if (!item->note.message.len) return 0; /* damaged */
  tally->levels[item->note.level]++;
  for (size_t i = 0; !found && i < tally->source_count; i++) {
    if (span_equal(tally->sources[i].source, item->note.source)) found = &tally->sources[i];
  }
  if (!found && tally->source_count == tally->source_capacity) {
    size_t capacity = tally->source_capacity ? tally->source_capacity * 2 : 16;
    struct source_count *larger = arena_zalloc(tally->arena, capacity, sizeof *larger);
    tally->no_memory = !larger;
    if (!larger) return 1;
    if (tally->source_count) memcpy(larger, tally->sources, tally->source_count * sizeof *larger);
    tally->sources = larger;
    tally->source_capacity = capacity;
  }
  if (!found) {
    found = &tally->sources[tally->source_count++];
    found->source = item->note.source;
  }
  found->count++;
  return 0;
}

static void write_tally(struct json_writer *writer, const struct tally *tally) {
  json_open(writer, "by_source", '{');
  for (size_t i = 0; i < tally->source_count; i++) {
    json_put_u64_at(writer, tally->sources[i].source, tally->sources[i].count);
  }
  json_close(writer, '}');
  json_open(writer, "by_level", '{');
  for (unsigned i = 0; i < LEVEL_COUNT; i++) json_put_u64(writer, level_name(i), tally->levels[i]);
  json_close(writer, '}');
}

/* `outcomes` counts all that ever ended; by_source and by_level what the store still holds. */
int inspect_stats(struct inspection *inspection, struct tidings_error *error) {
  struct json_writer *writer = &inspection->writer;
  struct tally tally = {.arena = &inspection->arena};
  int code = 0;
  if (inspection->session)
    code = item_scan(inspection->txn, inspection->session, 0, UINT64_MAX, &inspection->arena, count_item, &tally, error);
  if (!code && tally.no_memory) code = fail(error, TIDINGS_E_NOMEM, "no memory to count notifications");
  if (code) return code;
  json_put_u64(writer, "pushed", inspection->last);
  json_put_u64(writer, "pending", ledger_pending(&inspection->head, inspection->last));
  json_put_u64(writer, "leased", ledger_leased(&inspection->head));
  json_open(writer, "outcomes", '{');
  for (unsigned i = OUTCOME_DELIVERED; i < OUTCOME_COUNT; i++) json_put_u64(writer, outcome_name(i), inspection->head.outcomes[i]);
  json_close(writer, '}');
  write_tally(writer, &tally);
  return 0;
}
