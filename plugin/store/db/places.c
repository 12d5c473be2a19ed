/* SPDX-License-Identifier: MIT
 *
 * store/db/places.c: see places.h. Sessions share words and places by their numbers, and one
 * session at a time occupies one. Each has the epoch of the owner who wrote it, so that what a
 * former owner left is void. The lock of a place is robust: if a process dies with it, the next one
 * gets it, and a place that was being written is cleared.
 */
#include "store/db/places.h"

#include <errno.h>
#include <string.h>

#include "common/libc.h"

struct places places_at(void *memory, const struct owner *self) {
  char *at = memory;
  return (struct places){
      .self = self,
      .phases = (_Atomic uint64_t *)memory,
      .locks = (pthread_mutex_t *)(void *)(at + PLACES_LOCKS_OFFSET),
      .calls = (struct call_place *)(void *)(at + PLACES_CALLS_OFFSET),
  };
}

int places_make_lock(pthread_mutex_t *lock) {
  pthread_mutexattr_t attributes;
  int err = pthread_mutexattr_init(&attributes);
  if (err) return err;
  err = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  if (!err) err = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  if (!err) {
    memset(lock, 0, sizeof(pthread_mutex_t));
    err = pthread_mutex_init(lock, &attributes);
  }
  pthread_mutexattr_destroy(&attributes);
  return err;
}

int places_make_locks(const struct places *places) {
  int err = 0;
  for (int i = 0; !err && i < STORE_CALL_LOCKS; i++) err = places_make_lock(&places->locks[i]);
  return err;
}

/* -- phases ------------------------------------------------------------------------------------ */

/* A word has the session's number in its upper half, then the epoch, then the phase + 1. 0: the
 * word is free. */
enum { SESSION_SHIFT = 32, EPOCH_SHIFT = 8, PHASE_MASK = 0xff };

static uint64_t word_of(uint32_t session, uint64_t epoch) {
  return (uint64_t)session << SESSION_SHIFT | (epoch << EPOCH_SHIFT & UINT32_MAX);
}

static _Atomic uint64_t *phase_word(const struct places *places, uint32_t session) {
  return &places->phases[session % STORE_PHASES];
}

/* Is the word of a later owner? Epochs are counted up; the word has the lower part. */
static bool is_later(uint64_t word, uint32_t session, uint64_t epoch) {
  uint32_t ahead = (uint32_t)(word & ~(uint64_t)PHASE_MASK) - (uint32_t)word_of(session, epoch);
  return ahead && ahead <= UINT32_MAX / 2;
}

int places_phase(const struct places *places, uint32_t session, uint64_t epoch,
                 uint64_t *ret_word) {
  uint64_t word = atomic_load_explicit(phase_word(places, session), memory_order_relaxed);
  *ret_word = word;
  if (!word || (word & ~(uint64_t)PHASE_MASK) != word_of(session, epoch)) return -1;
  return (int)(word & PHASE_MASK) - 1;
}

bool places_phase_set(const struct places *places, uint32_t session, uint64_t epoch,
                      unsigned phase) {
  _Atomic uint64_t *at = phase_word(places, session);
  uint64_t word = atomic_load(at);
  do {
    if (word && (word >> SESSION_SHIFT != session || is_later(word, session, epoch))) return false;
  } while (!atomic_compare_exchange_weak(at, &word, word_of(session, epoch) | (phase + 1)));
  return true;
}

void places_phase_replace(const struct places *places, uint32_t session, uint64_t epoch,
                          uint64_t word, int phase) {
  bool current = (word & ~(uint64_t)PHASE_MASK) == word_of(session, epoch);
  uint64_t next = current && phase >= 0 ? word_of(session, epoch) | ((unsigned)phase + 1) : 0;
  if (word >> SESSION_SHIFT != session || is_later(word, session, epoch)) return;
  atomic_compare_exchange_strong(phase_word(places, session), &word, next);
}

/* -- the calls that run ------------------------------------------------------------------------ */

enum {
  LOCK_PATIENCE_MS = 2,
  KEPT_MS = 10000,
  ORPHANS_KEPT_MS = 3600000 /* for the host that goes on with the session */
};

_Static_assert((int)PLACE_CALLS == (int)MEMORY_CALLS, "a place holds what producers remember");

static struct call_place *place_of(const struct places *places, uint32_t session) {
  return &places->calls[session % STORE_CALL_PLACES];
}

bool places_calls_any(const struct places *places, uint32_t session) {
  return session && atomic_load(&place_of(places, session)->session) == session;
}

/* -- the lock ---------------------------------------------------------------------------------- */

static bool lock_place(const struct places *places, uint32_t session) {
  pthread_mutex_t *lock = &places->locks[session % STORE_CALL_LOCKS];
  int err = pthread_mutex_trylock(lock);
  if (err == EBUSY) err = libc_lock_until(lock, store_deadline_in(LOCK_PATIENCE_MS));
  if (err == EOWNERDEAD) err = pthread_mutex_consistent(lock);
  return !err;
}

static void unlock_place(const struct places *places, uint32_t session) {
  pthread_mutex_unlock(&places->locks[session % STORE_CALL_LOCKS]);
}

/* -- a place, with its lock -------------------------------------------------------------------- */

/* Was a writer killed, or did the machine crash while the page was written to the disk, or is what
 * the place says not true any more? */
static bool is_torn(const struct call_place *place) {
  if (atomic_load(&place->writing) || place->count > PLACE_CALLS) return true;
  for (uint32_t i = 0; i < place->count; i++) {
    const struct call_record *call = &place->calls[i];
    if (call->over > 1 || call->id_len + call->tool_len > CALL_TEXT_BYTES) return true;
  }
  return false;
}

