/* SPDX-License-Identifier: MIT
 */
#include "session/publish.h"

#include "common/error.h"
#include "rules/producers/calls.h"

enum { PUBLISH_BUDGET_MS = 250 };

/* -- the calls in memory ----------------------------------------------------------------------- */

struct copying {
  struct memory memory;
  struct arena *arena;
  bool failed;
};

static bool copy_calls(void *context, struct memory *calls) {
  struct copying *copying = context;
  copying->memory = *calls;
  for (size_t i = 0; i < calls->call_count; i++) {
    struct tool_call *call = &copying->memory.calls[i];
    if (arena_copy(copying->arena, call->call_id, &call->call_id) ||
        arena_copy(copying->arena, call->tool, &call->tool))
      copying->failed = true;
  }
  return false;
}

int publish_get_calls(struct op *op, uint64_t epoch, struct memory *ret_calls,
                      struct tidings_error *error) {
  struct copying shared = {.arena = &op->arena};
  const struct calls_of whose = {.session = op->session, .epoch = epoch, .now_ms = op->now_ms};
  if (store_calls_any(op->instance->store, op->session))
    (void)store_calls(op->instance->store, &whose, copy_calls, &shared);
  if (shared.failed) return fail(error, TIDINGS_E_NOMEM, "no memory for the calls of tools");
  *ret_calls = shared.memory;
  return 0;
}

/* -- committing -------------------------------------------------------------------------------- */

static int write_what_lasts(struct op *op, bool as_read, bool *ret_outdated) {
  struct memory row, shared;
  int code = as_read ? op_write_as_read(op, NULL) : op_write(op, NULL);
  if (!code) code = op_get_head(op, NULL);
  if (code || !op_owns_session(op)) return code;
  code = memory_get(op->txn, op->session, &op->arena, &row, NULL);
  if (!code) code = publish_get_calls(op, op->head.epoch, &shared, NULL);
  if (code) return code;
  bool calls = calls_update(&row, &shared);
  if (!calls && op->head.run.phase == op->stored_phase) return 0;
  if (calls) code = memory_put(op->txn, op->session, &row, NULL);
  if (!code) code = op_put_head(op, NULL);
  if (code) return code;
  return as_read ? op_commit_as_read(op, ret_outdated, NULL) : op_commit(op, NULL);
}

/* True: the session is committed, or has nothing to commit. */
static bool publish_session(struct instance *instance, struct session *session) {
  bool outdated = false;
  struct op op;
  op_begin_at(&op, instance, session->id, store_deadline_in(PUBLISH_BUDGET_MS), 0);
  op.known = session;
  op.session = session->number;
  int code = op_lock(&op, NULL);
  if (!code && atomic_load(&session->behind_ms)) {
    code = write_what_lasts(&op, true, &outdated);
    op_give_up(&op);
    if (!code && outdated) code = write_what_lasts(&op, false, &outdated);
    if (!code) atomic_store(&session->behind_ms, 0);
  }
  op_end(&op);
  return !code;
}

struct publishing {
  struct instance *instance;
  int64_t before_ms; /* a session that has differed since before this time is due */
  bool left;
};

static bool publish_if_due(void *context, struct session *session) {
  struct publishing *publishing = context;
  int64_t since_ms = atomic_load(&session->behind_ms);
  if (!since_ms) return true;
  if (since_ms <= publishing->before_ms && publish_session(publishing->instance, session))
    return true;
  publishing->left = true;
  return since_ms > publishing->before_ms; /* false: a commit failed, so the others are tried
                                              later */
}

static bool publish_due(struct instance *instance, bool all) {
  struct publishing publishing = {.instance = instance,
                                  .before_ms = store_uptime_ms() - (all ? 0 : PUBLISH_AFTER_MS)};
  session_table_each(&instance->sessions, publish_if_due, &publishing);
  return publishing.left;
}

/* -- what is to be committed ------------------------------------------------------------------- */

bool publish_can_wait(struct op *op) {
  struct instance *instance = op->instance;
  if (store_is_of_one_machine(instance->store)) return true;
  return owner_equal(&instance->owner, store_self(instance->store)) &&
         publisher_start(instance, publish_due);
}

static void fall_behind(struct op *op) {
  if (atomic_load(&op->known->behind_ms)) return;
  atomic_store(&op->known->behind_ms, store_uptime_ms());
  publisher_note(&op->instance->publisher);
}

void publish_phase(struct op *op) {
  if (!store_is_of_one_machine(op->instance->store) && op->head.run.phase != op->stored_phase)
    fall_behind(op);
}

void publish_event(struct op *op, const struct memory *row) {
  struct memory shared, updated = *row;
  if (store_is_of_one_machine(op->instance->store)) return;
  bool same = op->head.run.phase == op->stored_phase &&
              !publish_get_calls(op, op->head.epoch, &shared, NULL) &&
              !calls_update(&updated, &shared);
  if (same) atomic_store(&op->known->behind_ms, 0);
  else fall_behind(op);
}
