/* SPDX-License-Identifier: MIT
 *
 * flow/collect.c: `session.collected`: a session takes over what waits in sessions that no running
 * host has, such as a mailbox, or the session that was in the same window before. A single
 * transaction moves notifications and messages, so each is in exactly one place after a crash.
 */
#include <stdlib.h>

#include "common/error.h"
#include "common/json_write.h"
#include "event/facts.h"
#include "flow/internal.h"
#include "session/attach.h"
#include "session/copies.h"
#include "session/ending.h"
#include "session/ledger.h"
#include "session/outdated.h"

/* A transaction moves at most COLLECT_MOST notifications. The reply says how many are left. */
enum { COLLECT_MOST = 1000, CRITICAL_SHARE = 20 };

struct source {
  struct op op; /* of the other session; shares the transaction */
  struct stored_run stored;
  struct item *items;
  struct disposition *ends; /* one for each item; OUTCOME_NONE: it stays */
  size_t item_count;
  struct tidings_span *ids; /* of the messages that wait */
  struct tidings_span *contents, *triggers;
  bool *steers;
  int64_t *dues;
  size_t message_count;
};

static int no_memory_to_collect(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory to collect from a session");
}

/* -- the other session ------------------------------------------------------------------------- */

/* Ends the leases and the turn of a host that is gone, so that everything that was not delivered is
 * pending. */
static int recover_source(struct op *op, struct tidings_error *error) {
  bool mine = op_owns_session(op);
  if (!op->head.owner.pid) return 0;
  if (!mine && store_owner_alive(op->instance->store, &op->head.owner))
    return fail(error, TIDINGS_E_OWNED,
                "data.from: session %s is owned by a running host, pid %u; expected sessions that "
                "no other running host has",
                quote(op->name).text, op->head.owner.pid);
  return attach_recover(op, mine, error);
}

static bool waits(const struct message *message) { return !message_is_over(message->state); }

static int read_messages(struct source *source, struct tidings_error *error) {
  struct op *op = &source->op;
  const struct turns *turns = &source->stored.turns;
  int code = stored_run_load(op, &source->stored, NULL, 0, NULL, error);
  if (code) return code;
  source->ids = arena_zalloc(&op->arena, turns->count + 1, sizeof *source->ids);
  source->contents = arena_zalloc(&op->arena, turns->count + 1, sizeof *source->contents);
  source->triggers = arena_zalloc(&op->arena, turns->count + 1, sizeof *source->triggers);
  source->steers = arena_zalloc(&op->arena, turns->count + 1, sizeof *source->steers);
  source->dues = arena_zalloc(&op->arena, turns->count + 1, sizeof *source->dues);
  if (!source->ids || !source->contents || !source->triggers || !source->steers || !source->dues)
    return no_memory_to_collect(error);
  for (size_t i = 0; !code && i < turns->count; i++) {
    const struct message *message = &turns->messages[i];
    if (!waits(message)) continue;
    size_t at = source->message_count++;
    source->ids[at] = message->id;
    source->steers[at] = message->steer;
    source->dues[at] = message->due_ms;
    code = content_get(op->txn, op->session, message->n, &op->arena, &source->contents[at],
                       &source->triggers[at], error);
  }
  return code;
}

static bool is_edit(const struct notification *note) {
  return note->made_by == MADE_BY_FILE_CHANGED && note->caused_by.len &&
         !notification_is_critical(note);
}

static void end_own(struct source *source, const struct plan *plan) {
  for (size_t i = 0, d = 0; i < source->item_count; i++) {
    const struct item *item = &source->items[i];
    while (d < plan->disposition_count && plan->dispositions[d].n < item->n) d++;
    bool ends = d < plan->disposition_count && plan->dispositions[d].n == item->n;
    if (ends && plan->dispositions[d].reason == REASON_OWN_EDIT)
      source->ends[i] = plan->dispositions[d];
    else if (is_edit(&item->note))
      source->ends[i] =
          (struct disposition){item->n, 0, OUTCOME_WITHDRAWN, (uint8_t)REASON_CAUSED_BY};
  }
}

/* The edits of the other session's assistant end there, together with the watchers' reports of
 * them: here they would withdraw reports that this session needs. */
