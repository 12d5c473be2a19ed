/* SPDX-License-Identifier: MIT
 *
 * A coalescing batch is what was queued when the session became idle. A message that comes while it
 * is offered or running, from wherever, is in the next one, and never ahead of an earlier one.
 */
#include "kit.h"

const char invariant[] = "Messages that arrive after a drain has begun belong to the next batch, "
                         "never the one already firing - a batch is "
                         "whatever was queued at the instant the session reached idle.";

static void submit_elsewhere(const char *id) {
  struct client source = open_producer();
  submit(source, id);
  close_client(source);
}

void test(void) {
  struct client host = open_host("{\"turns\":{\"discipline\":\"coalescing\"}}");
  start(host, submit(host, "first"));
  submit(host, "a");
  submit(host, "b");
  json_t *reply = finish(host);
  same(offered(reply), "a b");
  in_another_process(submit_elsewhere, "c");
  submit(host, "d");
  same(running(host), "a b");
  start(host, reply);
  same(running(host), "a b");
  submit(host, "e");
  reply = finish(host);
  same(offered(reply), "c d e");
  event(host, "turn.declined", NULL);
  same(drain(host, submit(host, "f")), "c d e f");
  close_client(host);
}
