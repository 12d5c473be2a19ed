/* SPDX-License-Identifier: MIT
 *
 * query/counts.c: how a session stands: pending, status, stats.
 */
#include <stdlib.h>

#include "common/error.h"
#include "query/inspect.h"
#include "session/ledger.h"
#include "session/reply.h"

int inspect_pending(struct inspection *inspection, struct tidings_error *error) {
  struct json_writer *writer = &inspection->writer;
  struct item *items = NULL;
  size_t count = 0;
  int code = item_pending(inspection->op.txn, inspection->op.session, &inspection->op.head,
                          &inspection->op.arena, &items, &count, error);
  if (code) return code;
  json_put_u64(writer, "count", count);
  json_put_u64(writer, "leased", ledger_leased(&inspection->op.head));
  json_open(writer, "items", '[');
  for (size_t i = 0; i < count && i < inspection->query->limit; i++) {
    json_open(writer, NULL, '{');
    json_put_id(writer, "id", public_id(inspection->op.session, items[i].n));
    write_kind(writer, &items[i].note);
    json_put_text(writer, "level", level_name(items[i].note.level));
    json_put_string(writer, "message", items[i].note.message);
    json_put_time(writer, "time", items[i].time_ms);
    if (items[i].note.caused_by.len) json_put_string(writer, "caused_by", items[i].note.caused_by);
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

static void write_text_or_null(struct json_writer *writer, const char *name,
                               struct tidings_span text) {
  if (text.len) json_put_string(writer, name, text);
  else json_put_text(writer, name, NULL);
}

static void write_time_or_null(struct json_writer *writer, const char *name, int64_t ms) {
  if (ms) json_put_i64(writer, name, ms);
  else json_put_text(writer, name, NULL);
}

/* The status of the last reply, in the same words; and everything that waits. */
static void write_messages(struct json_writer *writer, const struct turns *turns) {
  json_open(writer, "queued", '[');
  for (size_t i = 0; i < turns->count; i++) {
    const struct message *message = &turns->messages[i];
    if (message_is_over(message->state)) continue;
    json_open(writer, NULL, '{');
    json_put_string(writer, "id", message->id);
    json_put_text(writer, "state", message_state_name(message->state));
    write_time_or_null(writer, "queued_at", message->waited ? message->stamp_ms : 0);
    json_close(writer, '}');
  }
  json_close(writer, ']');
}

int inspect_status(struct inspection *inspection, struct tidings_error *error) {
  static const char *const phases[] = {NULL, "streaming", "tools"};
  struct json_writer *writer = &inspection->writer;
  struct turning turning = {.from = 0};
  struct tidings_reply reply = {.size = sizeof reply};
  int code =
      inspection->op.session ? turning_load(&inspection->op, &turning, NULL, 0, NULL, error) : 0;
  if (code) return code;
  const struct run *run = &turning.turns.run;
  if (reply_status(&reply, run, &turning.turns, &inspection->op.arena))
    return fail(error, TIDINGS_E_NOMEM, "no memory for a status");
  const struct tidings_status *status = reply.status;
  json_put_text(writer, "state", run_state_name(run->state));
  if (run->phase) json_put_text(writer, "phase", phases[run->phase]);
  json_open(writer, "messages", '[');
  for (size_t i = 0; i < status->message_count; i++)
    json_put_string(writer, NULL, *status->messages[i]);
  json_close(writer, ']');
  write_time_or_null(writer, "started_at", run->started_ms);
  json_put_u64(writer, "attempt", run->attempt);
  write_text_or_null(writer, "message", run->words);
  json_open(writer, "orphaned", '[');
  for (size_t i = 0; i < status->orphaned_count; i++)
    json_put_string(writer, NULL, *status->orphaned[i]);
  json_close(writer, ']');
  write_messages(writer, &turning.turns);
  json_put_bool(writer, "compacting", run->compacting);
  write_attachment(writer, &inspection->op.head);
  return 0;
}

/* -- stats ------------------------------------------------------------------------------------- */

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
  struct tally tally = {.arena = &inspection->op.arena};
  int code = 0;
  if (inspection->op.session)
    code = item_scan(inspection->op.txn, inspection->op.session, 0, UINT64_MAX,
                     &inspection->op.arena, count_item, &tally, error);
  if (!code && tally.no_memory)
    code = fail(error, TIDINGS_E_NOMEM, "no memory to count notifications");
  if (code) return code;
  json_put_u64(writer, "pushed", inspection->last);
  json_put_u64(writer, "pending", ledger_pending(&inspection->op.head, inspection->last));
  json_put_u64(writer, "leased", ledger_leased(&inspection->op.head));
  json_open(writer, "outcomes", '{');
  for (unsigned i = OUTCOME_DELIVERED; i < OUTCOME_COUNT; i++)
    json_put_u64(writer, outcome_name(i), inspection->op.head.outcomes[i]);
  json_close(writer, '}');
  write_tally(writer, &tally);
  return 0;
}
