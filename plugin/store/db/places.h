/* SPDX-License-Identifier: MIT
 *
 * store/db/places.h: the phases of turns and the running calls of tools, in memory that the
 * processes of a machine share. A commit would cost a sync of the disk, or round trips; this costs
 * a lock and a copy. An engine maps the memory.
 */
#ifndef STORE_DB_PLACES_H
#define STORE_DB_PLACES_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/db/limits.h"
#include "store/db/wake.h"

/* The calls of tools of one session, as its owner has said. Read and written with the lock of its
 * number; only `session` may be read without it. */
enum { PLACE_CALLS = 16, CALL_TEXT_BYTES = 109 };
struct call_record {
  int64_t from_ms, to_ms;
  uint8_t over, id_len, tool_len;
  char text[CALL_TEXT_BYTES]; /* the id, and the tool's name */
};
enum place_writing { PLACE_BEING_WRITTEN = 1, PLACE_FORGOTTEN = 2 }; /* bits */
struct call_place {
  _Atomic uint32_t session; /* 0: no session's */
  _Atomic uint32_t writing; /* not 0: what follows is void; enum place_writing */
  uint32_t pid, count;      /* the owner's; of calls */
  uint64_t start_time;      /* the owner's */
  uint64_t epoch;           /* of the session, when this was said */
  struct call_record calls[PLACE_CALLS];
};

enum {
  PLACES_LOCKS_OFFSET = STORE_PHASES * 8,
  PLACES_CALLS_OFFSET = PLACES_LOCKS_OFFSET + STORE_CALL_LOCKS * (int)sizeof(pthread_mutex_t),
  PLACES_BYTES = PLACES_CALLS_OFFSET + STORE_CALL_PLACES * (int)sizeof(struct call_place)
};

struct places {
  const struct owner *self; /* this process */
  _Atomic uint64_t *phases;
  pthread_mutex_t *locks; /* robust, process-shared */
  struct call_place *calls;
};
/* The places take PLACES_BYTES at `memory`. */
struct places places_at(void *memory, const struct owner *self);
/* Makes the locks, before any other process uses them. Returns 0, or an errno. */
int places_make_locks(const struct places *places);
/* Makes a lock that processes share; if its holder dies, the next process gets it. 0, or an errno.
 */
int places_make_lock(pthread_mutex_t *lock);

/* store.h explains these functions. */
int places_phase(const struct places *places, uint32_t session, uint64_t epoch, uint64_t *ret_word);
bool places_phase_set(const struct places *places, uint32_t session, uint64_t epoch,
                      unsigned phase);
void places_phase_replace(const struct places *places, uint32_t session, uint64_t epoch,
                          uint64_t word, int phase);
bool places_calls(const struct places *places, const struct calls_of *whose, calls_visitor visit,
                  void *context);
bool places_calls_any(const struct places *places, uint32_t session);
bool places_any_runs(const struct places *places); /* a call of any session; without a lock */
void places_calls_forget(const struct places *places, uint32_t session);

#endif
