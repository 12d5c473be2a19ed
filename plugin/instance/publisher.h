/* SPDX-License-Identifier: MIT
 *
 * instance/publisher.h: a thread for a store in a database. The processes of this machine share
 * some state in memory; the thread commits it for other machines, once it has lasted
 * (session/publish.c). It starts when there is something to commit, and sleeps while there is
 * nothing. It must not call the host's functions.
 */
#ifndef INSTANCE_PUBLISHER_H
#define INSTANCE_PUBLISHER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct instance;
/* Commits what is due, or, at the end, all. Returns whether something is left. */
typedef bool (*publisher_work)(struct instance *instance, bool all);

struct publisher {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  publisher_work work;
  atomic_bool runs;
  bool any; /* there may be something to commit */
  bool stops;
};

void publisher_init(struct publisher *publisher);
/* Ends the thread, after it has committed what is left. */
void publisher_finish(struct publisher *publisher);
/* Starts it, unless it runs. False: there is no thread. */
bool publisher_start(struct instance *instance, publisher_work work);
/* There is something to commit. */
void publisher_note(struct publisher *publisher);
/* Is the caller this thread? */
bool publisher_is_caller(const struct publisher *publisher);

#endif
