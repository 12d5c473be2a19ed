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

static bool has(const struct remembered_settles *settles, const struct remembered *settle) {
  for (size_t i = 0; i < settles->count; i++) {
    const struct remembered *one = &settles->list[i];
    if (one->delivery_id == settle->delivery_id && one->outcome == settle->outcome &&
        one->may_be_stale == settle->may_be_stale)
      return true;
  }
  return false;
}

bool remembered_add(struct remembered_settles *settles, struct remembered settle) {
  pthread_mutex_lock(&settles->lock);
  bool is_there = has(settles, &settle), has_room = is_there || make_room(settles);
  if (!is_there && has_room) settles->list[settles->count++] = settle;
  atomic_store(&settles->any, settles->count > 0);
  pthread_mutex_unlock(&settles->lock);
  return has_room;
}

bool remembered_take(struct remembered_settles *settles, struct remembered *ret_settle) {
  if (!atomic_load(&settles->any)) return false;
  pthread_mutex_lock(&settles->lock);
  bool any = settles->count > 0;
  if (any) {
    *ret_settle = settles->list[0];
    settles->count--;
    memmove(settles->list, settles->list + 1, settles->count * sizeof *settles->list);
  }
  atomic_store(&settles->any, settles->count > 0);
  pthread_mutex_unlock(&settles->lock);
  return any;
}
