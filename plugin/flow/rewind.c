/* SPDX-License-Identifier: MIT
 *
 * flow/rewind.c: the transcript has lost carriers, or has some of them again. Leases have ended
 * before this. A notification whose carriers are all gone is pending again under its old number;
 * one whose carrier is back counts as delivered.
 */
#include <stdlib.h>

#include "common/error.h"
#include "common/json_write.h"
#include "flow/internal.h"
#include "session/attach.h"
#include "session/ending.h"
#include "session/inherit.h"
#include "session/ledger.h"
#include "session/outdated.h"
#include "store/list.h"

enum carrier_now {
  CARRIER_IS_NONE, /* the list cannot name its id, or is older than the delivery */
  CARRIER_STAYS,
  CARRIER_IS_GONE,
  CARRIER_IS_BACK
};

struct numbers { /* ascending once they are sorted */
  uint64_t *n;
  size_t count, capacity;
};

struct rewind {
  struct op *op;
  const struct session_event *event;
  struct numbers named; /* deliveries, by their public ids */
  struct delivery *deliveries;
  size_t delivery_count, delivery_capacity;
  struct numbers gone, held, back; /* items delivered on such carriers */
  struct numbers removed;          /* items that have ended in another way, and stay so */
  size_t there;                    /* how many items of `gone` and `held` the store still has */
  struct numbers pending;          /* what is pending again */
  struct numbers parents;          /* deliveries of the session that this one was forked from */
  struct disposition *expired;     /* those of `pending` that end at once */
  size_t expired_count;
  struct rewound *result;
  struct tidings_error *error;
};

static int no_memory_to_rewind(const struct rewind *rewind) {
  return fail(rewind->error, TIDINGS_E_NOMEM, "no memory to rewind the session");
}

/* -- numbers ----------------------------------------------------------------------------------- */

static int add_number(struct rewind *rewind, struct numbers *numbers, uint64_t n) {
  if (numbers->count == numbers->capacity) {
    uint64_t *larger =
        arena_enlarge(&rewind->op->arena, numbers->n, &numbers->capacity, sizeof *larger);
    if (!larger) return no_memory_to_rewind(rewind);
    numbers->n = larger;
  }
  numbers->n[numbers->count++] = n;
  return 0;
}

