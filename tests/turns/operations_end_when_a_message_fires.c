/* SPDX-License-Identifier: MIT
 *
 * While a message waits it can be cancelled, edited and moved; once it has fired, by starting or by
 * steering a turn, each of these is refused and changes nothing.
 */
#include "kit.h"

const char invariant[] = "While a message waits in the queue it can be acted on; once it fires it "
                         "is an ordinary user message and any "
                         "change is a rewind, not a queue operation.";

static void all_refused(struct client host, const char *id) {
  same(refused(host, "message.cancelled", "{\"id\":\"%s\"}", id), "FIRED");
  same(refused(host, "message.edited", "{\"id\":\"%s\",\"content\":\"other\"}", id), "FIRED");
  same(refused(host, "message.moved", "{\"id\":\"%s\",\"before\":null}", id), "FIRED");
  same(refused(host, "message.submitted", "{\"id\":\"%s\",\"content\":\"again\"}", id), "FIRED");
}

void test(void) {
  struct client host = open_host(NULL);
  event(host, "turn.started", NULL);
  submit(host, "a");
  submit(host, "b");
  event(host, "message.submitted", "{\"id\":\"steered\",\"content\":\"x\",\"delivery\":\"steer\"}");
  event(host, "message.edited", "{\"id\":\"a\",\"content\":\"other\"}");
  event(host, "message.moved", "{\"id\":\"b\",\"before\":\"a\"}");
  tool_result(host);
  all_refused(host, "steered");
  json_t *reply = finish(host);
  same(offered(reply), "b");
  start(host, reply);
  all_refused(host, "b");
  reply = finish(host);
  same(json_string_value(json_object_get(offered_message(reply, 0), "content")), "other");
  start(host, reply);
  all_refused(host, "a");
  finish(host);
  all_refused(host, "a");
  same(state(host), "idle");
  close_client(host);
}
