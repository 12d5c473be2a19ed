/* SPDX-License-Identifier: MIT
 */
#include "listen/known.h"

#include <pthread.h>

#include "command/recipes.h"
#include "common/clock.h"
#include "common/fnv.h"

enum { MOST_KNOWN = 8192 };

static const int64_t known_ms = (int64_t)RECIPES_REMEMBERED_DAYS * 86400000;

struct known {
  uint64_t event, session;
  int64_t at_ms;
};

static struct known knowns[MOST_KNOWN]; /* a ring */
static size_t known_count;
static pthread_mutex_t known_mutex = PTHREAD_MUTEX_INITIALIZER;

static uint64_t hash_event(struct tidings_span route, struct tidings_span id) {
  return fnv_span(fnv_byte(fnv_span(FNV_START, route), 0), id);
}

bool listen_known_elsewhere(struct tidings_span route, struct tidings_span id,
                            struct tidings_span session) {
  uint64_t event = hash_event(route, id);
  int64_t since_ms = clock_wall_ms() - known_ms;
  bool elsewhere = false;
  pthread_mutex_lock(&known_mutex);
  for (size_t i = 0; i < known_count && i < MOST_KNOWN; i++) {
    const struct known *one = &knowns[i];
    if (one->event == event && one->at_ms >= since_ms)
      elsewhere = one->session != fnv_span(FNV_START, session);
  }
  pthread_mutex_unlock(&known_mutex);
  return elsewhere;
}

void listen_known_note(struct tidings_span route, struct tidings_span id,
                       struct tidings_span session) {
  const struct known noted = {.event = hash_event(route, id),
                              .session = fnv_span(FNV_START, session),
                              .at_ms = clock_wall_ms()};
  pthread_mutex_lock(&known_mutex);
  knowns[known_count++ % MOST_KNOWN] = noted;
  pthread_mutex_unlock(&known_mutex);
}
