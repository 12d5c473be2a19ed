/* SPDX-License-Identifier: MIT
 *
 * query/totals.c: the query `totals`: sums over all sessions, a page of them at a time. It names no
 * session. For each one it reads what waits and what was delivered last, not the history.
 */
#include <string.h>

#include "common/error.h"
#include "query/answer.h"
#include "query/latency.h"
#include "session/ledger.h"
#include "session/stored_run.h"
#include "store/list.h"

enum { SESSIONS_AT_ONCE = 2048, MOST_SOURCES = 50 };
enum { NOT_RUNNING = RUN_STATE_COUNT, DAMAGED, STATES }; /* states beside those of a run */

struct sums {
  uint64_t states[STATES], outcomes[OUTCOME_COUNT], levels[LEVEL_COUNT];
  uint64_t pushed, pending, leased, queued, others; /* others: beyond MOST_SOURCES */
  int64_t oldest_ms;                                /* 0: nothing is pending */
  struct source_sum {
    struct tidings_span source;
    uint64_t count;
  } sources[MOST_SOURCES];
  size_t source_count;
  struct latency latency;
};

/* A page of sessions, and the sums over them. */
struct summing {
  struct question *question;
  struct sums *sums;
  uint32_t numbers[SESSIONS_AT_ONCE];
  size_t count;
  int64_t leased_ms; /* of the delivery that is counted */
  struct tidings_error *error;
};

static int no_memory_for_sums(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory to count notifications");
}

static int take_number(void *context, struct tidings_span name, uint32_t number) {
  struct summing *summing = context;
  (void)name;
  summing->numbers[summing->count++] = number;
  return 0;
}

static void note_oldest(struct sums *sums, int64_t time_ms) {
  if (!sums->oldest_ms || time_ms < sums->oldest_ms) sums->oldest_ms = time_ms;
}

/* A source that is called `other` counts with those beyond MOST_SOURCES, whose sum has that name.
 */
static int count_source(struct summing *summing, struct tidings_span source) {
  struct sums *sums = summing->sums;
  size_t i = 0;
  while (i < sums->source_count && !span_equal(sums->sources[i].source, source)) i++;
  if (i == MOST_SOURCES || span_equal(source, span_text("other"))) {
    sums->others++;
    return 0;
  }
  if (i == sums->source_count) {
    sums->sources[i].count = 0;
    if (arena_copy(&summing->question->op.arena, source, &sums->sources[i].source))
      return no_memory_for_sums(summing->error);
    sums->source_count++;
  }
  sums->sources[i].count++;
  return 0;
}

static int count_items(struct summing *summing, struct op *op, size_t *ret_ended) {
  struct sums *sums = summing->sums;
  struct item *items = NULL;
  size_t all = 0;
  int code =
      item_pending(op->txn, op->session, &op->head, &op->arena, &items, &all, summing->error);
  size_t count = code ? 0 : query_leave_out_ended(items, all);
  *ret_ended = all - count;
  for (size_t i = 0; !code && i < count; i++) {
    sums->levels[items[i].note.level]++;
    if (item_is_due(&items[i], op->now_ms)) note_oldest(sums, items[i].time_ms);
    code = count_source(summing, items[i].note.source);
  }
  return code;
}

static int count_wait(void *context, const struct item *item) {
  struct summing *summing = context;
  if (item->note.message.len)
    query_latency_count(&summing->sums->latency, summing->leased_ms - item->time_ms);
  return 0;
}

static int count_shown(struct summing *summing, struct op *op, const struct delivery *delivery) {
  int code = 0;
  summing->leased_ms = delivery->leased_ms;
  for (size_t i = 0; !code && i < delivery->disposition_count; i++) {
    const struct disposition_range *range = &delivery->dispositions[i];
    if (range->outcome != OUTCOME_DELIVERED) continue;
    if (item_is_near(op->txn, op->session, range->first))
      code = item_scan(op->txn, op->session, range->first, range->last, NULL, count_wait, summing,
                       summing->error);
  }
  return code;
}

