/* SPDX-License-Identifier: MIT
 *
 * instance/instance.h: an open plugin: it owns the store, the configuration, the cache of sessions,
 * and the set of replies that the host holds.
 */
#ifndef INSTANCE_INSTANCE_H
#define INSTANCE_INSTANCE_H

#include <pthread.h>
#include <stdatomic.h>

#include <tidings/entry.h>

#include "instance/configuration.h"
#include "instance/handed_out.h"
#include "instance/publisher.h"
#include "instance/remembered.h"
#include "instance/session_table.h"
#include "instance/unseen.h"
#include "instance/wake.h"
#include "store/store.h"

enum { SESSION_LOCKS = 64 };

struct instance {
  struct tidings_plugin plugin; /* first: what the host holds */

  struct tidings_host host; /* our copy; zero in members that the host did not know */
  struct arena arena;       /* host_name */
  struct tidings_span host_name;
  uint32_t role;
  uint32_t budget_ms;   /* of a call */
  store_deadline until; /* of all calls together */
  bool settle_on_return;

  struct store *store;
  struct owner owner; /* the owner for whom this instance attaches */

  _Atomic uint64_t gate; /* counts calls under way, and replies and answers that the host holds; and
                            whether it is shut: see instance.c */
  const volatile uint8_t *fork_mark; /* 1; reads 0 in a forked child */
  struct handed_out handed_out;
  unsigned refusals; /* how often a settle that the store did not take kept it from being closed */

  pthread_mutex_t configuration_lock;
  struct configuration *configuration;

  struct session_table sessions;
  pthread_mutex_t session_locks[SESSION_LOCKS]; /* by session number */
  struct remembered_settles remembered;
  struct unseen_replies unseen;

  struct publisher publisher;

  struct wake wake;
  atomic_bool wake_used; /* the host polls the wake descriptor */
};

int instance_open(const struct tidings_host *host, const struct tidings_open_options *options,
                  struct instance **ret_instance, struct tidings_error *error);
int instance_quiesce(struct instance *instance, struct tidings_error *error);
void instance_admit(struct instance *instance); /* takes that back */
int instance_close(struct instance *instance, struct tidings_error *error);

/* How long a call that begins now may wait. */
store_deadline instance_deadline(const struct instance *instance);

/* Begins every call except release, and counts it as under way. CLOSED after quiesce and in a
 * forked child. */
int instance_enter(struct instance *instance, struct tidings_error *error);
void instance_leave(struct instance *instance);
/* Within a call: counts a reply or an answer as held by the host. The node is a part of it. */
void instance_hand_out(struct instance *instance, struct handed_out_node *node,
                       enum handed_out_kind kind, const void *what);
/* May `what` be freed? Not in a forked child, and not if the host does not hold it; the log says so
 * then. If so, free it and then call instance_take_back: quiesce waits for that. */
bool instance_claim(struct instance *instance, enum handed_out_kind kind, const void *what);
void instance_take_back(struct instance *instance);

/* Admits a single decision at a time for session number `session`; BUSY past the deadline. Pushes
 * do not take this lock. */
int instance_lock_session(struct instance *instance, uint32_t session, store_deadline deadline,
                          struct tidings_error *error);
void instance_unlock_session(struct instance *instance, uint32_t session);

/* The host's wall clock, limited to the years that a timestamp can express (0001 to 9999), so that
 * arithmetic on times cannot overflow. */
int64_t instance_now(const struct instance *instance);

/* Public ids of items: the session's number in the upper half, the item's in the lower. delivery_id
 * makes those of deliveries. */
static inline uint64_t public_id(uint32_t session, uint64_t n) {
  return (uint64_t)session << 32 | n;
}
static inline uint32_t public_id_session(uint64_t id) { return (uint32_t)(id >> 32); }
static inline uint64_t public_id_n(uint64_t id) { return id & UINT32_MAX; }

#endif
