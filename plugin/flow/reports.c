/* SPDX-License-Identifier: MIT
 *
 * flow/reports.c: see reports.h. What only makes news is pushed as a notification is, many at once
 * in one commit. What depends on memory or takes news back is done in a write of its own, all of it
 * or nothing, but only if a snapshot shows that there is something to do.
 */
#include "flow/reports.h"

#include "common/error.h"
#include "rules/policy/plan.h"
#include "rules/producers/producers.h"
#include "session/ledger.h"
#include "session/urging.h"

struct intake { /* of one report */
  struct instance *instance;
  const struct settings *settings;
  const struct event *event;
  int64_t now_ms;
  store_deadline deadline;
  struct arena arena;
  struct produced produced;
  bool duplicate;
};

static int no_memory(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory for what was reported");
}

static struct push push_of(const struct intake *intake) {
  return (struct push){
      .session = intake->event->session,
      .note = &intake->produced.note,
      .source = intake->event->source,
      .id = intake->event->id,
      .now_ms = intake->now_ms,
      .dedup_window_ms = intake->settings->dedup_window_ms,
      .pending_limit = intake->settings->pending_per_session,
      .rings = notification_rings(&intake->produced.note),
  };
}

/* The fates of pending items that what was produced takes back. */
static int find_withdrawn(struct intake *intake, struct store_txn *txn, uint32_t session,
                          const struct head *head, struct fate **ret_fates, size_t *ret_count,
                          struct tidings_error *error) {
  struct item *items = NULL;
  size_t count = 0;
  *ret_count = 0;
  if (!intake->produced.withdraw_handle.len) return 0;
  int code = item_pending(txn, session, head, &intake->arena, &items, &count, error);
  if (code) return code;
  *ret_fates = arena_zalloc(&intake->arena, count, sizeof **ret_fates);
  if (!*ret_fates) return no_memory(error);
  *ret_count = plan_withdrawal(items, count, intake->produced.withdraw_handle,
                               intake->produced.withdraw_reason, *ret_fates);
  return 0;
}

/* By a snapshot: what comes of the report, and whether there is anything to write. */
static int look(struct intake *intake, bool *ret_changes, struct tidings_error *error) {
  struct memory memory = {0};
  struct store_txn *txn;
  struct fate *fates = NULL;
  struct head head;
  size_t withdrawn = 0;
  uint32_t session;
  int code = store_read(intake->instance->store, &txn, error);
  if (code) return code;
  code = session_find(txn, intake->event->session, &session, error);
  if (!code) code = head_get(txn, session, &intake->arena, &head, error);
  if (!code) code = memory_get(txn, session, &memory, error);
  if (!code && produce(intake->event, intake->settings, &memory, &intake->arena, &intake->produced))
    code = no_memory(error);
  if (!code) code = find_withdrawn(intake, txn, session, &head, &fates, &withdrawn, error);
  store_end(txn);
  *ret_changes = withdrawn || intake->produced.memory.budget_percent != memory.budget_percent;
  return code;
}

/* A delivery that showed nothing, as when all that was pending is removed. */
static int withdraw(struct intake *intake, struct store_txn *txn, uint32_t session,
                    struct tidings_error *error) {
  struct delivery delivery = {.carrier = CARRIER_NONE,
                              .state = DELIVERY_COMMITTED,
                              .settled_by = SETTLED_ON_RETURN,
                              .leased_ms = intake->now_ms,
                              .settled_ms = intake->now_ms};
  struct fate *fates = NULL;
  struct head head;
  size_t count = 0;
  int code = head_get(txn, session, &intake->arena, &head, error);
  if (!code) code = find_withdrawn(intake, txn, session, &head, &fates, &count, error);
  if (code || !count) return code;
  delivery.n = head.last_delivery + 1;
  delivery.epoch = head.epoch;
  if (delivery.n > UINT32_MAX)
    return fail(error, TIDINGS_E_FULL,
                "the session has had 4,294,967,295 deliveries; open another");
  code = item_last(txn, session, &head, &delivery.after, error);
  if (code) return code;
  head.last_delivery = delivery.n;
  if (ledger_ranges(fates, count, &intake->arena, &delivery.fates, &delivery.fate_count) ||
      ledger_lease(&head, &delivery, &intake->arena) ||
      ledger_commit(&head, &delivery, &intake->arena))
    return no_memory(error);
  code = delivery_put(txn, session, &delivery, error);
  return code ? code : head_put(txn, session, &head, error);
}

static int change(struct intake *intake, struct store_txn *txn, struct tidings_error *error) {
  const struct event *event = intake->event;
  struct memory memory;
  uint32_t session;
  int code = session_add(txn, event->session, &session, error);
  if (!code && event->id.len) {
    code =
        dedup_seen(txn, session, event->source, event->id,
                   intake->now_ms - intake->settings->dedup_window_ms, &intake->duplicate, error);
    if (code || intake->duplicate) return code;
    code = dedup_put(txn, session, event->source, event->id, intake->now_ms,
                     intake->settings->dedup_window_ms, error);
  }
  if (!code) code = memory_get(txn, session, &memory, error);
  if (code) return code;
  if (produce(event, intake->settings, &memory, &intake->arena, &intake->produced))
    return no_memory(error);
  if (intake->produced.memory.budget_percent != memory.budget_percent)
    code = memory_put(txn, session, &intake->produced.memory, error);
  if (!code) code = withdraw(intake, txn, session, error);
  const struct push push = push_of(intake);
  if (!code && intake->produced.speaks) code = push_in(txn, &push, error);
  return code ? code : store_sweep(txn, session, intake->now_ms, error);
}

static int write_change(struct intake *intake, struct tidings_error *error) {
  struct store_txn *txn;
  int code = store_write(intake->instance->store, intake->deadline, &txn, error);
  if (code) return code;
  code = change(intake, txn, error);
  if (!code && !intake->duplicate) return store_commit(txn, error);
  store_end(txn);
  return code;
}

static int take(struct intake *intake, struct tidings_error *error) {
  static const struct memory nothing = {0};
  const struct event *event = intake->event;
  bool changes = false;
  if (produce(event, intake->settings, &nothing, &intake->arena, &intake->produced))
    return no_memory(error);
  bool only_speaks = intake->produced.speaks && !intake->produced.withdraw_handle.len &&
                     !produce_remembers(event->type);
  if (only_speaks) {
    const struct push push = push_of(intake);
    return store_push(intake->instance->store, &push, intake->deadline, &intake->duplicate, error);
  }
  if (event->id.len) return write_change(intake, error);
  int code = look(intake, &changes, error);
  return code || !changes ? code : write_change(intake, error);
}

int take_report(struct instance *instance, const struct settings *settings,
                const struct event *event, int64_t now_ms, store_deadline deadline,
                bool *ret_duplicate, bool *ret_asks, struct tidings_error *error) {
  struct intake intake = {.instance = instance,
                          .settings = settings,
                          .event = event,
                          .now_ms = now_ms,
                          .deadline = deadline};
  int code = take(&intake, error);
  arena_free(&intake.arena);
  if (!code) {
    *ret_duplicate = intake.duplicate;
    *ret_asks = intake.produced.speaks && notification_rings(&intake.produced.note);
  }
  return code;
}
