/* SPDX-License-Identifier: MIT
 *
 * tests/store/threads_wake.c: threads of one process make pushes that need the host at once, and
 * another thread sleeps in poll: each push must wake it. A pusher goes on only when its push has
 * been handed out, so a lost wake is noticed.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "simple.h"

enum { PUSHERS = 3, EACH = 120, PATIENCE_MS = 60000 };

extern const struct tidings_entry tidings_entry;
static struct tidings_plugin *plugin;
static const struct tidings_wake *wake;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned delivered[PUSHERS]; /* notifications handed out, a session each; under the lock */

static void send(const char *text) {
  const struct tidings_span event = {text, strlen(text)};
  const struct tidings_reply *reply = NULL;
  SIMPLE_CHECK(plugin->on_event(plugin, &event, &reply, NULL) == 0);
  plugin->release(plugin, reply);
}

/* Everything that is pushed here rings. */
static void *push_all(void *context) {
  unsigned self = (unsigned)(uintptr_t)context;
  for (unsigned i = 1; i <= EACH; i++) {
    char text[200];
    struct timespec until;
    (void)snprintf(text, sizeof text,
                   "{\"type\":\"notification\",\"session\":\"%u\",\"data\":{\"kind\":\"t.n\","
                   "\"message\":\"m\",\"activation\":\"idle\"}}",
                   self);
    send(text);
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_MS / 1000;
    pthread_mutex_lock(&lock);
    while (delivered[self] < i) SIMPLE_CHECK(pthread_cond_timedwait(&changed, &lock, &until) == 0);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void deliver(unsigned session) {
  char id = (char)('0' + session);
  const struct tidings_tool_result result = {.size = sizeof result, .session = {&id, 1}};
  const struct tidings_reply *reply = NULL;
  SIMPLE_CHECK(plugin->on_tool_result(plugin, &result, &reply, NULL) == 0);
  if (!reply) return;
  const struct tidings_settlement settlement = {
      .size = sizeof settlement, .outcome = TIDINGS_COMMITTED, .delivery_id = reply->delivery_id};
  SIMPLE_CHECK(plugin->settle(plugin, &settlement, NULL, NULL) == 0);
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < reply->notification_count; i++)
    delivered[session] += reply->notifications[i]->count;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  plugin->release(plugin, reply);
}

static unsigned total(void) {
  pthread_mutex_lock(&lock);
  unsigned sum = 0;
  for (unsigned i = 0; i < PUSHERS; i++) sum += delivered[i];
  pthread_mutex_unlock(&lock);
  return sum;
}

static void look(void) {
  char id[256];
  for (size_t len = 1; len;) {
    SIMPLE_CHECK(wake->next_session(plugin, id, sizeof id, &len, NULL) == 0);
    if (len) deliver((unsigned)(id[0] - '0'));
  }
}

int main(void) {
  char *folder = simple_folder();
  pthread_t threads[PUSHERS];
  struct pollfd polled = {.fd = -1, .events = POLLIN};
  plugin = simple_open(folder, TIDINGS_ROLE_HOST);
  wake = tidings_entry.get_extension(TIDINGS_EXT_WAKE);
  SIMPLE_CHECK(wake->descriptor(plugin, &polled.fd, NULL) == 0);
  for (unsigned i = 0; i < PUSHERS; i++) {
    char text[100];
    (void)snprintf(text, sizeof text,
                   "{\"type\":\"session.opened\",\"session\":\"%u\",\"data\":{}}", i);
    send(text);
  }
  look();
  for (uintptr_t i = 0; i < PUSHERS; i++)
    SIMPLE_CHECK(pthread_create(&threads[i], NULL, push_all, (void *)i) == 0);
  while (total() < PUSHERS * EACH) {
    SIMPLE_CHECK(poll(&polled, 1, PATIENCE_MS) == 1);
    look();
  }
  for (unsigned i = 0; i < PUSHERS; i++) SIMPLE_CHECK(pthread_join(threads[i], NULL) == 0);
  SIMPLE_CHECK(plugin->close(plugin, NULL) == 0);
  simple_remove(folder);
  return 0;
}
