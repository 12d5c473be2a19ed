/* SPDX-License-Identifier: MIT
 *
 * instance/wake.h: the sessions that next_session has yet to name: those that rang, and those whose
 * `wake` event failed. The store implements rings; flow/wake.c searches for them.
 */
#ifndef INSTANCE_WAKE_H
#define INSTANCE_WAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct session;

struct session_list {
  const struct session **items; /* of the table, where they live as long as the instance */
  size_t count, capacity;
};

struct wake {
  pthread_mutex_t lock; /* for the thread that uses the rest */
  bool started;         /* all of the owner's sessions have been named once */
  bool ended;           /* the last answer was that no session is left */
  bool failed_rings;    /* one of `failed` may succeed soon: the descriptor is to be readable */
  struct session_list ready; /* to be named, from `next` on */
  size_t next;
  struct session_list failed; /* their `wake` failed; to be named after the answer that none is
                                 left, so that a host that asks until then does not ask for ever */
};

void wake_init(struct wake *wake);
void wake_finish(struct wake *wake);
/* Adds a session that rang. Returns 0, or -1: no memory. */
int wake_add(struct wake *wake, const struct session *session);
/* Adds a session whose `wake` failed, once. Returns 0, or -1: no memory. */
int wake_add_failed(struct wake *wake, const struct session *session);
/* Begins to name sessions again: those that failed, and then those that wake_add adds. Call it when
 * none is left. */
void wake_start_again(struct wake *wake);
static inline bool wake_is_empty(const struct wake *wake) {
  return wake->next == wake->ready.count;
}

#endif
