/* SPDX-License-Identifier: MIT
 *
 * tests/store/threads_sessions.c: the table of sessions grows while threads read it. A thread that
 * finds a session finds it complete, and two threads that add the same session get the same entry.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "instance/session_table.h"
#include "simple.h"

enum { THREADS = 4, SESSIONS = 3000 };

static struct session_table table;
static const _Atomic uint32_t changes;
static struct session *added[THREADS][SESSIONS];
static atomic_uint started;

static struct tidings_span name(char *text, size_t size, unsigned i) {
  int len = snprintf(text, size, "session %u", i);
  return span_of(text, (size_t)len);
}

static void *add_all(void *context) {
  struct session **mine = context;
  unsigned self = (unsigned)((mine - &added[0][0]) / SESSIONS);
  char text[64];
  atomic_fetch_add(&started, 1);
  while (atomic_load(&started) < THREADS) sched_yield();
  for (unsigned step = 0; step < SESSIONS; step++) {
    unsigned i = self % 2 ? SESSIONS - 1 - step : step;
    struct session *found = session_table_find(&table, name(text, sizeof text, i));
    if (found) SIMPLE_CHECK(found->number == i + 1 && found->changes == &changes);
    mine[i] = session_table_add(&table, name(text, sizeof text, i), i + 1, &changes);
    SIMPLE_CHECK(mine[i] && mine[i]->number == i + 1);
    SIMPLE_CHECK(!found || found == mine[i]);
    SIMPLE_CHECK(session_table_find(&table, name(text, sizeof text, i)) == mine[i]);
    atomic_store(&mine[i]->quiet, step * 2);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  SIMPLE_CHECK(session_table_init(&table) == 0);
  for (int i = 0; i < THREADS; i++)
    SIMPLE_CHECK(pthread_create(&threads[i], NULL, add_all, added[i]) == 0);
  for (int i = 0; i < THREADS; i++) SIMPLE_CHECK(pthread_join(threads[i], NULL) == 0);
  for (int i = 0; i < SESSIONS; i++) {
    for (int thread = 1; thread < THREADS; thread++) SIMPLE_CHECK(added[thread][i] == added[0][i]);
  }
  SIMPLE_CHECK(table.count == SESSIONS);
  session_table_finish(&table);
  return 0;
}
