/* SPDX-License-Identifier: MIT
 *
 * instance/wake.h: the sessions that rang and whose names the host has not taken yet. The store
 * implements rings; flow/wake.c searches for them.
 */
#ifndef INSTANCE_WAKE_H
#define INSTANCE_WAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct session;

struct wake {
  pthread_mutex_t lock;         /* for the thread that uses the rest */
  bool started;                 /* all of the owner's sessions have been named once */
  const struct session **ready; /* to be named, from `next` on */
  size_t next, count, capacity;
};

void wake_init(struct wake *wake);
void wake_finish(struct wake *wake);
/* The sessions of the table live as long as the instance. Returns 0, or -1: no memory. */
int wake_add(struct wake *wake, const struct session *session);
static inline bool wake_is_empty(const struct wake *wake) { return wake->next == wake->count; }

#endif
