/* SPDX-License-Identifier: MIT
 *
 * instance/session_table.c: an open-addressing table whose slots are published one by one. When it
 * grows, the old slots stay until close, because a reader may be in them.
 */
#include "instance/session_table.h"

#include <stdlib.h>

struct session_slots {
  struct session_slots *older;
  size_t mask;
  _Atomic(struct session *) at[];
};

enum { FIRST_SLOTS = 64 };

static uint64_t hash_id(struct tidings_span id) {
  const char *at = id.ptr;
  size_t left = id.len;
  uint64_t hash = 0x9e3779b97f4a7c15u ^ id.len, word;
  for (; left >= 8; at += 8, left -= 8) {
    memcpy(&word, at, 8);
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  if (left) {
    word = 0;
    memcpy(&word, at, left);
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

static struct session *slots_find(struct session_slots *slots, struct tidings_span id,
                                  uint64_t hash) {
  if (!slots) return NULL;
  for (size_t i = (size_t)hash & slots->mask;; i = (i + 1) & slots->mask) {
    struct session *session = atomic_load_explicit(&slots->at[i], memory_order_acquire);
    if (!session) return NULL;
    uint64_t its = atomic_load_explicit(&session->hash, memory_order_relaxed);
    if (its == hash && span_equal(session->id, id)) return session;
  }
}

static void slots_place(struct session_slots *slots, struct session *session) {
  uint64_t hash = atomic_load_explicit(&session->hash, memory_order_relaxed);
  size_t i = (size_t)hash & slots->mask;
  while (atomic_load_explicit(&slots->at[i], memory_order_relaxed)) i = (i + 1) & slots->mask;
  atomic_store_explicit(&slots->at[i], session, memory_order_release);
}

/* The slots are at most half full, so that a miss is short. */
static struct session_slots *slots_with_room(struct session_table *table) {
  struct session_slots *slots = atomic_load(&table->slots);
  if (slots && table->count * 2 <= slots->mask) return slots;
  size_t size = slots ? (slots->mask + 1) * 2 : FIRST_SLOTS;
  struct session_slots *larger = calloc(1, sizeof *larger + size * sizeof larger->at[0]);
  if (!larger) return NULL;
  larger->mask = size - 1;
  larger->older = slots;
  for (size_t i = 0; slots && i <= slots->mask; i++) {
    struct session *session = atomic_load(&slots->at[i]);
    if (session) slots_place(larger, session);
  }
  atomic_store_explicit(&table->slots, larger, memory_order_release);
  return larger;
}

static struct session *session_make(struct tidings_span id, uint64_t hash, uint32_t number,
                                    const _Atomic uint32_t *changes) {
  struct session *session = malloc(sizeof *session + id.len);
  if (!session) return NULL;
  char *copy = (char *)(session + 1);
  memcpy(copy, id.ptr, id.len);
  atomic_init(&session->hash, hash);
  session->id = span_of(copy, id.len);
  session->number = number;
  session->changes = changes;
  atomic_init(&session->quiet, QUIET_UNKNOWN);
  atomic_init(&session->quiet_stamp, 0);
  atomic_init(&session->looked_ms, 0);
  atomic_init(&session->behind_ms, 0);
  session->backlog = NULL;
  return session;
}

int session_table_init(struct session_table *table) {
  atomic_init(&table->slots, NULL);
  atomic_init(&table->lives, 0);
  table->count = 0;
  return pthread_mutex_init(&table->lock, NULL) ? -1 : 0;
}

void session_table_finish(struct session_table *table) {
  struct session_slots *slots = atomic_load(&table->slots);
  for (size_t i = 0; slots && i <= slots->mask; i++) {
    struct session *session = atomic_load(&slots->at[i]);
    if (session) backlog_free(session->backlog);
    free(session);
  }
  while (slots) {
    struct session_slots *older = slots->older;
    free(slots);
    slots = older;
  }
  atomic_store(&table->slots, NULL);
  pthread_mutex_destroy(&table->lock);
}

struct session *session_table_find(struct session_table *table, struct tidings_span id) {
  return slots_find(atomic_load_explicit(&table->slots, memory_order_acquire), id, hash_id(id));
}

struct session *session_table_add(struct session_table *table, struct tidings_span id,
                                  uint32_t number, const _Atomic uint32_t *changes) {
  uint64_t hash = hash_id(id);
  pthread_mutex_lock(&table->lock);
  struct session *session = slots_find(atomic_load(&table->slots), id, hash);
  if (!session) {
    struct session_slots *slots = slots_with_room(table);
    session = slots ? session_make(id, hash, number, changes) : NULL;
    if (session) {
      slots_place(slots, session);
      table->count++;
    }
  }
  pthread_mutex_unlock(&table->lock);
  return session;
}

void session_table_each(struct session_table *table,
                        bool (*visit)(void *context, struct session *session), void *context) {
  struct session_slots *slots = atomic_load_explicit(&table->slots, memory_order_acquire);
  bool goes_on = true;
  for (size_t i = 0; goes_on && slots && i <= slots->mask; i++) {
    struct session *session = atomic_load_explicit(&slots->at[i], memory_order_acquire);
    if (session && atomic_load(&session->hash) == hash_id(session->id))
      goes_on = visit(context, session);
  }
}

/* Sessions keep their slots, because readers may be in them, and get a hash that no search finds. A
 * table that grows places them by that hash. */
void session_table_void(struct session_table *table, uint32_t lives) {
  if (atomic_load_explicit(&table->lives, memory_order_acquire) == lives) return;
  pthread_mutex_lock(&table->lock);
  struct session_slots *slots = atomic_load(&table->slots);
  bool changed = atomic_load(&table->lives) != lives;
  for (size_t i = 0; changed && slots && i <= slots->mask; i++) {
    struct session *session = atomic_load(&slots->at[i]);
    if (session) atomic_store_explicit(&session->hash, ~hash_id(session->id), memory_order_relaxed);
  }
  atomic_store_explicit(&table->lives, lives, memory_order_release);
  pthread_mutex_unlock(&table->lock);
}
