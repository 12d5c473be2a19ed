/* SPDX-License-Identifier: MIT
 *
 * instance/session_table.h: what this process knows about sessions, so that a hook with nothing to
 * deliver costs a hash, a comparison and a load. Lookups take no lock; sessions are added and never
 * removed before close; a void one is no longer found.
 */
#ifndef INSTANCE_SESSION_TABLE_H
#define INSTANCE_SESSION_TABLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"
#include "rules/policy/backlog.h"

struct session {
  _Atomic uint64_t hash; /* if this is not the hash of its id, it is void and no longer found */
  struct tidings_span id;
  uint32_t number;                 /* in the store */
  const _Atomic uint32_t *changes; /* in the store */
  /* The change counter's value when nothing was pending and this host was attached; odd: not known.
   */
  _Atomic uint32_t quiet;
  _Atomic uint64_t
      quiet_stamp;           /* the same for stores that have a stamp: store_stamp; 0: not known */
  _Atomic int64_t looked_ms; /* by store_uptime_ms: when a carrier found nothing, if nothing has
                                been done with the session since; 0: never */
  _Atomic int64_t behind_ms; /* since when other machines do not know what the session does; 0: they
                                know. See session/publish.h */
  struct backlog *backlog;   /* notes about many pending items, under the session's lock; or NULL */
};

enum { QUIET_UNKNOWN = 1 };

struct session_slots;
struct session_table {
  _Atomic(struct session_slots *) slots; /* NULL while empty */
  pthread_mutex_t lock;                  /* for the thread that adds */
  size_t count;
  _Atomic uint32_t lives; /* store_lives when the sessions were added */
};

int session_table_init(struct session_table *table); /* 0, or -1 */
void session_table_finish(struct session_table *table);
struct session *session_table_find(struct session_table *table,
                                   struct tidings_span id); /* NULL: not there */
/* Finds or adds. NULL: no memory. */
struct session *session_table_add(struct session_table *table, struct tidings_span id,
                                  uint32_t number, const _Atomic uint32_t *changes);

/* Calls `visit` for each until it returns false; for none that is added meanwhile. */
void session_table_each(struct session_table *table,
                        bool (*visit)(void *context, struct session *session), void *context);

/* Forgets everything about sessions that was learned in another life of the store. */
void session_table_void(struct session_table *table, uint32_t lives);

#endif
