/* SPDX-License-Identifier: MIT
 *
 * During a settle delay the session is idle and the batch stays queued; a message that comes
 * meanwhile does not get ahead. Messages fire in the same order as without a delay.
 */
#include "kit.h"

const char invariant[] =
    "The delay changes only cadence, never an invariant. The session is genuinely idle for that "
    "window and the next "
    "batch stays queued for its duration - its queued_at is cleared only when it fires.";

static const int64_t begin = 1700000000000;

static const char *play(const char *configuration, int64_t delay_ms) {
  int64_t now = begin;
  const char *fired = "";
  set_clock(now);
  store_folder = text("%s.%lld", store_folder, (long long)delay_ms);
  struct client host = open_host(configuration);
  start(host, submit(host, "first"));
  submit(host, "a");
  submit(host, "b");
  for (unsigned i = 0; i < 4; i++) {
    json_t *reply = finish(host);
    if (delay_ms && i < 3) {
      check(!offered(reply)[0], "%s was offered without delay", offered(reply));
      check(json_integer_value(json_object_get(reply, "wake_at")) == now + delay_ms,
            "wake_at is not the end of the delay");
      same(state(host), "idle");
      if (i == 0) same(offered(submit(host, "c")), "");
      set_clock(now + delay_ms - 1);
      same(offered(event(host, "wake", NULL)), "");
      set_clock(now += delay_ms);
      reply = event(host, "wake", NULL);
      check(json_integer_value(json_object_get(offered_message(reply, 0), "queued_at")) > 0,
            "it has not waited");
    } else if (i == 0) {
      submit(host, "c");
    }
    if (i < 3) start(host, reply);
    fired = text("%s %s", fired, offered(reply));
  }
  same(state(host), "idle");
  close_client(host);
  return fired;
}

void test(void) {
  const char *folder = store_folder;
  const char *without = play("{}", 0);
  store_folder = folder;
  same(play("{\"turns\":{\"settle_delay_ms\":300}}", 300), without);
  same(without, " a b c ");
}
