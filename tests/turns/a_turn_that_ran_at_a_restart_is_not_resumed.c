/* SPDX-License-Identifier: MIT
 *
 * The host dies while a turn runs. Its message is never offered again; it is named as orphaned
 * until the next turn starts, so that the host can finalize what was in flight. Its successors
 * drain.
 */
#include "kit.h"

const char invariant[] = "A turn that was running at restart is not resumed - but that turn's "
                         "queued successors still drain normally.";

static void run_and_die(const char *unused) {
  (void)unused;
  struct client host = open_host(NULL);
  start(host, submit(host, "ran"));
  event(host, "tools.started", NULL);
  submit(host, "successor");
  dying();
}

void test(void) {
  in_another_process(run_and_die, NULL);
  struct client host = open_unattached(NULL);
  json_t *reply = event(host, "session.opened", NULL);
  same(ids_in(json_object_get(json_object_get(reply, "status"), "orphaned")), "ran");
  same(offered(reply), "successor");
  json_t *started = start(host, reply);
  same(ids_in(json_object_get(json_object_get(started, "status"), "orphaned")), "");
  same(offered(finish(host)), "");
  same(offered(event(host, "turn.resume", NULL)), "");
  same(refused(host, "turn.started", "{\"messages\":[\"ran\"]}"), "FIRED");
  close_client(host);
}
