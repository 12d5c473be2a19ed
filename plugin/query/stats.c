/* SPDX-License-Identifier: MIT
 *
 * query/stats.c: the query `stats`.
 */
#include "common/error.h"
#include "query/answer.h"
#include "query/latency.h"
#include "session/ledger.h"
#include "session/stored_run.h"

struct source_count {
  struct tidings_span source;
  uint64_t count;
};

struct tally {
  struct arena *arena;
  struct source_count *sources;
  size_t source_count, source_capacity;
  uint64_t levels[LEVEL_COUNT];
  struct latency_times times;
  struct tidings_error *error;
};

static int count_item(void *context, const struct item *item) {
  struct tally *tally = context;
  struct source_count *found = NULL;
  if (!item->note.message.len) return 0; /* damaged */
  tally->levels[item->note.level]++;
  if (query_latency_note(&tally->times, tally->arena, item->n, item->time_ms))
    return fail(tally->error, TIDINGS_E_NOMEM, "no memory to count notifications");
  for (size_t i = 0; !found && i < tally->source_count; i++) {
    if (span_equal(tally->sources[i].source, item->note.source)) found = &tally->sources[i];
  }
  if (!found && tally->source_count == tally->source_capacity) {
    struct source_count *larger =
        arena_enlarge(tally->arena, tally->sources, &tally->source_capacity, sizeof *larger);
    if (!larger) return fail(tally->error, TIDINGS_E_NOMEM, "no memory to count notifications");
    tally->sources = larger;
  }
  if (!found) {
    found = &tally->sources[tally->source_count++];
    *found = (struct source_count){.source = item->note.source};
  }
  found->count++;
  return 0;
}

static void write_tally(struct json_writer *writer, const struct tally *tally) {
  json_open(writer, "by_source", '{');
  for (size_t i = 0; i < tally->source_count; i++)
    json_put_u64_at(writer, tally->sources[i].source, tally->sources[i].count);
  json_close(writer, '}');
  json_open(writer, "by_level", '{');
  for (unsigned i = 0; i < LEVEL_COUNT; i++) json_put_u64(writer, level_name(i), tally->levels[i]);
  json_close(writer, '}');
}

/* The oldest of the pending items, and messages that are not over. */
static int write_waiting(struct question *question, const struct item *items, size_t count,
                         struct tidings_error *error) {
  struct op *op = &question->op;
  struct json_writer *writer = &question->writer;
  struct stored_run stored = {.from = 0};
  size_t queued = 0;
  int code = op->session ? stored_run_load(op, &stored, NULL, 0, NULL, error) : 0;
  if (code) return code;
  for (size_t i = 0; i < stored.turns.count; i++)
    queued += !message_is_over(stored.turns.messages[i].state);
  const struct item *oldest = NULL;
  for (size_t i = 0; i < count; i++) {
    if (!item_is_due(&items[i], op->now_ms)) continue;
    if (!oldest || items[i].time_ms < oldest->time_ms) oldest = &items[i];
  }
  if (oldest) json_put_time(writer, "oldest_pending", oldest->time_ms);
  json_put_u64(writer, "queued", queued);
  json_put_text(writer, "state", run_state_name(op->head.run.state));
  return 0;
}

/* `outcomes` counts all that ever ended; by_source and by_level what the store still holds. */
int query_stats(struct question *question, struct tidings_error *error) {
  struct op *op = &question->op;
  struct json_writer *writer = &question->writer;
  struct tally tally = {.arena = &op->arena, .error = error};
  struct item *items = NULL;
  size_t all = 0;
  int code = op->session ? item_scan(op->txn, op->session, 0, UINT64_MAX, &op->arena, count_item,
                                     &tally, error)
                         : 0;
  if (!code) code = item_pending(op->txn, op->session, &op->head, &op->arena, &items, &all, error);
  if (code) return code;
  size_t count = query_leave_out_ended(items, all);
  json_put_u64(writer, "pushed", question->last);
  json_put_u64(writer, "pending", ledger_pending(&op->head, question->last) - (all - count));
  json_put_u64(writer, "leased", ledger_leased(&op->head));
  json_open(writer, "outcomes", '{');
  for (unsigned i = OUTCOME_DELIVERED; i < OUTCOME_COUNT; i++)
    json_put_u64(writer, outcome_name(i), op->head.outcomes[i]);
  json_close(writer, '}');
  write_tally(writer, &tally);
  code = write_waiting(question, items, count, error);
  return code ? code : query_latency_write(question, &tally.times, error);
}
