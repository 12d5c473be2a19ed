/* SPDX-License-Identifier: MIT
 */
#include "instance/remembered.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 16, REMEMBERED_LIMIT = 4096 };

void remembered_init(struct remembered_settles *settles) {
  (void)pthread_mutex_init(&settles->lock, NULL);
}

void remembered_finish(struct remembered_settles *settles) {
  pthread_mutex_destroy(&settles->lock);
  free(settles->list);
}

static bool make_room(struct remembered_settles *settles) {
  size_t capacity = settles->capacity ? settles->capacity * 2 : FIRST_CAPACITY;
  if (settles->count < settles->capacity) return true;
  if (capacity > REMEMBERED_LIMIT) return false;
  struct remembered *larger = realloc(settles->list, capacity * sizeof *larger);
  if (!larger) return false;
  settles->list = larger;
  settles->capacity = capacity;
  return true;
}

/* Returns the index of the settle; `count`: it is not there. */
static size_t find_settle(const struct remembered_settles *settles,
                          const struct remembered *settle) {
  for (size_t i = 0; i < settles->count; i++) {
    const struct remembered *one = &settles->list[i];
    if (one->delivery_id == settle->delivery_id && one->outcome == settle->outcome &&
        one->may_be_stale == settle->may_be_stale)
      return i;
  }
  return settles->count;
}

static void remove_at(struct remembered_settles *settles, size_t at) {
  settles->count--;
  memmove(settles->list + at, settles->list + at + 1,
          (settles->count - at) * sizeof *settles->list);
  atomic_store(&settles->any, settles->count > 0);
}

bool remembered_add(struct remembered_settles *settles, struct remembered settle) {
  pthread_mutex_lock(&settles->lock);
  bool is_there = find_settle(settles, &settle) < settles->count,
       has_room = is_there || make_room(settles);
  if (!is_there && has_room) settles->list[settles->count++] = settle;
  atomic_store(&settles->any, settles->count > 0);
  pthread_mutex_unlock(&settles->lock);
  return has_room;
}

bool remembered_drop(struct remembered_settles *settles, const struct remembered *settle) {
  if (!atomic_load(&settles->any)) return false;
  pthread_mutex_lock(&settles->lock);
  size_t at = find_settle(settles, settle);
  bool found = at < settles->count;
  if (found) remove_at(settles, at);
  pthread_mutex_unlock(&settles->lock);
  return found;
}

bool remembered_take(struct remembered_settles *settles, struct remembered *ret_settle) {
  if (!atomic_load(&settles->any)) return false;
  pthread_mutex_lock(&settles->lock);
  bool any = settles->count > 0;
  if (any) {
    *ret_settle = settles->list[0];
    remove_at(settles, 0);
  }
  pthread_mutex_unlock(&settles->lock);
  return any;
}
