/* SPDX-License-Identifier: MIT
 *
 * flow/lifecycle.c: see lifecycle.h.
 */
#include "flow/lifecycle.h"

#include "common/error.h"
#include "common/json_write.h"
#include "session/ledger.h"
#include "session/planning.h"

/* -- closed ------------------------------------------------------------------------------------ */

static int roll_back_leases(struct stage *stage, struct tidings_error *error) {
  struct head *head = &stage->head;
  const uint64_t *leased = head->leased;
  size_t count = head->leased_count;
  int code = 0;
  for (size_t i = 0; !code && i < count; i++) {
    struct delivery delivery;
    code = delivery_get_leased(stage->txn, stage->session, head, leased[i], &stage->arena,
                               &delivery, error);
    if (code) break;
    delivery.state = DELIVERY_ROLLED_BACK;
    delivery.settled_by = SETTLED_BY_RECOVERY;
    delivery.settled_ms = stage->now_ms;
    if (ledger_roll_back(head, &delivery, &stage->arena))
      code = fail(error, TIDINGS_E_NOMEM, "no memory to close the session");
    else code = delivery_put(stage->txn, stage->session, &delivery, error);
  }
  return code;
}

/* Everything pending ends in one delivery that showed nothing. */
static int close_items(struct stage *stage, struct tidings_error *error) {
  struct head *head = &stage->head;
  struct delivery closing = {.carrier = CARRIER_CLOSED,
                             .state = DELIVERY_COMMITTED,
                             .settled_by = SETTLED_BY_HOST,
                             .epoch = head->epoch,
                             .n = head->last_delivery + 1,
                             .leased_ms = stage->now_ms,
                             .settled_ms = stage->now_ms};
  struct item *items;
  size_t count;
  int code = item_last(stage->txn, stage->session, head, &closing.after, error);
  if (!code)
    code =
        item_pending_copied(stage->txn, stage->session, head, &stage->arena, &items, &count, error);
  if (code) return code;
  struct fate *fates = arena_zalloc(&stage->arena, count, sizeof *fates);
  if (!fates) return fail(error, TIDINGS_E_NOMEM, "no memory to close the session");
  for (size_t i = 0; i < count; i++)
    fates[i] =
        (struct fate){.n = items[i].n, .outcome = OUTCOME_CLOSED, .reason = REASON_SESSION_CLOSED};
  if (ledger_ranges(fates, count, &stage->arena, &closing.fates, &closing.fate_count) ||
      ledger_lease(head, &closing, &stage->arena) || ledger_commit(head, &closing, &stage->arena)) {
    return fail(error, TIDINGS_E_NOMEM, "no memory to close the session");
  }
  head->last_delivery = closing.n;
  head->floor = closing.after; /* no number is given out again when all items are forgotten */
  head->watermark = closing.after + 1;
  head->taken_count = 0;
  return delivery_put(stage->txn, stage->session, &closing, error);
}

int close_session(struct stage *stage, struct tidings_error *error) {
  static const struct memory nothing = {0};
  struct head *head = &stage->head;
  if (!owner_equal(&head->owner, &stage->instance->owner) && owner_alive(&head->owner)) {
    return fail(error, TIDINGS_E_BUSY,
                "the session is owned by a running host, pid %u, and only that may close it",
                head->owner.pid);
  }
  int code = roll_back_leases(stage, error);
  if (!code) code = close_items(stage, error);
  if (!code) code = memory_put(stage->txn, stage->session, &nothing, error);
  if (code) return code;
  memset(&head->owner, 0, sizeof head->owner);
  head->former_count = 0;
  head->cwd = head->host = span_of(NULL, 0);
  head->closed_ms = stage->now_ms ? stage->now_ms : 1;
  stage->head_changed = true;
  return 0;
}

/* -- forked ------------------------------------------------------------------------------------ */

int fork_session(struct stage *stage, struct tidings_span child, struct tidings_error *error) {
  struct item *items;
  struct memory memory = {0};
  uint32_t child_number;
  size_t count;
  int code = item_pending_copied(stage->txn, stage->session, &stage->head, &stage->arena, &items,
                                 &count, error);
  if (!code) code = memory_get(stage->txn, stage->session, &memory, error);
  if (!code) code = session_add(stage->txn, child, &child_number, error);
  if (!code && memory.budget_percent) code = memory_put(stage->txn, child_number, &memory, error);
  for (size_t i = 0; !code && i < count; i++) {
    const struct push push = {.session = child,
                              .note = &items[i].note,
                              .now_ms = items[i].time_ms,
                              .pending_limit = stage->settings->pending_per_session};
    if (items[i].note.message.len)
      code = push_in(stage->txn, &push, error); /* what is damaged stays behind */
  }
  return code;
}

/* -- compacted --------------------------------------------------------------------------------- */

static void write_item(struct json_writer *writer, const struct item *item) {
  json_open(writer, NULL, '{');
  json_open(writer, "kind", '{');
  json_put_string(writer, "source", item->note.source);
  json_put_string(writer, "name", item->note.name);
  json_close(writer, '}');
  json_put_text(writer, "level", level_name(item->note.level));
  json_put_string(writer, "message", item->note.message);
  json_close(writer, '}');
}

static int write_message(struct stage *stage, struct json_writer *writer,
                         const struct message *message, struct tidings_error *error) {
  struct tidings_span content, trigger;
  int code =
      content_get(stage->txn, stage->session, message->n, &stage->arena, &content, &trigger, error);
  if (code) return code;
  json_open(writer, NULL, '{');
  json_put_string(writer, "id", message->id);
  json_put_text(writer, "state", message_state_name(message->state));
  json_put_string(writer, "content", content);
  if (trigger.len) json_put_raw(writer, "trigger", trigger);
  json_close(writer, '}');
  return 0;
}

/* What is pending and would be told: filters hold for a summary too. */
static int items_to_tell(struct stage *stage, struct item **ret_items, size_t *ret_count,
                         const bool **ret_left, struct tidings_error *error) {
  const struct planning planning = {.instance = stage->instance,
                                    .settings = stage->settings,
                                    .now_ms = stage->now_ms,
                                    .arena = &stage->arena};
  int code = item_pending(stage->txn, stage->session, &stage->head, &stage->arena, ret_items,
                          ret_count, error);
  if (!code && planning_left(&planning, *ret_items, *ret_count, ret_left))
    code = fail(error, TIDINGS_E_NOMEM, "no memory for the ledger of a session");
  return code;
}

int ledger_of_session(struct stage *stage, struct tidings_span *ret_json,
                      struct tidings_error *error) {
  const struct turns *turns = &stage->turning.turns;
  struct buffer text = BUFFER_EMPTY;
  struct json_writer writer = {.out = &text};
  struct item *items;
  const bool *left;
  size_t count;
  int code = items_to_tell(stage, &items, &count, &left, error);
  json_open(&writer, NULL, '{');
  json_open(&writer, "pending", '[');
  for (size_t i = 0; !code && i < count; i++) {
    if (left[i]) write_item(&writer, &items[i]);
  }
  json_close(&writer, ']');
  json_open(&writer, "queued", '[');
  for (size_t i = 0; !code && i < turns->count; i++) {
    if (!message_is_over(turns->messages[i].state))
      code = write_message(stage, &writer, &turns->messages[i], error);
  }
  json_close(&writer, ']');
  json_close(&writer, '}');
  if (!code && (text.failed || arena_copy(&stage->arena, buffer_view(&text), ret_json)))
    code = fail(error, TIDINGS_E_NOMEM, "no memory for the ledger of a session");
  buffer_free(&text);
  return code;
}
