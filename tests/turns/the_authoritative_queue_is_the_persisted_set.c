/* SPDX-License-Identifier: MIT
 *
 * A client submits and ends, or is killed; no other process keeps anything for it. A message that
 * it sent is in the queue that every other client sees and that the host drains.
 */
#include "kit.h"

const char invariant[] = "A conforming UI MUST NOT implement a private hold-and-resubmit queue as "
                         "the source of truth. The authoritative "
                         "queue is always the persisted-message set the core drains.";

static void submit_and_die(const char *id) {
  struct client client = open_producer();
  submit(client, id);
  dying();
}

static void cancel_from_elsewhere(const char *id) {
  struct client client = open_producer();
  event(client, "message.cancelled", "{\"id\":\"%s\"}", id);
  close_client(client);
}

/* Another client, which knows nothing of the first one. */
static void look(const char *expected) {
  struct client client = open_producer();
  const json_t *transitions = json_object_get(query(client, "history"), "transitions");
  check(json_array_size(transitions) > 0, "the queue is not visible to another client");
  same(running(client), expected);
  same(end_of(client, "from-a-dead-client"), "queued");
  close_client(client);
}

void test(void) {
  struct client host = open_host(NULL);
  start(host, submit(host, "first"));
  in_another_process(submit_and_die, "from-a-dead-client");
  in_another_process(submit_and_die, "also-from-one");
  in_another_process(submit_and_die, "taken-back");
  in_another_process(look, "first");
  in_another_process(cancel_from_elsewhere, "taken-back");
  same(drain(host, finish(host)), "from-a-dead-client|also-from-one");
  close_client(host);
}
