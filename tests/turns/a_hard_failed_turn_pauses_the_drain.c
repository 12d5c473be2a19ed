/* SPDX-License-Identifier: MIT
 *
 * After a failed turn nothing that happens by itself fires the queued messages: no passing of time,
 * no notification, no further message, no other process. The next turn that fires (a user's
 * retry, an edit sent again or an explicit resume) drains the queue.
 */
#include "kit.h"

const char invariant[] = "A hard-failed turn pauses the drain; queued messages persist and resume "
                         "on the next fired turn.";

static void submit_elsewhere(const char *id) {
  struct client source = open_producer();
  submit(source, id);
  close_client(source);
}

/* A turn that fails with "a" and "b" queued after it; "c" comes then. */
static struct client paused(const char *folder) {
  store_folder = text("%s.%s", store_folder, folder);
  struct client host = open_host(NULL);
  start(host, submit(host, "first"));
  set_clock(1700000000010);
  submit(host, "a");
  submit(host, "b");
  event(host, "turn.failed", "{\"message\":\"the provider is down\"}");
  set_clock(1700000000000 + 86400000);
  check(!offered(event(host, "wake", NULL))[0] && !offered(submit(host, "c"))[0] &&
            !offered(event(host, "turn.finished", NULL))[0],
        "something was offered to a session that has just failed");
  check(!offered(event(host, "notification",
                       "{\"kind\":\"a.b\",\"level\":\"critical\",\"message\":\"x\"}"))[0],
        "a critical has ended the pause");
  in_another_process(submit_elsewhere, "d");
  same(offered(event(host, "wake", NULL)), "");
  same(state(host), "error");
  return host;
}

void test(void) {
  const char *folder = store_folder;
  struct client host = paused("resume");
  json_t *reply = event(host, "turn.resume", NULL);
  json_int_t queued_at =
      json_integer_value(json_object_get(offered_message(reply, 0), "queued_at"));
  check(queued_at == 1700000000010, "it has waited since then, and not since %lld",
        (long long)queued_at);
  same(drain(host, reply), "a|b|c|d");
  close_client(host);

  store_folder = folder;
  host = paused("retry");
  same(drain(host, event(host, "message.submitted",
                         "{\"id\":\"again\",\"content\":\"try again\",\"resume\":true}")),
       "a|b|c|d|again");
  close_client(host);

  store_folder = folder;
  host = paused("own-turn");
  event(host, "turn.started", NULL);
  same(drain(host, finish(host)), "a|b|c|d");
  close_client(host);
}
