/* SPDX-License-Identifier: MIT
 *
 * While a turn retries, however often, the queue stands still; it drains once the turn has reached
 * a clean idle.
 */
#include "kit.h"

const char invariant[] = "A transient failure is different: the turn is still the running turn "
                         "(retrying), so the queue is not drained "
                         "mid-retry; it drains only once the turn reaches a clean idle.";

void test(void) {
  struct client host = open_host(NULL);
  start(host, submit(host, "first"));
  submit(host, "a");
  for (unsigned attempt = 1; attempt <= 5; attempt++) {
    json_t *reply =
        event(host, "turn.retrying", "{\"attempt\":%u,\"message\":\"overloaded\"}", attempt);
    check(!offered(reply)[0] && !offered(event(host, "wake", NULL))[0] &&
              !offered(submit(host, text("b%u", attempt)))[0],
          "drained mid-retry");
    check(!offered(event(host, "turn.resume", NULL))[0], "resumed mid-retry");
    same(running(host), "first");
    if (attempt % 2) event(host, "stream.started", NULL);
  }
  same(drain(host, finish(host)), "a|b1|b2|b3|b4|b5");
  close_client(host);
}