static int end_edits(struct source *source, struct tidings_error *error) {
  struct op *op = &source->op;
  struct item *reports = arena_array(&op->arena, source->item_count, sizeof *reports);
  struct plan plan;
  size_t count = 0;
  bool any = false;
  if (!reports) return no_memory_to_collect(error);
  for (size_t i = 0; i < source->item_count; i++) {
    const struct item *item = &source->items[i];
    any |= is_edit(&item->note);
    if (item->note.made_by == MADE_BY_FILE_CHANGED && item_is_due(item, op->now_ms))
      reports[count++] = *item;
  }
  if (!any) return 0;
  if (facts_read(reports, count, &op->arena) ||
      plan_delivery(reports, count, op->settings, op->now_ms, NULL, &op->arena, &plan))
    return no_memory_to_collect(error);
  end_own(source, &plan);
  return 0;
}

/* *ret_found false: the store does not know it, or nothing waits there. */
static int read_source(struct op *op, struct tidings_span name, struct source *source,
                       bool *ret_found, struct tidings_error *error) {
  struct op *other = &source->op;
  *other = (struct op){.instance = op->instance,
                       .configuration = op->configuration,
                       .settings = op->settings,
                       .now_ms = op->now_ms,
                       .ahead_ms = op->ahead_ms,
                       .deadline = op->deadline,
                       .name = name,
                       .txn = op->txn};
  int code = session_find(op->txn, name, &other->session, error);
  if (code || !other->session) return code;
  code = op_get_head(other, error);
  if (!code) code = recover_source(other, error);
  if (!code)
    code = item_pending_copied(op->txn, other->session, &other->head, &other->arena, &source->items,
                               &source->item_count, error);
  source->ends = arena_zalloc(&other->arena, source->item_count, sizeof *source->ends);
  if (!code && !source->ends) code = no_memory_to_collect(error);
  if (!code) code = end_edits(source, error);
  if (!code) code = read_messages(source, error);
  *ret_found = !code && (source->item_count || source->message_count);
  return code;
}

/* -- notifications ----------------------------------------------------------------------------- */

/* How many more items the session takes. As with a push, a share is kept for critical ones. */
static int find_room(struct op *op, size_t *ret_room, struct tidings_error *error) {
  uint32_t limit = op->settings->pending_per_session;
  uint64_t last = 0, most = limit - limit / CRITICAL_SHARE;
  int code = item_last(op->txn, op->session, &op->head, &last, error);
  if (code) return code;
  uint64_t live = ledger_pending(&op->head, last) + ledger_leased(&op->head);
  *ret_room = live < most ? (size_t)(most - live) : 0;
  if (*ret_room > COLLECT_MOST) *ret_room = COLLECT_MOST;
  return 0;
}

/* A notification that moves, and the session in which it was. */
struct moving {
  const struct item *item;
  struct source *source;
  int64_t time_ms; /* its own, or the newest time before it in its session */
};

static int push_copy(struct op *op, const struct item *item, struct origin *origin,
                     struct tidings_error *error) {
  /* The outcome makes the copy `late`: its time counts here, not its number. */
  *origin = (struct origin){.item = origin->item, .outcome = OUTCOME_CLOSED};
  const struct push push = {.session = op->name,
                            .note = &item->note,
                            .origin = origin,
                            .now_ms = item->pushed_ms,
                            .pending_limit = op->settings->pending_per_session,
                            .rings = notification_rings(&item->note)};
  return push_in(op->txn, &push, error);
}

/* Ends an item in its session. Pushes it here, unless it was withdrawn after a fork, or this
 * session has it already. */
static int move_item(struct op *op, const struct moving *moving, struct copies *copies,
                     size_t *moved, struct tidings_error *error) {
  const struct item *item = moving->item;
  struct source *source = moving->source;
  struct origin origin = {0};
  int code =
      item->copied ? item_get_origin(op->txn, source->op.session, item->n, &origin, error) : 0;
  bool withdrawn = origin.delivery && !origin.outcome;
  source->ends[item - source->items] =
      (struct disposition){item->n, op->session, OUTCOME_CLOSED, (uint8_t)REASON_COLLECTED};
  if (!origin.item) origin.item = public_id(source->op.session, item->n);
  if (code || withdrawn || !item->note.message.len || copies_has(copies, origin.item)) return code;
  ++*moved;
  code = copies_add(op, copies, origin.item, error);
  return code ? code : push_copy(op, item, &origin, error);
}

