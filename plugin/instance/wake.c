/* SPDX-License-Identifier: MIT
 */
#include "instance/wake.h"

#include <stdlib.h>

enum { FIRST_RUNG = 16 };

void wake_init(struct wake *wake) { (void)pthread_mutex_init(&wake->lock, NULL); }

void wake_finish(struct wake *wake) {
  free(wake->ready.items);
  free(wake->failed.items);
  pthread_mutex_destroy(&wake->lock);
}

static int append(struct session_list *list, const struct session *session) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? list->capacity * 2 : FIRST_RUNG;
    const struct session **larger = realloc(list->items, capacity * sizeof *larger);
    if (!larger) return -1;
    list->items = larger;
    list->capacity = capacity;
  }
  list->items[list->count++] = session;
  return 0;
}

int wake_add(struct wake *wake, const struct session *session) {
  return append(&wake->ready, session);
}

int wake_add_failed(struct wake *wake, const struct session *session) {
  for (size_t i = 0; i < wake->failed.count; i++) {
    if (wake->failed.items[i] == session) return 0;
  }
  return append(&wake->failed, session);
}

void wake_start_again(struct wake *wake) {
  struct session_list named = wake->ready;
  wake->next = 0;
  named.count = 0;
  if (!wake->ended) {
    wake->ready = named;
    return;
  }
  wake->ready = wake->failed;
  wake->failed = named;
  wake->failed_rings = false;
}
