/* SPDX-License-Identifier: MIT
 */
#include "instance/unseen.h"

#include <stdlib.h>

enum { FIRST_REPLIES = 8 };

void unseen_init(struct unseen_replies *replies) { (void)pthread_mutex_init(&replies->lock, NULL); }

void unseen_finish(struct unseen_replies *replies) {
  pthread_mutex_destroy(&replies->lock);
  free(replies->list);
}

/* NULL: there is none. */
static struct unseen *find_unseen(struct unseen_replies *replies, uint32_t session) {
  for (size_t i = 0; i < replies->count; i++) {
    if (replies->list[i].session == session) return &replies->list[i];
  }
  return NULL;
}

static struct unseen *add_unseen(struct unseen_replies *replies, uint32_t session) {
  if (replies->count == replies->capacity) {
    size_t capacity = replies->capacity ? replies->capacity * 2 : FIRST_REPLIES;
    struct unseen *larger = realloc(replies->list, capacity * sizeof *larger);
    if (!larger) return NULL;
    replies->list = larger;
    replies->capacity = capacity;
  }
  struct unseen *added = &replies->list[replies->count++];
  *added = (struct unseen){.session = session};
  return added;
}

void unseen_note(struct unseen_replies *replies, struct unseen unseen) {
  pthread_mutex_lock(&replies->lock);
  struct unseen *noted = find_unseen(replies, unseen.session);
  if (!noted) noted = add_unseen(replies, unseen.session);
  if (noted) {
    noted->asked.offer |= unseen.asked.offer;
    noted->asked.abort |= unseen.asked.abort;
    noted->asked.stop |= unseen.asked.stop;
  }
  atomic_store(&replies->any, replies->count > 0);
  pthread_mutex_unlock(&replies->lock);
}

struct turns_result unseen_of(struct unseen_replies *replies, uint32_t session) {
  struct turns_result asked = {0};
  if (!atomic_load(&replies->any)) return asked;
  pthread_mutex_lock(&replies->lock);
  const struct unseen *noted = find_unseen(replies, session);
  if (noted) asked = noted->asked;
  pthread_mutex_unlock(&replies->lock);
  return asked;
}

void unseen_forget(struct unseen_replies *replies, uint32_t session) {
  if (!atomic_load(&replies->any)) return;
  pthread_mutex_lock(&replies->lock);
  struct unseen *noted = find_unseen(replies, session);
  if (noted) *noted = replies->list[--replies->count];
  atomic_store(&replies->any, replies->count > 0);
  pthread_mutex_unlock(&replies->lock);
}