static int compare_numbers(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

static size_t sort_numbers(uint64_t *n, size_t count) {
  size_t kept = 0;
  if (count) qsort(n, count, sizeof *n, compare_numbers);
  for (size_t i = 0; i < count; i++) {
    if (!kept || n[kept - 1] != n[i]) n[kept++] = n[i];
  }
  return kept;
}

static bool has_number(const struct numbers *numbers, uint64_t n) {
  return numbers->count &&
         bsearch(&n, numbers->n, numbers->count, sizeof *numbers->n, compare_numbers);
}

/* Adds the items of a delivery that were delivered, or those that were not. */
static int add_items(struct rewind *rewind, struct numbers *numbers,
                     const struct delivery *delivery, bool delivered) {
  int code = 0;
  for (size_t i = 0; i < delivery->disposition_count; i++) {
    const struct disposition_range *disposition = &delivery->dispositions[i];
    if ((disposition->outcome == OUTCOME_DELIVERED) != delivered) continue;
    for (uint64_t n = disposition->first; !code && n <= disposition->last; n++)
      code = add_number(rewind, numbers, n);
  }
  return code;
}

/* -- which carriers the transcript has --------------------------------------------------------- */

static int keep_delivery(void *context, const struct delivery *delivery) {
  struct rewind *rewind = context;
  if (rewind->delivery_count == rewind->delivery_capacity) {
    struct delivery *larger = arena_enlarge(&rewind->op->arena, rewind->deliveries,
                                            &rewind->delivery_capacity, sizeof *larger);
    if (!larger) return no_memory_to_rewind(rewind);
    rewind->deliveries = larger;
  }
  rewind->deliveries[rewind->delivery_count++] = *delivery;
  return 0;
}

/* The id by which a transcript names the carrier; 0: it has none. With settle_on_return the host
 * never got the id, so its absence from a list says nothing. */
static uint64_t carrier_id(const struct op *op, const struct delivery *delivery) {
  bool inherited = delivery->carrier == CARRIER_NONE && delivery->disposition_count &&
                   delivery->dispositions[0].reason == REASON_PARENT;
  if (inherited) return delivery->dispositions[0].ref;
  if (delivery->carrier != CARRIER_TOOL_RESULT && delivery->carrier != CARRIER_CHAT_REQUEST)
    return 0;
  return delivery->settled_by == SETTLED_ON_RETURN ? 0 : delivery_id(op->session, delivery);
}

static enum carrier_now look_at_carrier(const struct rewind *rewind,
                                        const struct delivery *delivery) {
  uint64_t id = carrier_id(rewind->op, delivery);
  bool named = has_number(&rewind->named, id);
  if (!id || attach_is_later(rewind->op, delivery->n)) return CARRIER_IS_NONE;
  if (delivery->state == DELIVERY_COMMITTED) return named ? CARRIER_STAYS : CARRIER_IS_GONE;
  return named ? CARRIER_IS_BACK : CARRIER_IS_NONE;
}

static int sort_items(struct rewind *rewind, const struct delivery *delivery) {
  bool committed = delivery->state == DELIVERY_COMMITTED;
  enum carrier_now now = look_at_carrier(rewind, delivery);
  int code = 0;
  if (now == CARRIER_IS_GONE) code = add_items(rewind, &rewind->gone, delivery, true);
  else if (now == CARRIER_IS_BACK) code = add_items(rewind, &rewind->back, delivery, true);
  else if (committed) code = add_items(rewind, &rewind->held, delivery, true);
  if (!code && (committed || delivery->state == DELIVERY_REWOUND))
    code = add_items(rewind, &rewind->removed, delivery, false);
  return code;
}

static int sort_deliveries(struct rewind *rewind) {
  struct numbers *all[] = {&rewind->gone, &rewind->held, &rewind->back, &rewind->removed};
  int code = delivery_scan(rewind->op->txn, rewind->op->session, &rewind->op->arena, keep_delivery,
                           rewind, rewind->error);
  for (size_t i = 0; !code && i < rewind->delivery_count; i++)
    code = sort_items(rewind, &rewind->deliveries[i]);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    all[i]->count = sort_numbers(all[i]->n, all[i]->count);
  return code;
}

/* -- what is pending again --------------------------------------------------------------------- */

static int return_item(void *context, const struct item *item) {
  struct rewind *rewind = context;
  bool gone = has_number(&rewind->gone, item->n), held = has_number(&rewind->held, item->n);
  if (!item->note.message.len || !(gone || held) || has_number(&rewind->removed, item->n)) return 0;
  rewind->there++;
  if (held || has_number(&rewind->back, item->n)) return 0;
  if (plan_is_expired(item, rewind->op->now_ms))
    rewind->expired[rewind->expired_count++] =
        (struct disposition){item->n, 0, OUTCOME_EXPIRED, (uint8_t)REASON_TTL};
  return add_number(rewind, &rewind->pending, item->n);
}

/* A notification that the store has forgotten, or whose record is damaged, cannot come back. */
static int find_returned(struct rewind *rewind) {
  struct op *op = rewind->op;
  uint64_t delivered = op->head.outcomes[OUTCOME_DELIVERED];
  rewind->expired = arena_zalloc(&op->arena, rewind->gone.count, sizeof *rewind->expired);
  if (!rewind->expired) return no_memory_to_rewind(rewind);
  int code =
      item_scan(op->txn, op->session, 0, UINT64_MAX, NULL, return_item, rewind, rewind->error);
  rewind->result->forgotten = delivered > rewind->there ? delivered - rewind->there : 0;
  rewind->result->expired = rewind->expired_count;
  if (rewind->pending.count) rewind->result->newest = rewind->pending.n[rewind->pending.count - 1];
  rewind->result->returned = rewind->pending.count - rewind->expired_count;
  return code;
}

/* -- writing ----------------------------------------------------------------------------------- */

/* When a carrier is back, pending notifications of its delivery end as its row says. The row keeps
 * these, beside all that the delivery showed and removed before. */
static int end_again(struct rewind *rewind, struct delivery *delivery) {
  struct op *op = rewind->op;
  struct delivery again = {.n = delivery->n};
  size_t most = 0, kept = 0, ended = 0;
  for (size_t i = 0; i < delivery->disposition_count; i++)
    most += (size_t)(delivery->dispositions[i].last - delivery->dispositions[i].first + 1);
  struct disposition *row = arena_zalloc(&op->arena, most, sizeof *row),
                     *dispositions = arena_zalloc(&op->arena, most, sizeof *dispositions);
  if (!row || !dispositions) return no_memory_to_rewind(rewind);
  for (size_t i = 0; i < delivery->disposition_count; i++) {
    const struct disposition_range *range = &delivery->dispositions[i];
    for (uint64_t n = range->first; n <= range->last; n++) {
      const struct disposition disposition = {n, range->ref, range->outcome, range->reason};
      bool ends = ledger_is_pending(&op->head, n);
      if (ends) dispositions[ended++] = disposition;
      if (ends || range->outcome == OUTCOME_DELIVERED || delivery->state == DELIVERY_REWOUND)
        row[kept++] = disposition;
    }
  }
  if (ledger_ranges(dispositions, ended, &op->arena, &again.dispositions,
                    &again.disposition_count) ||
      ledger_lease(&op->head, &again, &op->arena) || ledger_commit(&op->head, &again, &op->arena) ||
      ledger_ranges(row, kept, &op->arena, &delivery->dispositions, &delivery->disposition_count))
    return no_memory_to_rewind(rewind);
  return 0;
}

static int write_carrier(struct rewind *rewind, struct delivery *delivery, enum carrier_now now) {
  struct op *op = rewind->op;
  int code = 0;
  if (now == CARRIER_IS_GONE) {
    delivery->state = DELIVERY_REWOUND;
    delivery->rewound_ms = op->now_ms ? op->now_ms : 1;
  } else {
    code = end_again(rewind, delivery);
    delivery->state = DELIVERY_COMMITTED;
    delivery->settled_by = SETTLED_BY_RESUME;
    delivery->settled_ms = op->now_ms;
    delivery->rewound_ms = 0;
  }
  rewind->result->gone += now == CARRIER_IS_GONE;
  rewind->result->back += now == CARRIER_IS_BACK;
  return code ? code : delivery_put(op->txn, op->session, delivery, rewind->error);
}

static int write_all(struct rewind *rewind) {
  struct op *op = rewind->op;
  const struct numbers *pending = &rewind->pending;
  int code = 0;
  if (ledger_return(&op->head, pending->n, pending->count, &op->arena))
    return no_memory_to_rewind(rewind);
  for (size_t i = 0; !code && i < pending->count; i++)
    code = item_take_back(op->txn, op->session, pending->n[i], rewind->error);
  if (!code)
    code =
        ending_remove(op, rewind->expired, rewind->expired_count, SETTLED_BY_RESUME, rewind->error);
  for (size_t i = 0; !code && i < rewind->delivery_count; i++) {
    enum carrier_now now = look_at_carrier(rewind, &rewind->deliveries[i]);
    if (now == CARRIER_IS_GONE || now == CARRIER_IS_BACK)
      code = write_carrier(rewind, &rewind->deliveries[i], now);
  }
  return code;
}

/* -- ids that nobody knows --------------------------------------------------------------------- */

/* Is there a delivery of this session with the named id, or may there have been one that was
 * forgotten? */
static bool is_known_here(const struct rewind *rewind, uint64_t id) {
  const struct op *op = rewind->op;
  uint64_t n = public_id_n(id);
  bool may_be_forgotten = n && n <= op->head.last_delivery;
  if (public_id_session(id) != op->session) return false;
  for (size_t i = 0; i < rewind->delivery_count; i++) {
    const struct delivery *delivery = &rewind->deliveries[i];
    if (carrier_id(op, delivery) == id) return true;
    may_be_forgotten &= delivery->n != n;
  }
  return may_be_forgotten;
}

static int add_parent(void *context, const struct item *item) {
  struct rewind *rewind = context;
  struct origin origin;
  if (!item->copied) return 0;
  int code = item_get_origin(rewind->op->txn, rewind->op->session, item->n, &origin, rewind->error);
  return code || !origin.delivery ? code : add_number(rewind, &rewind->parents, origin.delivery);
}

/* Deliveries of the session that this one was forked from are known by the copies. */
static int count_unknown(struct rewind *rewind) {
  size_t unknown = 0, foreign = 0;
  for (size_t i = 0; i < rewind->named.count; i++)
    foreign += public_id_session(rewind->named.n[i]) != rewind->op->session;
  int code = !foreign ? 0
                      : item_scan(rewind->op->txn, rewind->op->session, 0, UINT64_MAX, NULL,
                                  add_parent, rewind, rewind->error);
  struct numbers *parents = &rewind->parents;
  parents->count = sort_numbers(parents->n, parents->count);
  for (size_t i = 0; i < rewind->named.count; i++) {
    uint64_t id = rewind->named.n[i];
    unknown += !is_known_here(rewind, id) && !has_number(parents, id);
  }
  rewind->result->unknown = unknown;
  return code;
}

/* The transcript may be another branch, without the delivery that had the preamble. */
static void keep_preamble(const struct rewind *rewind) {
  struct op *op = rewind->op;
  bool stays = attach_is_later(op, op->head.preamble);
  for (size_t i = 0; i < rewind->delivery_count && !stays; i++) {
    const struct delivery *delivery = &rewind->deliveries[i];
    stays = delivery->n == op->head.preamble &&
            has_number(&rewind->named, delivery_id(op->session, delivery));
  }
  if (!stays) op->head.preamble = 0;
}

/* -- the event --------------------------------------------------------------------------------- */

int rewind_session(struct op *op, const struct session_event *event, struct rewound *ret_rewound,
                   struct tidings_error *error) {
  struct rewound result = {0};
  struct rewind rewind = {.op = op, .event = event, .result = &result, .error = error};
  rewind.named.n = arena_zalloc(&op->arena, event->delivery_count, sizeof *rewind.named.n);
  if (!rewind.named.n) return no_memory_to_rewind(&rewind);
  if (event->delivery_count)
    memcpy(rewind.named.n, event->deliveries, event->delivery_count * sizeof *rewind.named.n);
  rewind.named.count = sort_numbers(rewind.named.n, event->delivery_count);
  int code = attach_find_newest(op, event, error);
  if (!code) code = sort_deliveries(&rewind);
  if (!code) code = find_returned(&rewind);
  if (!code) code = count_unknown(&rewind);
  if (!code) code = write_all(&rewind);
  if (!code) code = inherit_named(op, event, error);
  if (!code) code = outdated_end(op, SETTLED_BY_RESUME, error);
  keep_preamble(&rewind);
  if (!code) *ret_rewound = result;
  return code;
}

int rewind_answer(struct op *op, const struct rewound *rewound, struct tidings_span *ret_json,
                  struct tidings_error *error) {
  struct buffer text = BUFFER_EMPTY;
  struct json_writer writer = {.out = &text};
  json_open(&writer, NULL, '{');
  json_put_u64(&writer, "gone", rewound->gone);
  json_put_u64(&writer, "back", rewound->back);
  json_put_u64(&writer, "returned", rewound->returned);
  json_put_u64(&writer, "expired", rewound->expired);
  json_put_u64(&writer, "forgotten", rewound->forgotten);
  json_put_u64(&writer, "unknown", rewound->unknown);
  json_close(&writer, '}');
  bool failed = text.failed || arena_copy(&op->arena, buffer_view(&text), ret_json);
  buffer_free(&text);
  return failed ? fail(error, TIDINGS_E_NOMEM, "no memory for the reply to a rewind") : 0;
}
