/* SPDX-License-Identifier: MIT
 */
#include "session/op.h"

#include "session/publish.h"
#include "store/wake/wake.h"

void op_begin(struct op *op, struct instance *instance, struct tidings_span name,
              store_deadline deadline) {
  op_begin_at(op, instance, name, deadline, instance_now(instance));
}

void op_begin_at(struct op *op, struct instance *instance, struct tidings_span name,
                 store_deadline deadline, int64_t host_ms) {
  /* The head is large, and a push needs none: it is not zeroed. */
  memset(op, 0, offsetof(struct op, head));
  op->instance = instance;
  session_table_void(&instance->sessions, store_lives(instance->store));
  op->configuration = configuration_use(instance);
  op->settings = &op->configuration->settings;
  op->now_ms = store_now(instance->store, host_ms);
  op->ahead_ms = op->now_ms - host_ms;
  op->deadline = deadline;
  op->name = name;
  op->beats = op_may_ring(op);
}

bool op_may_ring(const struct op *op) {
  return atomic_load_explicit(&op->instance->wake_used, memory_order_relaxed) &&
         store_may_ring(op->instance->store);
}

void op_end(struct op *op) {
  op_give_up(op);
  op_unlock(op);
  configuration_done(op->configuration);
  arena_free(&op->arena);
}

int op_read_only(struct op *op, struct tidings_error *error) {
  const struct db_scope scope = {.name = op->name,
                                 .session = op->session,
                                 .has_answer = op->has_answer,
                                 .goes_by_look = op->goes_by_look};
  op->has_answer = op->goes_by_look = false;
  return store_read(op->instance->store, &scope, op->deadline, &op->txn, error);
}

int op_read(struct op *op, struct tidings_error *error) {
  bool of_all = !op->name.len && !op->session;
  int code = of_all ? store_take_in(op->instance->store, true, op->deadline, error) : 0;
  return code ? code : op_read_only(op, error);
}

int op_write(struct op *op, struct tidings_error *error) {
  const struct db_scope scope = {.name = op->name, .session = op->session};
  return store_write(op->instance->store, &scope, op->deadline, &op->txn, error);
}

static int64_t seen_since(const struct op *op) {
  return op->now_ms - op->settings->dedup_window_ms;
}

int op_write_event(struct op *op, const struct event *event, struct tidings_error *error) {
  struct db_scope scope = {.name = op->name, .session = op->session};
  struct db_event question;
  if (op->session && event->id.len) {
    question = dedup_event(op->session, event->source, event->id, seen_since(op));
    scope.event = &question;
  }
  return store_write(op->instance->store, &scope, op->deadline, &op->txn, error);
}

int op_see_event(struct op *op, const struct event *event, bool *ret_duplicate,
                 struct tidings_error *error) {
  *ret_duplicate = false;
  if (!event->id.len) return 0;
  int code = dedup_seen(op->txn, op->session, event->source, event->id, seen_since(op),
                        op->now_ms + op->settings->dedup_window_ms, ret_duplicate, error);
  if (code || *ret_duplicate) return code;
  return dedup_put(op->txn, op->session, event->source, event->id, op->now_ms,
                   op->settings->dedup_window_ms, error);
}

int op_write_as_read(struct op *op, struct tidings_error *error) {
  const struct db_scope scope = {.name = op->name, .session = op->session, .optimistic = true};
  return store_write(op->instance->store, &scope, op->deadline, &op->txn, error);
}

/* Does the turn go on in the phase in which it was read? */
static bool keeps_phase(const struct op *op) {
  const struct run *run = &op->head.run;
  return op->read.runs && run->state == RUN_BUSY && run->phase == op->read.phase;
}

/* To be called after a commit. If the owner has committed a phase, the stored head has it. While
 * the turn runs, the word in shared memory gets the phase too, for readers whose snapshot is older.
 * A newer word, which another thread or process of the owner has set, stays. */
static void committed(struct op *op, bool done) {
  const struct head *head = &op->head;
  bool sets = done && op->head_put && (op_owns_session(op) || !head->owner.pid);
  op->head_put = false;
  if (sets && !keeps_phase(op))
    store_phase_replace(op->instance->store, op->session, head->epoch, op->read.word,
                        head->run.state == RUN_BUSY ? head->run.phase : -1);
}

int op_commit(struct op *op, struct tidings_error *error) {
  struct store_txn *txn = op->txn;
  op->txn = NULL;
  int code = store_commit(txn, error);
  committed(op, !code);
  return code;
}

int op_commit_as_read(struct op *op, bool *ret_outdated, struct tidings_error *error) {
  struct store_txn *txn = op->txn;
  op->txn = NULL;
  int code = store_commit_as_read(txn, ret_outdated, error);
  committed(op, !code && !*ret_outdated);
  return code;
}

void op_give_up(struct op *op) {
  store_end(op->txn);
  op->txn = NULL;
  op->head_put = false;
}

int op_lock(struct op *op, struct tidings_error *error) {
  int code = instance_lock_session(op->instance, op->session, op->deadline, error);
  if (code) return code;
  op->locked = true;
  op->locked_session = op->session;
  return 0;
}

void op_unlock(struct op *op) {
  if (op->locked) instance_unlock_session(op->instance, op->locked_session);
  op->locked = false;
}

int op_get_head(struct op *op, struct tidings_error *error) {
  int code = head_get(op->txn, op->session, &op->arena, &op->head, error);
  struct run *run = &op->head.run;
  op->stored_phase = run->phase;
  op->read = (struct phase_read){.runs = !code && run->state == RUN_BUSY};
  if (!op->read.runs) return code;
  int phase = store_phase(op->instance->store, op->session, op->head.epoch, &op->read.word);
  if (phase >= 0 && phase < PHASE_COUNT) run->phase = (uint8_t)phase;
  op->read.phase = run->phase;
  return 0;
}

/* Does the phase in shared memory stay as it was read until the commit? Yes if only this thread may
 * set it. */
static bool is_sure_of_phase(const struct op *op) {
  return op->locked && owner_equal(&op->instance->owner, store_self(op->instance->store));
}

/* A phase that was only read may be outdated. It is not stored: the owner, which may be in the
 * stored phase again, would not know that it has to store that phase once more. */
int op_put_head(struct op *op, struct tidings_error *error) {
  struct run *run = &op->head.run;
  uint8_t phase = run->phase;
  op->head_put = true;
  if (!op->read.runs)
    (void)store_phase(op->instance->store, op->session, op->head.epoch, &op->read.word);
  if (keeps_phase(op) && !is_sure_of_phase(op)) run->phase = op->stored_phase;
  int code = head_put(op->txn, op->session, &op->head, error);
  run->phase = phase;
  return code;
}

bool op_set_phase(struct op *op, unsigned phase) {
  struct run *run = &op->head.run;
  if (run->phase == phase) return true;
  if (run->state != RUN_BUSY || !publish_can_wait(op) ||
      !store_phase_set(op->instance->store, op->session, op->head.epoch, &op->head.owner, phase))
    return false;
  run->phase = (uint8_t)phase;
  /* The session may not be quiet in the new phase, and no change counter says so. */
  atomic_store_explicit(&op->known->quiet, QUIET_UNKNOWN, memory_order_relaxed);
  atomic_store_explicit(&op->known->quiet_stamp, 0, memory_order_relaxed);
  publish_phase(op);
  return true;
}