/* Counts from the newest delivery backwards. It passes over a damaged one, and stops at a forgotten
 * one, because all before that are forgotten too. */
static int count_deliveries(struct summing *summing, struct op *op) {
  const struct latency *latency = &summing->sums->latency;
  struct delivery delivery;
  int code = 0;
  for (uint64_t n = op->head.last_delivery; !code && n; n--) {
    if (!delivery_is_near(op->txn, op->session, n)) break;
    int found = delivery_get(op->txn, op->session, n, &op->arena, &delivery, NULL);
    if (found == TIDINGS_E_NOMEM) return no_memory_for_sums(summing->error);
    if (found == TIDINGS_E_NOT_FOUND || (!found && delivery.leased_ms < latency->since_ms)) break;
    if (!found && query_latency_takes(latency, &delivery))
      code = count_shown(summing, op, &delivery);
  }
  return code;
}

static int count_session(struct summing *summing, struct op *op) {
  struct sums *sums = summing->sums;
  struct stored_run stored = {.from = 0};
  uint64_t last = 0;
  size_t ended = 0;
  int code = head_get(op->txn, op->session, &op->arena, &op->head, summing->error);
  if (!code) code = item_last(op->txn, op->session, &op->head, &last, summing->error);
  if (!code) code = stored_run_load(op, &stored, NULL, 0, NULL, summing->error);
  if (!code) code = count_items(summing, op, &ended);
  if (!code) code = count_deliveries(summing, op);
  if (code) return code;
  bool alive = query_owner_alive(summing->question, &op->head.owner);
  sums->states[alive ? op->head.run.state : NOT_RUNNING]++;
  sums->pushed += last;
  sums->pending += ledger_pending(&op->head, last) - ended;
  sums->leased += ledger_leased(&op->head);
  for (size_t i = 0; i < stored.turns.count; i++)
    sums->queued += !message_is_over(stored.turns.messages[i].state);
  for (unsigned i = 0; i < OUTCOME_COUNT; i++) sums->outcomes[i] += op->head.outcomes[i];
  return 0;
}

/* A damaged session is counted under a state of its own. */
static int count_page(struct summing *summing) {
  int code = 0;
  for (size_t i = 0; !code && i < summing->count; i++) {
    struct op op = summing->question->op; /* the same snapshot, and memory of its own */
    op.session = summing->numbers[i];
    op.known = NULL;
    op.arena = (struct arena)ARENA_EMPTY;
    code = count_session(summing, &op);
    arena_free(&op.arena);
    if (code == TIDINGS_E_STORE) {
      summing->sums->states[DAMAGED]++;
      code = 0;
    }
  }
  return code;
}

static int sum_up_page(struct summing *summing, uint64_t *place) {
  const struct op *op = &summing->question->op;
  int code = 0;
  summing->count = 0;
  if (op->session) summing->numbers[summing->count++] = op->session;
  else if (!op->name.len)
    code = session_page(op->txn, *place, SESSIONS_AT_ONCE, take_number, summing, place,
                        summing->error);
  return code ? code : count_page(summing);
}

static int sum_up(struct question *question, struct sums *sums, struct tidings_error *error) {
  struct summing *summing = arena_zalloc(&question->op.arena, 1, sizeof *summing);
  uint64_t place = 0;
  if (!summing) return no_memory_for_sums(error);
  *summing = (struct summing){.question = question, .sums = sums, .error = error};
  sums->latency.since_ms = question->op.now_ms - LATENCY_WINDOW_MS;
  int code = sum_up_page(summing, &place);
  while (!code && place) code = sum_up_page(summing, &place);
  return code;
}

/* -- the figures of a database ----------------------------------------------------------------- */

