/* SPDX-License-Identifier: MIT
 *
 * session/op.c: see op.h.
 */
#include "session/op.h"

void op_begin(struct op *op, struct instance *instance, struct tidings_span name,
              store_deadline deadline) {
  memset(op, 0, offsetof(struct op, head)); /* a push needs no head: it is large */
  op->instance = instance;
  op->configuration = configuration_use(instance);
  op->settings = &op->configuration->settings;
  op->now_ms = instance_now(instance);
  op->deadline = deadline;
  op->name = name;
}

void op_end(struct op *op) {
  op_give_up(op);
  op_unlock(op);
  configuration_done(op->configuration);
  arena_free(&op->arena);
}

int op_read(struct op *op, struct tidings_error *error) {
  return store_read(op->instance->store, &op->txn, error);
}

int op_write(struct op *op, struct tidings_error *error) {
  return store_write(op->instance->store, op->deadline, &op->txn, error);
}

int op_commit(struct op *op, struct tidings_error *error) {
  struct store_txn *txn = op->txn;
  op->txn = NULL;
  return store_commit(txn, error);
}

void op_give_up(struct op *op) {
  store_end(op->txn);
  op->txn = NULL;
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
  return head_get(op->txn, op->session, &op->arena, &op->head, error);
}

int op_put_head(struct op *op, struct tidings_error *error) {
  return head_put(op->txn, op->session, &op->head, error);
}
