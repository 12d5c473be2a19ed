/* SPDX-License-Identifier: MIT
 *
 * tests/store/threads_storm.c: pushers, a hook, settlers and queries on few sessions at once: every
 * push that was answered with success is handed out exactly once among the deliveries that were
 * committed, and nothing else is.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "common/span.h"
#include "simple.h"

enum { PUSHERS = 3, CARRIERS = 2, SESSIONS = 2, EACH = 150 };

extern const struct tidings_entry tidings_entry;
static struct tidings_plugin *plugin;
static atomic_uint pushing = PUSHERS, pushed, duplicates;
static atomic_uchar delivered[PUSHERS][EACH];

static void *push_all(void *context) {
  unsigned self = (unsigned)(uintptr_t)context;
  for (unsigned i = 0; i < EACH; i++) {
    char text[256];
    int len = snprintf(text, sizeof text,
                       "{\"type\":\"notification\",\"session\":\"s%u\",\"source\":\"p%u\",\"id\":"
                       "\"%u\",\"data\":{\"kind\":\"t.n\",\"message\":"
                       "\"%u %u\"}}",
                       i % SESSIONS, self, i, self, i);
    const struct tidings_span event = {text, (size_t)len};
    for (int again = 0; again < 2; again++) { /* the second is a duplicate */
      const struct tidings_reply *reply = NULL;
      SIMPLE_CHECK(plugin->on_event(plugin, &event, &reply, NULL) == 0);
      atomic_fetch_add(again ? &duplicates : &pushed,
                       reply && (reply->flags & TIDINGS_REPLY_DUPLICATE) ? (unsigned)again
                                                                         : !again);
      plugin->release(plugin, reply);
      if (i % 10) break;
    }
  }
  atomic_fetch_sub(&pushing, 1);
  return NULL;
}

/* Commits two of three deliveries, rolls the third back. */
static bool carry(unsigned session, unsigned *turn) {
  char id[8];
  int len = snprintf(id, sizeof id, "s%u", session);
  const struct tidings_tool_result result = {.size = sizeof result, .session = {id, (size_t)len}};
  const struct tidings_reply *reply = NULL;
  SIMPLE_CHECK(plugin->on_tool_result(plugin, &result, &reply, NULL) == 0);
  if (!reply) return false;
  bool commit = ++*turn % 3 != 0;
  for (size_t i = 0; commit && i < reply->notification_count; i++) {
    char text[32] = "", *rest;
    SIMPLE_CHECK(reply->notifications[i]->text.len < sizeof text);
    memcpy(text, reply->notifications[i]->text.ptr, reply->notifications[i]->text.len);
    unsigned long pusher = strtoul(text, &rest, 10), number = strtoul(rest, &rest, 10);
    SIMPLE_CHECK(rest > text && !*rest && pusher < PUSHERS && number < EACH);
    SIMPLE_CHECK(atomic_fetch_add(&delivered[pusher][number], 1) == 0);
  }
  const struct tidings_settlement settlement = {.size = sizeof settlement,
                                                .outcome = commit ? TIDINGS_COMMITTED
                                                                  : TIDINGS_ROLLED_BACK,
                                                .delivery_id = reply->delivery_id};
  SIMPLE_CHECK(plugin->settle(plugin, &settlement, NULL, NULL) == 0);
  plugin->release(plugin, reply);
  return true;
}

static void *carry_all(void *context) {
  unsigned turn = (unsigned)(uintptr_t)context, empty = 0;
  while (empty < 3) { /* after the last push, until nothing comes three times */
    bool over = !atomic_load(&pushing), any = false;
    for (unsigned session = 0; session < SESSIONS; session++) any = carry(session, &turn) || any;
    empty = over && !any ? empty + 1 : 0;
  }
  return NULL;
}

static void *ask_all(void *context) {
  const struct tidings_query *query = tidings_entry.get_extension(TIDINGS_EXT_QUERY);
  static const char *const requests[] = {
      "{\"name\":\"pending\",\"session\":\"s0\"}", "{\"name\":\"stats\",\"session\":\"s1\"}",
      "{\"name\":\"history\",\"session\":\"s0\"}",
      "{\"name\":\"configure\",\"config\":{\"delivery\":{\"max_items\":7}}}",
      "{\"name\":\"configure\",\"config\":{}}"};
  (void)context;
  for (unsigned i = 0; atomic_load(&pushing); i++) {
    const struct tidings_span request = span_text(requests[i % 5]);
    const struct tidings_answer *answer;
    SIMPLE_CHECK(query->query(plugin, &request, &answer, NULL) == 0);
    query->release_answer(plugin, answer);
  }
  return NULL;
}

int main(void) {
  char *folder = simple_folder();
  pthread_t threads[PUSHERS + CARRIERS + 1];
  unsigned count = 0;
  plugin = simple_open(folder, TIDINGS_ROLE_HOST);
  for (uintptr_t i = 0; i < PUSHERS; i++)
    SIMPLE_CHECK(pthread_create(&threads[count++], NULL, push_all, (void *)i) == 0);
  for (uintptr_t i = 0; i < CARRIERS; i++)
    SIMPLE_CHECK(pthread_create(&threads[count++], NULL, carry_all, (void *)i) == 0);
  SIMPLE_CHECK(pthread_create(&threads[count++], NULL, ask_all, NULL) == 0);
  for (unsigned i = 0; i < count; i++) SIMPLE_CHECK(pthread_join(threads[i], NULL) == 0);
  SIMPLE_CHECK(atomic_load(&pushed) == PUSHERS * EACH);
  SIMPLE_CHECK(atomic_load(&duplicates) == PUSHERS * EACH / 10);
  for (unsigned turn = 0; carry(0, &turn) || carry(1, &turn);)
    continue; /* what a rollback brought back last */
  for (int i = 0; i < PUSHERS; i++) {
    for (int j = 0; j < EACH; j++) SIMPLE_CHECK(atomic_load(&delivered[i][j]) == 1);
  }
  SIMPLE_CHECK(plugin->close(plugin, NULL) == 0);
  simple_remove(folder);
  return 0;
}
