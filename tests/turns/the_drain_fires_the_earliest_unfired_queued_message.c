/* SPDX-License-Identifier: MIT
 *
 * Several processes submit while a turn runs, and the clock stands still, so that all messages come
 * at the same time. The queue's times still are all different, the drain follows them, and each
 * source's messages keep their order.
 */
#include "kit.h"

const char invariant[] = "The drain fires the earliest unfired queued_at message; ties are broken "
                         "deterministically (e.g. by message id).";

enum { SOURCES = 3, MESSAGES = 20 };

static void submit_many(unsigned index) {
  struct client source = open_producer();
  for (unsigned i = 0; i < MESSAGES; i++) submit(source, text("%u-%02u", index, i));
  close_client(source);
}

void test(void) {
  struct crew sources = crew_start(SOURCES, submit_many);
  struct client host = open_host(NULL);
  event(host, "turn.started", NULL);
  crew_go(&sources);
  crew_wait(&sources);
  unsigned next[SOURCES] = {0};
  json_int_t last = 0;
  json_t *reply = finish(host);
  for (unsigned fired = 0; fired < SOURCES * MESSAGES; fired++) {
    const json_t *message = offered_message(reply, 0);
    check(message, "after %u messages the queue is empty", fired);
    const char *id = json_string_value(json_object_get(message, "id"));
    json_int_t queued_at = json_integer_value(json_object_get(message, "queued_at"));
    check(queued_at > last, "%s has waited since %lld, the one before since %lld", id,
          (long long)queued_at, (long long)last);
    last = queued_at;
    unsigned source = (unsigned)(id[0] - '0');
    same(id, text("%u-%02u", source, next[source]));
    next[source]++;
    start(host, reply);
    reply = finish(host);
  }
  same(offered(reply), "");
  close_client(host);
}
