/* SPDX-License-Identifier: MIT
 *
 * A queued message is rewritten in place, from the host and from elsewhere: its words change, its
 * queued_at and its order do not.
 */
#include "kit.h"

const char invariant[] = "An implementation MAY let the user rewrite a queued message's parts in "
                         "place (queued_at and order unchanged).";

static void edit_elsewhere(const char *id) {
  struct client client = open_producer();
  event(client, "message.edited", "{\"id\":\"%s\",\"content\":\"edited elsewhere\"}", id);
  close_client(client);
}

static void expect(const json_t *reply, const char *id, const char *content, int64_t queued_at) {
  const json_t *message = offered_message(reply, 0);
  same(offered(reply), id);
  same(json_string_value(json_object_get(message, "content")), content);
  check(json_integer_value(json_object_get(message, "queued_at")) == queued_at,
        "%s: its time has changed", id);
}

void test(void) {
  const int64_t begin = 1700000000000;
  struct client host = open_host(NULL);
  event(host, "turn.started", NULL);
  set_clock(begin + 10);
  submit(host, "a");
  set_clock(begin + 20);
  submit(host, "b");
  set_clock(begin + 30);
  event(host, "message.edited", "{\"id\":\"a\",\"content\":\"edited\"}");
  in_another_process(edit_elsewhere, "b");
  json_t *reply = finish(host);
  expect(reply, "a", "edited", begin + 10);
  start(host, reply);
  expect(finish(host), "b", "edited elsewhere", begin + 20);
  close_client(host);
}
