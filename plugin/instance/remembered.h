/* SPDX-License-Identifier: MIT
 *
 * instance/remembered.h: settles that got BUSY or whose outcome is unknown, and leases that may or
 * may not have been stored. No carrier took such a lease, so it is rolled back if it was stored.
 * Each is applied at the next call, or at close.
 */
#ifndef INSTANCE_REMEMBERED_H
#define INSTANCE_REMEMBERED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct remembered {
  uint64_t delivery_id;
  uint32_t outcome;
  bool may_be_stale; /* there may be no such delivery */
};

struct remembered_settles {
  pthread_mutex_t lock;
  struct remembered *list; /* oldest first */
  size_t count, capacity;
  atomic_bool any; /* read without the lock */
};

void remembered_init(struct remembered_settles *settles);
void remembered_finish(struct remembered_settles *settles);
/* Adds it once: hosts try again until it is not BUSY. False: there is no room. */
bool remembered_add(struct remembered_settles *settles, struct remembered settle);
/* Removes it: the host settles it itself. False: it was not there. */
bool remembered_drop(struct remembered_settles *settles, const struct remembered *settle);
/* Takes the oldest. False: there is none. */
bool remembered_take(struct remembered_settles *settles, struct remembered *ret_settle);

#endif
