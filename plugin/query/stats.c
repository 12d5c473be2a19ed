/* SPDX-License-Identifier: MIT
 *
 * query/stats.c: the query `stats`.
 */
#include "common/error.h"
#include "query/answer.h"
#include "session/ledger.h"

struct source_count {
  struct tidings_span source;
  uint64_t count;
};

struct tally {
  struct arena *arena;
  struct source_count *sources;
  size_t source_count, source_capacity;
  uint64_t levels[LEVEL_COUNT];
  struct tidings_error *error;
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

/* `outcomes` counts all that ever ended; by_source and by_level what the store still holds. */
int query_stats(struct question *question, struct tidings_error *error) {
  struct json_writer *writer = &question->writer;
  struct tally tally = {.arena = &question->op.arena, .error = error};
  int code = 0;
  if (question->op.session)
    code = item_scan(question->op.txn, question->op.session, 0, UINT64_MAX, &question->op.arena,
                     count_item, &tally, error);
  if (code) return code;
  json_put_u64(writer, "pushed", question->last);
  json_put_u64(writer, "pending", ledger_pending(&question->op.head, question->last));
  json_put_u64(writer, "leased", ledger_leased(&question->op.head));
  json_open(writer, "outcomes", '{');
  for (unsigned i = OUTCOME_DELIVERED; i < OUTCOME_COUNT; i++)
    json_put_u64(writer, outcome_name(i), question->op.head.outcomes[i]);
  json_close(writer, '}');
  write_tally(writer, &tally);
  return 0;
}
