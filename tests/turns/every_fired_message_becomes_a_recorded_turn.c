/* SPDX-License-Identifier: MIT
 *
 * Typed, triggered, steered and system-made messages, turns that finish, are aborted or fail: each fired message is in the session's
 * history with the event that fired it, and whatever fired was first offered to the host, which could decline it.
 */
#include "kit.h"

#include <string.h>

const char invariant[] = "Every fired message becomes a real, recorded turn - billable, inspectable, abortable. There is no shadow "
                         "execution.";

/* How many of the history's transitions name `id` and go from `from` to `to`; NULL is any. */
static unsigned transitions(struct client host, const char *id, const char *from, const char *to) {
  const json_t *all = json_object_get(query(host, "history"), "transitions");
  unsigned count = 0;
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *one = json_array_get(all, i);
    if (from && strcmp(json_string_value(json_object_get(one, "from")), from) != 0) continue;
    if (to && strcmp(json_string_value(json_object_get(one, "to")), to) != 0) continue;
    for (size_t m = 0; m < json_array_size(json_object_get(one, "messages")); m++) {
      const json_t *message = json_array_get(json_object_get(one, "messages"), m);
      count += strcmp(json_string_value(json_object_get(message, "id")), id) == 0;
    }
  }
  return count;
}

/* A turn of its own: it is recorded that it was offered, and that it started and ended once. */
static void recorded_turn(struct client host, const char *id) {
  check(transitions(host, id, NULL, "starting") > 0, "%s: its offer is not recorded", id);
  check(transitions(host, id, "starting", "busy") == 1, "%s: its start is recorded %u times", id,
        transitions(host, id, "starting", "busy"));
  unsigned ends =
      transitions(host, id, "busy", "idle") + transitions(host, id, "busy", "error") + transitions(host, id, "busy", "starting");
  check(ends == 1, "%s: its end is recorded %u times", id, ends);
}

void test(void) {
  struct client host = open_host(NULL);
  start(host, submit(host, "typed"));
  event(host, "message.submitted", "{\"id\":\"trigger\",\"content\":\"x\",\"trigger\":{\"cron\":\"daily\"}}");
  event(host, "message.submitted", "{\"id\":\"steered\",\"content\":\"x\",\"delivery\":\"steer\"}");
  same(ids_in(json_object_get(tool_result(host), "steered")), "steered");
  json_t *reply = event(host, "turn.aborted", NULL);
  same(offered(reply), "trigger");
  start(host, reply);
  same(running(host), "trigger");
  event(host, "turn.failed", NULL);
  event(host, "turn.resume", NULL);
  reply = event(host, "notification", "{\"kind\":\"a.b\",\"level\":\"critical\",\"message\":\"x\"}");
  const char *system_turn = offered(reply);
  check(strncmp(system_turn, "tidings:", 8) == 0, "the turn of the system's is \"%s\"", system_turn);
  start(host, reply);
  same(running(host), system_turn);
  finish(host);
  reply = submit(host, "declined");
  event(host, "turn.declined", NULL);
  same(end_of(host, "declined"), "queued");
  check(!transitions(host, "declined", NULL, "busy"), "a declined message has a turn");
  recorded_turn(host, "typed");
  recorded_turn(host, "trigger");
  recorded_turn(host, system_turn);
  same(end_of(host, "typed"), "fired");
  same(end_of(host, "trigger"), "fired");
  same(end_of(host, "steered"), "fired");
  check(transitions(host, "steered", "busy", "busy") > 0, "what was steered is not recorded with its turn");
  close_client(host);
}
