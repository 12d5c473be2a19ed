/* SPDX-License-Identifier: MIT
 *
 * tests/store/threads_quiesce.c: a quiesce that answers BUSY changes nothing: while a thread tries
 * it again and again, with an unreleased reply, no call of another thread may get CLOSED. Then it
 * succeeds, and every later call gets CLOSED.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "simple.h"

enum { THREADS = 3, TRIES = 200000 };

static struct tidings_plugin *plugin;
static atomic_bool over;
static atomic_uint wrong, calls;

static void *call(void *context) {
  (void)context;
  while (!atomic_load(&over)) {
    const struct tidings_reply *reply = NULL;
    const struct tidings_tool_result result = {.size = sizeof result, .session = {"quiet", 5}};
    int code = plugin->on_tool_result(plugin, &result, &reply, NULL);
    if (code) atomic_fetch_add(&wrong, 1);
    plugin->release(plugin, reply);
    atomic_fetch_add(&calls, 1);
  }
  return NULL;
}

int main(void) {
  char *folder = simple_folder();
  pthread_t threads[THREADS];
  const struct tidings_reply *held;
  plugin = simple_open(folder, TIDINGS_ROLE_HOST);
  static const char opened[] = "{\"type\":\"session.opened\",\"session\":\"s\"}";
  const struct tidings_span event = {opened, sizeof opened - 1};
  SIMPLE_CHECK(plugin->on_event(plugin, &event, &held, NULL) == 0 && held);
  for (int i = 0; i < THREADS; i++)
    SIMPLE_CHECK(pthread_create(&threads[i], NULL, call, NULL) == 0);
  for (int i = 0; i < TRIES; i++) SIMPLE_CHECK(plugin->quiesce(plugin, NULL) == TIDINGS_E_BUSY);
  SIMPLE_CHECK(plugin->close(plugin, NULL) == TIDINGS_E_BUSY);
  while (atomic_load(&calls) < 1000 && !atomic_load(&wrong)) sched_yield();
  atomic_store(&over, true);
  for (int i = 0; i < THREADS; i++) SIMPLE_CHECK(pthread_join(threads[i], NULL) == 0);
  SIMPLE_CHECK(atomic_load(&wrong) == 0);
  SIMPLE_CHECK(plugin->quiesce(plugin, NULL) == TIDINGS_E_BUSY);
  plugin->release(plugin, held);
  SIMPLE_CHECK(plugin->quiesce(plugin, NULL) == 0);
  SIMPLE_CHECK(plugin->quiesce(plugin, NULL) == 0);
  SIMPLE_CHECK(plugin->on_event(plugin, &event, &held, NULL) == TIDINGS_E_CLOSED);
  SIMPLE_CHECK(plugin->close(plugin, NULL) == 0);
  simple_remove(folder);
  return 0;
}
