/* SPDX-License-Identifier: MIT
 *
 * instance/wake.c: see wake.h. Nothing is lost because of the order: the FIFO is emptied, then the
 * counters are read, then the store. What could not be named, because that failed, is found by the
 * next call; the FIFO is not filled again for it, or a host whose store is broken would never sleep
 * any more.
 */
#include "instance/wake.h"

#include <stdlib.h>

#include "common/error.h"
#include "instance/instance.h"

struct search { /* in one snapshot */
  struct instance *instance;
  struct store_txn *txn;
  uint32_t number; /* of the session whose name is looked for */
  struct tidings_error *error;
};

static int no_memory(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory for the sessions that rang");
}

/* -- whose session is it, and what is it called? ----------------------------------------------- */

static int add(struct search *search, const struct session *session) {
  struct wake *wake = &search->instance->wake;
  if (!session) return no_memory(search->error);
  if (wake->count == wake->capacity) {
    size_t capacity = wake->capacity ? wake->capacity * 2 : 16;
    const struct session **larger = realloc(wake->rung, capacity * sizeof *larger);
    if (!larger) return no_memory(search->error);
    wake->rung = larger;
    wake->capacity = capacity;
  }
  wake->rung[wake->count++] = session;
  return 0;
}

static const struct session *remember(struct search *search, struct tidings_span name,
                                      uint32_t number) {
  struct instance *instance = search->instance;
  return session_table_add(&instance->sessions, name, number, store_bell(instance->store, number));
}

/* A session with a damaged head is nobody's: every call for it says so. */
static int look_whose(struct search *search, uint32_t number, bool *ret_mine) {
  struct arena arena = ARENA_EMPTY;
  struct head head;
  int code = head_get(search->txn, number, &arena, &head, NULL);
  *ret_mine = !code && owner_equal(&head.owner, &search->instance->owner);
  arena_free(&arena);
  return code == TIDINGS_E_NOMEM ? no_memory(search->error) : 0;
}

static int add_if_mine(void *context, struct tidings_span name, uint32_t number) {
  struct search *search = context;
  bool mine;
  int code = look_whose(search, number, &mine);
  return code || !mine ? code : add(search, remember(search, name, number));
}

enum { FOUND = 1 };

static int add_if_it(void *context, struct tidings_span name, uint32_t number) {
  struct search *search = context;
  if (number != search->number) return 0;
  int code = add(search, remember(search, name, number));
  return code ? code : FOUND;
}

/* The store finds numbers by names; the other way round, this process's memory is asked first, then
 * all names. */
static int add_number(struct search *search, uint32_t number) {
  const struct session *session = session_table_number(&search->instance->sessions, number);
  if (session) return add(search, session);
  search->number = number;
  int code = session_scan(search->txn, add_if_it, search, search->error);
  return code == FOUND ? 0 : code;
}

/* -- what rang --------------------------------------------------------------------------------- */

/* Of all sessions that share this counter, those that are ours. */
static int find_mine(struct search *search, uint32_t ring, uint32_t limit) {
  int code = 0;
  for (uint64_t number = ring ? ring : STORE_RINGS; !code && number < limit;
       number += STORE_RINGS) {
    bool mine;
    code = look_whose(search, (uint32_t)number, &mine);
    if (!code && mine) code = add_number(search, (uint32_t)number);
  }
  return code;
}

static int find_rung(struct search *search, const struct rings *rings) {
  uint32_t limit;
  int code = session_limit(search->txn, &limit, search->error);
  for (uint32_t group = 0; !code && group < RING_GROUPS; group++) {
    for (uint32_t i = 0; !code && rings->moved[group] && i < RING_GROUP; i++) {
      uint32_t ring = group * RING_GROUP + i;
      if (ring_moved(rings, ring)) code = find_mine(search, ring, limit);
    }
  }
  return code;
}

/* The list is empty. At first all that are ours are on it: an instance before this one may not have
 * named them all. */
static int look(struct instance *instance, struct tidings_error *error) {
  struct wake *wake = &instance->wake;
  struct search search = {.instance = instance, .error = error};
  const struct rings *rings = NULL;
  bool first = !wake->started;
  wake->next = wake->count = 0;
  store_wait_drain(instance->store);
  int code = rings_look(instance->store, &rings, error);
  if (code || (!rings && !first)) return code;
  code = store_read(instance->store, &search.txn, error);
  if (code) return code;
  code = first ? session_scan(search.txn, add_if_mine, &search, error) : find_rung(&search, rings);
  store_end(search.txn);
  if (code) {
    wake->count = 0;
    return code;
  }
  if (rings) rings_told(instance->store);
  wake->started = true;
  return 0;
}

/* -- the calls --------------------------------------------------------------------------------- */

static int enlist(struct instance *instance, int *ret_fd, struct tidings_error *error) {
  int code = store_wait(instance->store, &instance->owner, instance->budget_ms, ret_fd, error);
  if (!code) atomic_store(&instance->wake_used, true);
  return code;
}

int wake_descriptor(struct instance *instance, int32_t *ret_fd, struct tidings_error *error) {
  int fd;
  pthread_mutex_lock(&instance->wake.lock);
  int code = enlist(instance, &fd, error);
  pthread_mutex_unlock(&instance->wake.lock);
  if (!code) *ret_fd = fd;
  return code;
}

/* The host may go on polling what an instance before this one gave it, without asking for it
 * again. */
static int begin(struct instance *instance, struct tidings_error *error) {
  int fd;
  if (instance->wake.started || !store_waits(instance->store)) return 0;
  return enlist(instance, &fd, error);
}

int wake_next(struct instance *instance, char *buffer, size_t buffer_size, size_t *ret_len,
              struct tidings_error *error) {
  struct wake *wake = &instance->wake;
  pthread_mutex_lock(&wake->lock);
  int code = begin(instance, error);
  if (!code && wake->next == wake->count) code = look(instance, error);
  if (!code && wake->next == wake->count) {
    *ret_len = 0;
  } else if (!code) {
    struct tidings_span id = wake->rung[wake->next]->id;
    if (id.len <= buffer_size) {
      memcpy(buffer, id.ptr, id.len);
      *ret_len = id.len;
      wake->next++;
    } else {
      code = fail(error, TIDINGS_E_INVAL,
                  "buffer_size: %zu; expected at least %zu for the next session's id (255 is "
                  "always enough)",
                  buffer_size, id.len);
    }
  }
  pthread_mutex_unlock(&wake->lock);
  return code;
}

/* -- the beginning and the end ----------------------------------------------------------------- */

void wake_init(struct wake *wake) { (void)pthread_mutex_init(&wake->lock, NULL); }

void wake_finish(struct instance *instance) {
  struct wake *wake = &instance->wake;
  if (wake->next < wake->count) store_wait_again(instance->store);
  free(wake->rung);
  pthread_mutex_destroy(&wake->lock);
}
