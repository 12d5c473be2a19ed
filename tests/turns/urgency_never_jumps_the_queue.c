/* SPDX-License-Identifier: MIT
 *
 * Something critical happens while a turn streams and messages wait: the host is asked to abort,
 * and then the first queued message fires, as after any abort, and its turn delivers the critical
 * notification. Only if nothing is queued does the notification get a system turn, and later
 * messages wait for its end.
 */
#include "kit.h"

const char invariant[] = "No source jumps another. A host that needs urgency composes "
                         "abort+submit; it does not get a priority lane.";

static json_t *critical(struct client host) {
  return event(host, "notification",
               "{\"kind\":\"disk.full\",\"level\":\"critical\",\"message\":\"disk is full\"}");
}

void test(void) {
  struct client host = open_host(NULL);
  start(host, submit(host, "first"));
  event(host, "stream.started", NULL);
  submit(host, "a");
  submit(host, "b");
  json_t *reply = critical(host);
  check(aborts(reply) && !offered(reply)[0], "the host was to abort, and to start nothing yet");
  same(running(host), "first");
  reply = event(host, "turn.aborted", NULL);
  same(offered(reply), "a");
  json_t *carried = start(host, reply);
  check(json_array_size(json_object_get(carried, "notifications")) == 1,
        "the head of the queue does not carry the news");
  same(drain(host, finish(host)), "b");
  reply = critical(host);
  check(!aborts(reply), "nothing streams");
  const char *system_turn = offered(reply);
  check(system_turn[0], "an idle session is not woken");
  same(offered(submit(host, "c")), "");
  same(drain(host, reply), text("%s|c", system_turn));
  close_client(host);
}
