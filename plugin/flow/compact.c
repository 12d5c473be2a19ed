/* SPDX-License-Identifier: MIT
 *
 * flow/compact.c: the ledger for a host that has compacted its conversation: what is pending and
 * queued, so that the summary can contain it.
 */
#include "common/error.h"
#include "flow/internal.h"
#include "render/ledger.h"
#include "session/planning.h"

static int no_memory_for_ledger(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory for the ledger of a session");
}

/* Collects the pending items that would be shown: filters apply to a summary too. */
static int collect_items(struct op *op, struct render_ledger *ledger, struct tidings_error *error) {
  const bool *left;
  struct item *items;
  size_t count;
  int code = item_pending(op->txn, op->session, &op->head, &op->arena, &items, &count, error);
  if (code) return code;
  const struct notification **notes = arena_zalloc(&op->arena, count + 1, sizeof *notes);
  if (!notes || planning_left(op, items, count, &left)) return no_memory_for_ledger(error);
  ledger->notes = notes;
  for (size_t i = 0; i < count; i++) {
    if (left[i]) notes[ledger->note_count++] = &items[i].note;
  }
  return 0;
}

static int collect_messages(struct op *op, const struct turns *turns, struct render_ledger *ledger,
                            struct tidings_error *error) {
  struct render_queued *queued = arena_zalloc(&op->arena, turns->count + 1, sizeof *queued);
  if (!queued) return no_memory_for_ledger(error);
  ledger->queued = queued;
  for (size_t i = 0; i < turns->count; i++) {
    const struct message *message = &turns->messages[i];
    if (message_is_over(message->state)) continue;
    struct render_queued *next = &queued[ledger->queued_count++];
    *next = (struct render_queued){.id = message->id, .state = message_state_name(message->state)};
    int code = content_get(op->txn, op->session, message->n, &op->arena, &next->content,
                           &next->trigger, error);
    if (code) return code;
  }
  return 0;
}

int compact_ledger(struct op *op, const struct turns *turns, struct tidings_span *ret_json,
                   struct tidings_error *error) {
  struct render_ledger ledger = {.note_count = 0};
  int code = collect_items(op, &ledger, error);
  if (!code) code = collect_messages(op, turns, &ledger, error);
  if (!code && render_ledger(&ledger, &op->arena, ret_json)) code = no_memory_for_ledger(error);
  return code;
}
