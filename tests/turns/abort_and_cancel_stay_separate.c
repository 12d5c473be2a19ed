/* SPDX-License-Identifier: MIT
 *
 * An abort ends the current turn and leaves the queue; a cancel takes one message out and leaves
 * the turn. Only cancelling what is queued halts the cascade.
 */
#include "kit.h"

const char invariant[] = "Stop ends the current turn, not the queue. Cancel is the only way to "
                         "halt the drain cascade: stopping the queue "
                         "means cancelling its messages.";

void test(void) {
  struct client host = open_host(NULL);
  start(host, submit(host, "first"));
  submit(host, "a");
  submit(host, "b");
  submit(host, "c");
  json_t *reply = event(host, "turn.aborted", NULL);
  same(offered(reply), "a");
  start(host, reply);
  event(host, "message.cancelled", "{\"id\":\"b\"}");
  same(running(host), "a");
  same(state(host), "busy");
  event(host, "message.cancelled", "{\"id\":\"c\"}");
  same(running(host), "a");
  same(offered(event(host, "turn.aborted", NULL)), "");
  same(state(host), "idle");
  same(end_of(host, "b"), "cancelled");
  close_client(host);
}