/* None of the calls runs, and no watcher still has something to say of them. */
static bool is_idle(const struct call_place *place, int64_t now_ms) {
  for (uint32_t i = 0; i < place->count; i++) {
    const struct call_record *call = &place->calls[i];
    if (!call->over || now_ms - call->to_ms < KEPT_MS) return false;
  }
  return true;
}

static bool owner_lives(const struct places *places, const struct call_place *place) {
  struct owner owner = *places->self;
  owner.pid = place->pid;
  owner.start_time = place->start_time;
  return owner_alive(&owner);
}

/* Calls of a dead host are not forgotten: the host that continues its session asks for them. */
static bool is_forgotten(const struct places *places, const struct call_place *place,
                         int64_t now_ms) {
  if (owner_lives(places, place)) return false;
  for (uint32_t i = 0; i < place->count; i++)
    if (!place->calls[i].over && now_ms - place->calls[i].from_ms < ORPHANS_KEPT_MS) return false;
  return true;
}

static bool may_take(const struct places *places, const struct call_place *place,
                     const struct calls_of *whose) {
  uint32_t session = atomic_load(&place->session);
  if (!session || (session == whose->session && place->epoch <= whose->epoch)) return true;
  return is_idle(place, whose->now_ms) || is_forgotten(places, place, whose->now_ms);
}

static bool is_of(const struct call_place *place, const struct calls_of *whose) {
  return atomic_load(&place->session) == whose->session && place->epoch == whose->epoch;
}

/* The texts stay in the place. */
static struct memory calls_in(const struct call_place *place) {
  struct memory memory = {.call_count = place->count};
  for (uint32_t i = 0; i < place->count; i++) {
    const struct call_record *call = &place->calls[i];
    memory.calls[i] = (struct tool_call){.call_id = span_of(call->text, call->id_len),
                                         .tool = span_of(call->text + call->id_len, call->tool_len),
                                         .from_ms = call->from_ms,
                                         .to_ms = call->to_ms,
                                         .over = call->over};
  }
  return memory;
}

/* False: an id or a name is too long. */
static bool write_calls(const struct memory *memory, struct call_place *place) {
  place->count = (uint32_t)memory->call_count;
  for (size_t i = 0; i < memory->call_count; i++) {
    const struct tool_call *call = &memory->calls[i];
    struct call_record *record = &place->calls[i];
    if (call->tool.len > CALL_TEXT_BYTES || call->call_id.len > CALL_TEXT_BYTES - call->tool.len)
      return false;
    if (call->call_id.len) memcpy(record->text, call->call_id.ptr, call->call_id.len);
    if (call->tool.len) memcpy(record->text + call->call_id.len, call->tool.ptr, call->tool.len);
    record->id_len = (uint8_t)call->call_id.len;
    record->tool_len = (uint8_t)call->tool.len;
    record->from_ms = call->from_ms;
    record->to_ms = call->to_ms;
    record->over = call->over;
  }
  return true;
}

/* A process that is killed in between leaves a mark. A place that was forgotten meanwhile stays
 * forgotten. */
static void replace_place(struct call_place *place, const struct call_place *with) {
  uint32_t whole = PLACE_BEING_WRITTEN;
  (void)atomic_fetch_or(&place->writing, PLACE_BEING_WRITTEN);
  atomic_store(&place->session, atomic_load(&with->session));
  place->pid = with->pid;
  place->start_time = with->start_time;
  place->epoch = with->epoch;
  place->count = with->count;
  memcpy(place->calls, with->calls, with->count * sizeof place->calls[0]);
  (void)atomic_compare_exchange_strong(&place->writing, &whole, 0);
}

static void empty_place(struct call_place *place) {
  static const struct call_place empty = {.count = 0};
  atomic_store(&place->writing, PLACE_BEING_WRITTEN);
  replace_place(place, &empty);
}

static bool change_place(struct call_place *place, const struct calls_of *whose,
                         calls_visitor visit, void *context) {
  struct call_place next = {
      .pid = whose->owner->pid, .start_time = whose->owner->start_time, .epoch = whose->epoch};
  struct memory memory = {.call_count = 0};
  if (is_of(place, whose)) memory = calls_in(place);
  if (!visit(context, &memory)) return true;
  atomic_store(&next.session, whose->session);
  if (!write_calls(&memory, &next)) return false;
  replace_place(place, &next);
  return true;
}

bool places_calls(const struct places *places, const struct calls_of *whose, calls_visitor visit,
                  void *context) {
  struct call_place *place = place_of(places, whose->session);
  bool visited = false;
  if (!lock_place(places, whose->session)) return false;
  if (is_torn(place)) empty_place(place);
  if (whose->owner) {
    visited = may_take(places, place, whose) && change_place(place, whose, visit, context);
  } else if (is_of(place, whose)) {
    struct memory memory = calls_in(place);
    visited = true;
    (void)visit(context, &memory);
  }
  unlock_place(places, whose->session);
  return visited;
}

/* A process that was stopped with the lock may be writing: what it writes is void too. The next to
 * get the lock empties the place. */
void places_calls_forget(const struct places *places, uint32_t session) {
  if (places_calls_any(places, session))
    (void)atomic_fetch_or(&place_of(places, session)->writing, PLACE_FORGOTTEN);
}

bool places_any_runs(const struct places *places) {
  for (int i = 0; i < STORE_CALL_PLACES; i++) {
    const struct call_place *place = &places->calls[i];
    for (uint32_t j = 0; atomic_load(&place->session) && j < place->count && j < PLACE_CALLS; j++)
      if (!place->calls[j].over) return true;
  }
  return false;
}
