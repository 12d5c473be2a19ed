/* SPDX-License-Identifier: MIT
 *
 * flow/report.c: what a subsystem's report does to the store. A report that only makes a
 * notification is pushed like one, many in one commit. A report that depends on the session's
 * memory or withdraws notifications needs a write transaction of its own, and only if a snapshot
 * shows that there is something to do.
 */
#include "common/error.h"
#include "flow/internal.h"
#include "rules/producers/producers.h"
#include "session/ending.h"

struct intake { /* of one report */
  const struct event *event;
  struct produced produced; /* from the event and what is remembered */
  bool known;               /* there is nothing new in it to remember */
  bool duplicate;
};

static int no_memory_for_report(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory for what was reported");
}

static struct push push_of_report(const struct op *op, const struct intake *report) {
  return (struct push){
      .session = op->name,
      .note = &report->produced.note,
      .source = report->event->source,
      .id = report->event->id,
      .now_ms = op->now_ms,
      .dedup_window_ms = op->settings->dedup_window_ms,
      .pending_limit = op->settings->pending_per_session,
      .source_per_minute = op->settings->source_per_minute,
      .rings = notification_rings(&report->produced.note),
  };
}

/* The dispositions of pending items that the report withdraws. */
static int find_withdrawn(struct op *op, const struct intake *report,
                          struct disposition **ret_dispositions, size_t *ret_count,
                          struct tidings_error *error) {
  const struct produced *produced = &report->produced;
  struct item *items = NULL;
  size_t count = 0;
  *ret_count = 0;
  if (!produced->withdraw_handle.len) return 0;
  int code = pending_specials(op, &items, &count, error);
  if (code) return code;
  *ret_dispositions = arena_zalloc(&op->arena, count, sizeof **ret_dispositions);
  if (!*ret_dispositions) return no_memory_for_report(error);
  *ret_count = plan_withdrawal(items, count, produced->withdraw_handle, produced->withdraw_reason,
                               produced->withdraws_critical, *ret_dispositions);
  return 0;
}

/* Finds out in a snapshot what the report leads to, and whether anything has to be written. */
static int preview_report(struct op *op, struct intake *report, bool *ret_changes,
                          struct tidings_error *error) {
  struct memory memory = {0};
  struct disposition *dispositions = NULL;
  size_t withdrawn = 0;
  bool recalled = false;
  int code = op_read(op, error);
  if (code) return code;
  code = session_find(op->txn, op->name, &op->session, error);
  if (!code) code = op_get_head(op, error);
  if (!code) code = memory_get(op->txn, op->session, &op->arena, &memory, error);
  if (!code && produce(report->event, op->settings, &memory, &op->arena, &report->produced))
    code = no_memory_for_report(error);
  if (!code) code = find_withdrawn(op, report, &dispositions, &withdrawn, error);
  if (!code) code = recall_leased(op, &report->produced, false, &recalled, error);
  op_give_up(op);
  *ret_changes = withdrawn || recalled || produce_changes_memory(&memory, &report->produced.memory);
  return code;
}

/* A notification that waits ends at once; one on a carrier ends if that is rolled back. */
static int write_withdrawal(struct op *op, const struct intake *report,
                            struct tidings_error *error) {
  struct disposition *dispositions = NULL;
  size_t count = 0;
  bool any;
  int code = op_get_head(op, error);
  if (!code) code = recall_leased(op, &report->produced, true, &any, error);
  if (!code) code = find_withdrawn(op, report, &dispositions, &count, error);
  if (!code) code = ending_remove(op, dispositions, count, SETTLED_ON_RETURN, error);
  return code || !count ? code : op_put_head(op, error);
}

static int write_parts(struct op *op, struct intake *report, struct tidings_error *error) {
  struct produced *produced = &report->produced;
  struct memory memory;
  int code = session_add(op->txn, op->name, &op->session, error);
  if (!code) code = op_see_event(op, report->event, &report->duplicate, error);
  if (code || report->duplicate) return code;
  code = memory_get(op->txn, op->session, &op->arena, &memory, error);
  if (code) return code;
  if (produce(report->event, op->settings, &memory, &op->arena, produced))
    return no_memory_for_report(error);
  if (produce_changes_memory(&memory, &produced->memory))
    code = memory_put(op->txn, op->session, &produced->memory, error);
  if (!code) code = write_withdrawal(op, report, error);
  const struct push push = push_of_report(op, report);
  if (!code && produced->has_note) code = push_in(op->txn, &push, error);
  return code ? code : store_sweep(op->txn, op->session, op->now_ms, error);
}

static int write_report(struct op *op, struct intake *report, struct tidings_error *error) {
  int code = op_write_event(op, report->event, error);
  if (code) return code;
  code = write_parts(op, report, error);
  if (!code && !report->duplicate) return op_commit(op, error);
  op_give_up(op);
  return code;
}

static int take_by_kind(struct op *op, struct intake *report, struct tidings_error *error) {
  static const struct memory nothing = {0};
  struct produced *produced = &report->produced;
  bool changes = false;
  if (produce(report->event, op->settings, &nothing, &op->arena, produced))
    return no_memory_for_report(error);
  bool remembers = !report->known && produce_remembers(report->event),
       only_pushes = produced->has_note && !produced->withdraw_handle.len && !remembers;
  if (only_pushes) {
    const struct push push = push_of_report(op, report);
    return push_store(op, &push, &report->duplicate, error);
  }
  if (report->event->id.len) return write_report(op, report, error);
  int code = preview_report(op, report, &changes, error);
  return code || !changes ? code : write_report(op, report, error);
}

int report_take(struct op *op, const struct event *event, bool *ret_duplicate, bool *ret_asks,
                struct tidings_error *error) {
  struct event completed = *event;
  struct intake report = {.event = &completed};
  int code = calls_find(op, &completed, &report.known, error);
  if (!code) code = take_by_kind(op, &report, error);
  const struct produced *produced = &report.produced;
  if (!code && !report.duplicate && produced->has_note && produced->uncut_bytes)
    push_say_cut(op, &produced->note, produced->uncut_bytes);
  arena_free(&op->arena); /* what was produced is stored */
  if (code) return code;
  *ret_duplicate = report.duplicate;
  *ret_asks = report.produced.has_note && notification_rings(&report.produced.note);
  return 0;
}
