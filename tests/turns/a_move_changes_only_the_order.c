/* SPDX-License-Identifier: MIT
 *
 * Queued messages are moved; the drain consumes them in the new order, and each is otherwise as it
 * was.
 */
#include "kit.h"

const char invariant[] = "The default order is queued_at; reordering is a convenience that changes "
                         "only the order the drain consumes, no "
                         "other invariant.";

void test(void) {
  const int64_t begin = 1700000000000;
  static const char *const ORDER[] = {"d", "a", "c", "b"};
  struct client host = open_host(NULL);
  event(host, "turn.started", NULL);
  for (unsigned i = 0; i < 4; i++) {
    set_clock(begin + 10 * (int64_t)i);
    submit(host, text("%c", 'a' + (int)i));
  }
  event(host, "message.moved", "{\"id\":\"b\",\"before\":null}");
  event(host, "message.moved", "{\"id\":\"d\",\"before\":\"a\"}");
  same(state(host), "busy");
  json_t *reply = finish(host);
  for (unsigned i = 0; i < 4; i++, reply = finish(host)) {
    const json_t *message = offered_message(reply, 0);
    same(offered(reply), ORDER[i]);
    same(json_string_value(json_object_get(message, "content")), text("text of %s", ORDER[i]));
    check(json_integer_value(json_object_get(message, "queued_at")) ==
              begin + 10 * (int64_t)(ORDER[i][0] - 'a'),
          "%s: its time has changed", ORDER[i]);
    start(host, reply);
  }
  same(offered(reply), "");
  close_client(host);
}
