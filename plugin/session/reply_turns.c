/* SPDX-License-Identifier: MIT
 *
 * session/reply_turns.c: the part of a reply about the run: the session's status, and the actions
 * that the host is asked to do.
 */
#include "common/error.h"
#include "session/orphans.h"
#include "session/reply.h"

static int no_memory_for_turns(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory for a reply");
}

/* -- status ------------------------------------------------------------------------------------ */

struct ids {
  struct tidings_span *ids;
  const struct tidings_span **list;
  size_t count;
};

static int make_ids(struct ids *ids, size_t most, struct arena *arena) {
  ids->ids = arena_zalloc(arena, most, sizeof *ids->ids);
  ids->list = arena_zalloc(arena, most, sizeof *ids->list);
  return ids->ids && ids->list ? 0 : -1;
}

static void add_id(struct ids *ids, struct tidings_span id) {
  ids->ids[ids->count] = id;
  ids->list[ids->count] = &ids->ids[ids->count];
  ids->count++;
}

static int copy_system_id(uint64_t n, struct arena *arena, struct tidings_span *ret_id) {
  struct system_id id = system_turn_id(n);
  return arena_copy(arena, span_text(id.text), ret_id);
}

/* Adds the orphaned messages, or the system turn, and then the calls. */
static int add_orphaned(const struct turns *turns, const struct memory *calls, struct arena *arena,
                        struct ids *ret_ids) {
  struct tidings_span system;
  if (make_ids(ret_ids, turns->count + 1 + calls->call_count, arena)) return -1;
  if (turns->run.orphaned) {
    if (copy_system_id(turns->run.orphaned, arena, &system)) return -1;
    add_id(ret_ids, system);
  }
  for (size_t i = 0; i < turns->count; i++)
    if (turns->messages[i].orphaned) add_id(ret_ids, turns->messages[i].id);
  for (size_t i = 0; i < calls->call_count; i++) add_id(ret_ids, calls->calls[i].call_id);
  return 0;
}

static int add_turn(const struct turns *turns, struct arena *arena, struct ids *ret_ids) {
  const struct run *run = &turns->run;
  struct tidings_span system;
  if (make_ids(ret_ids, turns->count + 1, arena)) return -1;
  if (run_has_turn(run) && run->kind == TURN_OF_SYSTEM) {
    if (copy_system_id(run->system_turns, arena, &system)) return -1;
    add_id(ret_ids, system);
  }
  for (size_t i = 0; i < turns->count; i++)
    if (turns->messages[i].of_turn) add_id(ret_ids, turns->messages[i].id);
  return 0;
}

int reply_status(struct tidings_reply *reply, struct op *op, const struct turns *turns,
                 struct tidings_error *error) {
  const struct run *run = &turns->run;
  struct tidings_status *status = arena_zalloc(&op->arena, 1, sizeof *status);
  struct ids of_turn = {0}, orphaned = {0};
  struct memory calls;
  int code = orphans_get(op, run, &calls, error);
  if (code) return code;
  if (!status || add_turn(turns, &op->arena, &of_turn) ||
      add_orphaned(turns, &calls, &op->arena, &orphaned))
    return no_memory_for_turns(error);
  *status = (struct tidings_status){.size = sizeof *status,
                                    .state = run->state,
                                    .phase = run->phase,
                                    .attempt = run->attempt,
                                    .messages = of_turn.list,
                                    .message_count = of_turn.count,
                                    .started_at_ms = run->started_ms,
                                    .orphaned = orphaned.list,
                                    .orphaned_count = orphaned.count};
  if (arena_copy(&op->arena, run->words, &status->detail)) return no_memory_for_turns(error);
  reply->status = status;
  return 0;
}

int reply_steered(struct tidings_reply *reply, const struct tidings_span *list, size_t count,
                  struct arena *arena) {
  struct ids ids = {0};
  if (make_ids(&ids, count, arena)) return -1;
  for (size_t i = 0; i < count; i++) add_id(&ids, list[i]);
  reply->steered = ids.list;
  reply->steered_count = ids.count;
  return 0;
}

/* -- actions ----------------------------------------------------------------------------------- */

