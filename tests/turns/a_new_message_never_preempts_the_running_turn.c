/* SPDX-License-Identifier: MIT
 *
 * In every state and phase of a turn, messages of every kind come. None of them makes the plugin
 * ask for an abort or another turn, and the turn that runs stays the same.
 */
#include "kit.h"

const char invariant[] = "A new message never preempts the running turn.";

static unsigned sent;

static void send_all_kinds(struct client host, const char *expected_state) {
  static const char *const KINDS[] = {"", ",\"resume\":true", ",\"delivery\":\"steer\"",
                                      ",\"trigger\":{\"webhook\":\"fire\",\"critical\":true}"};
  for (unsigned i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
    json_t *reply = event(host, "message.submitted",
                          "{\"id\":\"m%u\",\"content\":\"stop and do this\"%s}", sent++, KINDS[i]);
    check(!json_array_size(json_object_get(reply, "actions")),
          "in %s the message with \"%s\" asks the host to act", expected_state, KINDS[i]);
    same(state(host), expected_state);
    same(running(host), "first");
  }
}

void test(void) {
  struct client host = open_host(NULL);
  json_t *reply = submit(host, "first");
  send_all_kinds(host, "starting");
  start(host, reply);
  send_all_kinds(host, "busy");
  event(host, "stream.started", NULL);
  send_all_kinds(host, "busy");
  event(host, "stream.finished", NULL);
  event(host, "tools.started", NULL);
  send_all_kinds(host, "busy");
  event(host, "turn.retrying", "{\"attempt\":1}");
  send_all_kinds(host, "retrying");
  event(host, "turn.waiting", "{\"kind\":\"approval\"}");
  send_all_kinds(host, "waiting");
  check(offered(finish(host))[0], "what came meanwhile is offered now");
  close_client(host);
}