static int by_age(const void *left, const void *right) {
  const struct moving *a = left, *b = right;
  if (a->time_ms != b->time_ms) return a->time_ms < b->time_ms ? -1 : 1;
  if (a->source != b->source) return a->source < b->source ? -1 : 1;
  return a->item->n < b->item->n ? -1 : a->item->n > b->item->n;
}

/* Items of different sessions are ordered by the time of their push, items of one session by their
 * commit; an item that came late is ordered by its time, which moves no other item (see
 * put_in_order of fork.c). */
static struct moving *line_up(struct op *op, struct source *sources, size_t count,
                              size_t *ret_count) {
  size_t total = 0, at = 0;
  for (size_t i = 0; i < count; i++) total += sources[i].item_count;
  struct moving *all = arena_array(&op->arena, total, sizeof *all);
  for (size_t i = 0; all && i < count; i++) {
    int64_t time_ms = INT64_MIN;
    for (size_t j = 0; j < sources[i].item_count; j++) {
      const struct item *item = &sources[i].items[j];
      if (sources[i].ends[j].outcome) continue;
      if (!item->late && item->time_ms > time_ms) time_ms = item->time_ms;
      all[at++] = (struct moving){item, &sources[i], item->late ? item->time_ms : time_ms};
    }
  }
  if (at) qsort(all, at, sizeof *all, by_age);
  *ret_count = at;
  return all;
}

/* Ends in the old session what has moved, and the edits. */
static int end_moved(struct source *source, struct tidings_error *error) {
  size_t count = 0;
  for (size_t i = 0; i < source->item_count; i++)
    if (source->ends[i].outcome) source->ends[count++] = source->ends[i];
  return ending_remove(&source->op, source->ends, count, SETTLED_BY_HOST, error);
}

static int move_items(struct op *op, struct source *sources, size_t count,
                      struct collected *collected, struct tidings_error *error) {
  size_t room = 0, total = 0, moved = 0;
  uint64_t before = 0;
  struct copies copies = {.count = 0};
  struct moving *all = line_up(op, sources, count, &total);
  int code = all ? find_room(op, &room, error) : no_memory_to_collect(error);
  if (!code) code = item_last(op->txn, op->session, &op->head, &before, error);
  if (room > total) room = total;
  if (!code && room) code = copies_read_kept(op, &copies, error);
  for (size_t i = 0; !code && i < room; i++) code = move_item(op, &all[i], &copies, &moved, error);
  for (size_t i = 0; !code && i < count; i++) code = end_moved(&sources[i], error);
  if (!code && moved) code = outdated_end_late(op, before, SETTLED_BY_HOST, error);
  collected->notifications += moved;
  collected->left += total - room;
  return code;
}

/* -- messages ---------------------------------------------------------------------------------- */

static size_t count_waiting(const struct turns *turns) {
  size_t count = 0;
  for (size_t i = 0; i < turns->count; i++) count += waits(&turns->messages[i]);
  return count;
}

/* A message that the session has had is not submitted again. */
static int submit_message(struct op *op, struct decision *decision, const struct source *source,
                          size_t at, struct collected *collected, struct tidings_error *error) {
  struct turns *turns = &decision->stored.turns;
  struct turns_input input = decision_input(op, decision, TURNS_SUBMIT);
  for (size_t i = 0; i < turns->count; i++) {
    if (span_equal(turns->messages[i].id, source->ids[at])) return 0;
  }
  if (count_waiting(turns) >= op->settings->pending_per_session)
    return fail(error, TIDINGS_E_FULL,
                "session %s has no room for the messages of %s; the limit is %u "
                "(limits.pending_per_session)",
                quote(op->name).text, quote(source->op.name).text,
                op->settings->pending_per_session);
  if (arena_copy(&op->arena, source->ids[at], &input.id)) return no_memory_to_collect(error);
  input.steer = source->steers[at];
  input.due_ms = source->dues[at];
  collected->messages++;
  int code = turns_step(turns, &input, error);
  return code ? code
              : message_add(op->txn, op->session, &turns->messages[turns->count - 1],
                            source->contents[at], source->triggers[at], error);
}

