/* SPDX-License-Identifier: MIT
 *
 * A message that comes to an idle session fires at once and has no queued_at; one that comes while
 * a turn runs has the time at which it came, keeps it through declines and restarts of the turn,
 * and loses it when it fires.
 */
#include "kit.h"

const char invariant[] = "queued_at present means \"this message waited\". A message that arrives "
                         "while the session is idle fires "
                         "immediately and never carries queued_at.";

static json_int_t queued_at(const json_t *reply) {
  return json_integer_value(json_object_get(offered_message(reply, 0), "queued_at"));
}

void test(void) {
  const int64_t begin = 1700000000000;
  struct client host = open_host(NULL);
  set_clock(begin);
  json_t *reply = submit(host, "first");
  check(json_is_null(json_object_get(offered_message(reply, 0), "queued_at")),
        "it came to an idle session and has waited");
  start(host, reply);
  set_clock(begin + 1000);
  submit(host, "second");
  set_clock(begin + 5000);
  reply = finish(host);
  check(queued_at(reply) == begin + 1000, "it was queued at %lld", (long long)queued_at(reply));
  event(host, "turn.declined", NULL);
  reply = event(host, "turn.resume", NULL);
  check(queued_at(reply) == begin + 1000, "declined, it was queued at %lld",
        (long long)queued_at(reply));
  start(host, reply);
  same(end_of(host, "second"), "fired");
  finish(host);
  set_clock(begin + 9000);
  reply = submit(host, "third");
  check(json_is_null(json_object_get(offered_message(reply, 0), "queued_at")),
        "the session was idle again");
  close_client(host);
}
