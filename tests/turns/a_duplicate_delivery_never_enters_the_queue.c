/* SPDX-License-Identifier: MIT
 *
 * If a source sends again what the session already has, nothing changes: before and after the
 * message has fired or was cancelled, and after a restart of the host. A message that was dropped
 * does not count as cancelled, but as never sent.
 */
#include "kit.h"

#include <string.h>

const char invariant[] = "Duplicate delivery_id. The upstream redelivered an event the session "
                         "already holds. A dropped message is "
                         "distinct from a cancelled one: dropped never enters the queue.";

/* As a webhook would: an event with a source and an id, and a message id of its own for each
 * try. */
static bool delivers(struct client client, const char *delivery, const char *id) {
  const char *string = text("{\"type\":\"message.submitted\",\"session\":\"s\",\"source\":"
                            "\"hooks\",\"id\":\"%s\",\"data\":{\"id\":\"%s\",\"content\":\"x\"}}",
                            delivery, id);
  struct tidings_span span = {string, strlen(string)};
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  check(hostkit_event(client.hostkit, &span, &reply, &error) == TIDINGS_OK, "%s: %s", string,
        error.text);
  bool duplicate = reply && (reply->flags & TIDINGS_REPLY_DUPLICATE);
  check(!duplicate || !reply->action_count, "a duplicate asks for something");
  hostkit_reply_free(reply);
  return !duplicate;
}

static void redeliver_and_die(const char *unused) {
  (void)unused;
  struct client source = open_producer();
  check(!delivers(source, "d1", "m1-elsewhere"), "another process's redelivery was taken");
  check(delivers(source, "d3", "m3"), "a new delivery was dropped");
  dying();
}

void test(void) {
  struct client host = open_host(NULL);
  event(host, "turn.started", NULL);
  check(delivers(host, "d1", "m1") && delivers(host, "d2", "m2"), "a new delivery was dropped");
  check(!delivers(host, "d1", "m1") && !delivers(host, "d1", "m1-again"),
        "a redelivery of what is queued was taken");
  event(host, "message.cancelled", "{\"id\":\"m2\"}");
  check(!delivers(host, "d2", "m2-again"), "a redelivery of what was cancelled was taken");
  in_another_process(redeliver_and_die, NULL);
  same(refused(host, "message.cancelled", "{\"id\":\"m1-again\"}"), "NOT_FOUND");
  same(drain(host, finish(host)), "m1|m3");
  check(!delivers(host, "d1", "m1-late") && !delivers(host, "d3", "m3-late"),
        "a redelivery of what has fired was taken");
  close_client(host);
  host = open_host(NULL);
  check(!delivers(host, "d1", "m1-later"), "a redelivery after a restart was taken");
  same(state(host), "idle");
  check(!end_of(host, "m1-again") && !end_of(host, "m2-again"),
        "the history has heard of a dropped message");
  close_client(host);
}
