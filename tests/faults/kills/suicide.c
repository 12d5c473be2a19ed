/* SPDX-License-Identifier: MIT
 *
 * kills/suicide.c: kills this process at a chosen write or sync of the store, which a kill at a
 * random time hardly ever hits.
 */
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "kills/roles.h"
#include "kit/interpose.h"

enum moment { BEFORE, AFTER, HALFWAY, MOMENTS };

static _Atomic(uint64_t) left; /* calls until this process is killed */
static enum moment moment;
static _Thread_local bool mine; /* this thread makes the fatal call */

static _Noreturn void die_now(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static bool counts(const struct io_op *op) {
  return op->kind <= IO_FALLOCATE || op->kind == IO_RENAME;
}

static bool before(struct io_op *op) {
  mine = counts(op) && op->fd > STDERR_FILENO && atomic_fetch_sub(&left, 1) == 1;
  if (!mine) return true;
  if (moment == BEFORE) die_now();
  if (moment == HALFWAY && op->kind <= IO_WRITEV) op->length /= 2;
  return true;
}

static void after(const struct io_op *op) {
  (void)op;
  if (mine) die_now();
}

static const struct io_watch watch = {.before = before, .after = after};

void suicide_arm(struct random *random, uint64_t within) {
  moment = (enum moment)random_below(random, MOMENTS);
  atomic_store(&left, 1 + random_below(random, within));
  io_watch(&watch);
}
