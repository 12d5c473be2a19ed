/* SPDX-License-Identifier: MIT
 *
 * A second window, a trigger runner without a UI and an inspector, each in its own process, ask
 * while the host works: all get the host's answer.
 */
#include "kit.h"

#include <stdlib.h>

const char invariant[] = "Every client of the session - a second window, a hosted trigger runner "
                         "with no UI at all, an inspector - sees "
                         "the same queue because the queue is core state, not client state.";

static const char *answer_of(struct client client) {
  char *status = json_dumps(query(client, "status"), JSON_SORT_KEYS);
  char *transitions =
      json_dumps(json_object_get(query(client, "history"), "transitions"), JSON_SORT_KEYS);
  const char *both = text("%s\n%s", status, transitions);
  free(status);
  free(transitions);
  return both;
}

static void compare_as_producer(const char *expected) {
  struct client client = open_producer();
  same(answer_of(client), expected);
  close_client(client);
}

static void compare_as_second_window(const char *expected) {
  struct client client = open_unattached(NULL);
  same(answer_of(client), expected);
  close_client(client);
}

static void all_see_the_same(struct client host) {
  const char *expected = answer_of(host);
  in_another_process(compare_as_producer, expected);
  in_another_process(compare_as_second_window, expected);
  same(answer_of(host), expected);
}

void test(void) {
  struct client host = open_host(NULL);
  all_see_the_same(host);
  json_t *reply = submit(host, "a");
  all_see_the_same(host);
  start(host, reply);
  submit(host, "b");
  event(host, "message.submitted", "{\"id\":\"c\",\"content\":\"x\",\"delivery\":\"steer\"}");
  all_see_the_same(host);
  event(host, "turn.retrying", "{\"attempt\":2,\"message\":\"overloaded\"}");
  all_see_the_same(host);
  event(host, "turn.failed", "{\"message\":\"no credit\"}");
  all_see_the_same(host);
  close_client(host);
}