/* Writes the other session, which keeps its history, but in which nothing waits any more. */
static int close_source(struct op *op, struct source *source, struct tidings_error *error) {
  struct stored_run *stored = &source->stored;
  struct turns_input input = stored_run_input(&source->op, TURNS_COLLECTED);
  bool changed = false;
  stored->moved_to = op->session;
  int code = turns_step(&stored->turns, &input, error);
  if (!code) code = stored_run_save(&source->op, stored, TURNS_COLLECTED, false, &changed, error);
  return code ? code : op_put_head(&source->op, error);
}

/* -- the event --------------------------------------------------------------------------------- */

static int gather(struct op *op, const struct session_event *event, struct source *sources,
                  size_t *ret_count, struct tidings_error *error) {
  int code = 0;
  *ret_count = 0;
  for (size_t i = 0; !code && i < event->from_count; i++) {
    struct source *source = &sources[*ret_count];
    bool found = false;
    *source = (struct source){.item_count = 0};
    code = read_source(op, event->from[i], source, &found, error);
    if (code || !found) arena_free(&source->op.arena);
    else ++*ret_count;
  }
  return code;
}

static int load_run(struct op *op, struct decision *decision, const struct source *sources,
                    size_t count, struct tidings_error *error) {
  size_t total = 0, at = 0;
  for (size_t i = 0; i < count; i++) total += sources[i].message_count;
  struct tidings_span *ids = arena_zalloc(&op->arena, total + 1, sizeof *ids);
  ptrdiff_t *named = arena_zalloc(&op->arena, total + 1, sizeof *named);
  if (!ids || !named) return no_memory_to_collect(error);
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < sources[i].message_count; j++) ids[at++] = sources[i].ids[j];
  }
  return decision_load(op, decision, ids, total, named, error);
}

static int move_all(struct op *op, struct decision *decision, struct source *sources, size_t count,
                    struct collected *collected, struct tidings_error *error) {
  int code = move_items(op, sources, count, collected, error);
  decision->head_changed = decision->head_changed || collected->notifications;
  if (!code) code = load_run(op, decision, sources, count, error);
  for (size_t i = 0; !code && i < count; i++) {
    for (size_t j = 0; !code && j < sources[i].message_count; j++)
      code = submit_message(op, decision, &sources[i], j, collected, error);
    if (!code) code = close_source(op, &sources[i], error);
  }
  return code ? code : decision_look(op, decision, error);
}

int collect_sessions(struct op *op, const struct session_event *event, struct decision *decision,
                     struct collected *ret_collected, struct tidings_error *error) {
  struct source *sources = arena_zalloc(&op->arena, event->from_count, sizeof *sources);
  size_t count = 0;
  if (!sources) return no_memory_to_collect(error);
  int code = gather(op, event, sources, &count, error);
  if (!code) code = move_all(op, decision, sources, count, ret_collected, error);
  ret_collected->any = count > 0;
  for (size_t i = 0; i < count; i++) arena_free(&sources[i].op.arena);
  return code;
}

int collect_prepare(struct op *op, const struct session_event *event, struct tidings_error *error) {
  int code = 0;
  for (size_t i = 0; !code && i < event->from_count; i++) {
    struct op other;
    op_begin(&other, op->instance, event->from[i], op->deadline);
    code = op_write(&other, error);
    if (!code) code = op_commit(&other, error);
    op_end(&other);
  }
  return code;
}

int collect_answer(struct op *op, const struct collected *collected, struct tidings_span *ret_json,
                   struct tidings_error *error) {
  struct buffer text = BUFFER_EMPTY;
  struct json_writer writer = {.out = &text};
  json_open(&writer, NULL, '{');
  json_put_u64(&writer, "notifications", collected->notifications);
  json_put_u64(&writer, "messages", collected->messages);
  json_put_u64(&writer, "left", collected->left);
  json_close(&writer, '}');
  bool failed = text.failed || arena_copy(&op->arena, buffer_view(&text), ret_json);
  buffer_free(&text);
  return failed ? no_memory_to_collect(error) : 0;
}
