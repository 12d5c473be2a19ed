/* SPDX-License-Identifier: MIT
 */
#include "instance/wake.h"

#include <stdlib.h>

enum { FIRST_RUNG = 16 };

void wake_init(struct wake *wake) { (void)pthread_mutex_init(&wake->lock, NULL); }

void wake_finish(struct wake *wake) {
  free(wake->ready);
  pthread_mutex_destroy(&wake->lock);
}

int wake_add(struct wake *wake, const struct session *session) {
  if (wake->count == wake->capacity) {
    size_t capacity = wake->capacity ? wake->capacity * 2 : FIRST_RUNG;
    const struct session **larger = realloc(wake->ready, capacity * sizeof *larger);
    if (!larger) return -1;
    wake->ready = larger;
    wake->capacity = capacity;
  }
  wake->ready[wake->count++] = session;
  return 0;
}
