/* SPDX-License-Identifier: MIT
 *
 * instance/unseen.h: requests in replies that the host may not have received: the commit's outcome
 * was unknown, so the call failed, although the store may say that the host was asked. The next
 * decision about the session asks again.
 */
#ifndef INSTANCE_UNSEEN_H
#define INSTANCE_UNSEEN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/turns/turns.h"

struct unseen {
  uint32_t session; /* its number */
  struct turns_result asked;
};

struct unseen_replies {
  pthread_mutex_t lock;
  struct unseen *list;
  size_t count, capacity;
  atomic_bool any; /* read without the lock */
};

void unseen_init(struct unseen_replies *replies);
void unseen_finish(struct unseen_replies *replies);
/* Notes nothing if there is no memory. */
void unseen_note(struct unseen_replies *replies, struct unseen unseen);
/* Returns what this session's host may not have been asked; all false: nothing. */
struct turns_result unseen_of(struct unseen_replies *replies, uint32_t session);
void unseen_forget(struct unseen_replies *replies, uint32_t session);

#endif