struct figures {
  struct json_writer *writer;
  struct sums *sums;
  const char *open; /* the object that is being written; NULL: none */
  uint64_t inbox;
};

static void close_open(struct figures *figures, const char *name) {
  if (figures->open) json_close(figures->writer, '}');
  figures->open = name;
  if (name) json_open(figures->writer, name, '{');
}

static void count_inbox(struct figures *figures, const struct db_figure *figure) {
  unsigned level = figure->of.len ? (unsigned)(figure->of.ptr[0] - '0') : LEVEL_COUNT;
  figures->inbox += figure->value;
  figures->sums->pending += figure->value;
  figures->sums->pushed += figure->value;
  if (level < LEVEL_COUNT) figures->sums->levels[level] += figure->value;
}

/* Figures of one name come one after the other, and so share an object. */
static void write_figure(void *context, const struct db_figure *figure) {
  struct figures *figures = context;
  if (strcmp(figure->name, "inbox") == 0) {
    count_inbox(figures, figure);
  } else if (strcmp(figure->name, "inbox_oldest_ms") == 0) {
    note_oldest(figures->sums, (int64_t)figure->value);
  } else if (!figure->of.len) {
    close_open(figures, NULL);
    json_put_u64(figures->writer, figure->name, figure->value);
  } else {
    if (!figures->open || strcmp(figures->open, figure->name) != 0)
      close_open(figures, figure->name);
    json_put_u64_at(figures->writer, figure->of, figure->value);
  }
}

/* Writes "database", for a store in one. */
static int write_figures(struct question *question, struct sums *sums,
                         struct tidings_error *error) {
  struct figures figures = {.writer = &question->writer, .sums = sums};
  if (!db_remote || question->op.name.len) return 0;
  json_open(figures.writer, "database", '{');
  int code = store_figures(question->op.txn, write_figure, &figures, error);
  close_open(&figures, NULL);
  json_put_u64(figures.writer, "inbox", figures.inbox);
  json_close(figures.writer, '}');
  return code;
}

static void write_sums(struct json_writer *writer, const struct sums *sums) {
  json_open(writer, "sessions", '{');
  for (unsigned i = 0; i < RUN_STATE_COUNT; i++)
    json_put_u64(writer, run_state_name(i), sums->states[i]);
  json_put_u64(writer, "not_running", sums->states[NOT_RUNNING]);
  json_put_u64(writer, "damaged", sums->states[DAMAGED]);
  json_close(writer, '}');
  json_put_u64(writer, "pushed", sums->pushed);
  json_put_u64(writer, "pending", sums->pending);
  json_put_u64(writer, "leased", sums->leased);
  json_put_u64(writer, "queued", sums->queued);
  if (sums->oldest_ms) json_put_time(writer, "oldest_pending", sums->oldest_ms);
  json_open(writer, "outcomes", '{');
  for (unsigned i = OUTCOME_DELIVERED; i < OUTCOME_COUNT; i++)
    json_put_u64(writer, outcome_name(i), sums->outcomes[i]);
  json_close(writer, '}');
  json_open(writer, "by_level", '{');
  for (unsigned i = 0; i < LEVEL_COUNT; i++) json_put_u64(writer, level_name(i), sums->levels[i]);
  json_close(writer, '}');
  json_open(writer, "by_source", '{');
  for (size_t i = 0; i < sums->source_count; i++)
    json_put_u64_at(writer, sums->sources[i].source, sums->sources[i].count);
  if (sums->others) json_put_u64(writer, "other", sums->others);
  json_close(writer, '}');
  query_latency_put(writer, &sums->latency);
}

int query_totals(struct question *question, struct tidings_error *error) {
  struct sums *sums = arena_zalloc(&question->op.arena, 1, sizeof *sums);
  int code = sums ? sum_up(question, sums, error) : no_memory_for_sums(error);
  if (!code) code = write_figures(question, sums, error);
  if (!code) write_sums(&question->writer, sums);
  return code;
}