static struct tidings_action *add_action(struct tidings_reply *reply, uint32_t type,
                                         struct arena *arena) {
  const struct tidings_action **list = arena_zalloc(arena, reply->action_count + 1, sizeof *list);
  struct tidings_action *action = arena_zalloc(arena, 1, sizeof *action);
  if (!list || !action) return NULL;
  for (size_t i = 0; i < reply->action_count; i++) list[i] = reply->actions[i];
  *action = (struct tidings_action){.size = sizeof *action, .type = type};
  list[reply->action_count++] = action;
  reply->actions = list;
  return action;
}

static int add_caused(struct tidings_reply *reply, uint32_t type, uint32_t cause,
                      struct arena *arena) {
  struct tidings_action *action = add_action(reply, type, arena);
  if (!action) return -1;
  action->cause = cause;
  return 0;
}

int reply_abort(struct tidings_reply *reply, struct arena *arena) {
  return add_caused(reply, TIDINGS_ACTION_ABORT_STREAM, TIDINGS_CAUSE_CRITICAL, arena);
}

int reply_stop(struct tidings_reply *reply, struct arena *arena) {
  return add_caused(reply, TIDINGS_ACTION_STOP_TURN, TIDINGS_CAUSE_REQUESTED, arena);
}

static int offered_message(struct op *op, const struct stored_run *stored,
                           const struct message *message, struct tidings_message *ret_message,
                           struct tidings_error *error) {
  *ret_message = (struct tidings_message){.size = sizeof *ret_message,
                                          .id = message->id,
                                          .queued_at_ms = message->waited ? message->stamp_ms : 0};
  if (message->n == stored->added) { /* not in the store yet */
    ret_message->content = stored->content;
    ret_message->trigger = stored->trigger;
    return 0;
  }
  return content_get(op->txn, op->session, message->n, &op->arena, &ret_message->content,
                     &ret_message->trigger, error);
}

int reply_offer(struct tidings_reply *reply, struct op *op, const struct stored_run *stored,
                struct tidings_span system_text, struct tidings_error *error) {
  const struct turns *turns = &stored->turns;
  bool system = turns->run.kind == TURN_OF_SYSTEM;
  struct arena *arena = &op->arena;
  struct tidings_message *messages = arena_zalloc(arena, turns->count + 1, sizeof *messages);
  const struct tidings_message **list = arena_zalloc(arena, turns->count + 1, sizeof *list);
  struct tidings_action *action = add_action(reply, TIDINGS_ACTION_START_TURN, arena);
  size_t count = 0;
  if (!messages || !list || !action) return no_memory_for_turns(error);
  if (system) {
    messages[0] = (struct tidings_message){.size = sizeof *messages, .content = system_text};
    if (copy_system_id(turns->run.system_turns, arena, &messages[0].id))
      return no_memory_for_turns(error);
    count = 1;
  }
  for (size_t i = 0; !system && i < turns->count; i++) {
    if (turns->messages[i].state != MESSAGE_OFFERED) continue;
    int code = offered_message(op, stored, &turns->messages[i], &messages[count++], error);
    if (code) return code;
  }
  for (size_t i = 0; i < count; i++) list[i] = &messages[i];
  action->origin = system ? TIDINGS_ORIGIN_SYSTEM : TIDINGS_ORIGIN_USER;
  action->messages = list;
  action->message_count = count;
  return 0;
}

void reply_wake(struct tidings_reply *reply, const struct op *op, const struct turns *turns,
                int64_t next_ms) {
  enum { HEARTBEAT_MS = 2000 }; /* while a writer has called and not committed yet, and may die */
  int64_t due_ms = turns_due_ms(turns, op->settings), beat_ms = op->now_ms + HEARTBEAT_MS;
  if (next_ms && (!due_ms || next_ms < due_ms)) due_ms = next_ms;
  reply->wake_at_ms = due_ms;
  if ((op->beats || op_may_ring(op)) && (!due_ms || due_ms > beat_ms)) reply->wake_at_ms = beat_ms;
  if (reply->wake_at_ms) reply->wake_at_ms -= op->ahead_ms; /* the host waits by its own clock */
}
