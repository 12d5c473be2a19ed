/* SPDX-License-Identifier: MIT
 *
 * Typed, triggered, steered and system-made messages, turns that finish, are aborted or fail: each
 * fired message is in the session's history with the event that fired it, and each message
 * was first offered to the host, which could decline it.
 */
#include "kit.h"

#include <string.h>

const char invariant[] = "Every fired message becomes a real, recorded turn - billable, "
                         "inspectable, abortable. There is no shadow "
                         "execution.";

static bool names(const json_t *transition, const char *id) {
  const json_t *messages = json_object_get(transition, "messages");
  for (size_t i = 0; i < json_array_size(messages); i++)
    if (strcmp(json_string_value(json_object_get(json_array_get(messages, i), "id")), id) == 0)
      return true;
  return false;
}

static bool goes(const json_t *transition, const char *from, const char *to) {
  return strcmp(json_string_value(json_object_get(transition, "from")), from) == 0 &&
         (!to || strcmp(json_string_value(json_object_get(transition, "to")), to) == 0);
}

/* Checks in the history that the turn of `id` was offered, then started, then ended by `end`, and
 * that none of this happened twice. */
static void recorded_turn(struct client host, const char *id, const char *end) {
  const json_t *transitions = json_object_get(query(host, "history"), "transitions");
  unsigned offers = 0, starts = 0, ends = 0;
  for (size_t i = 0; i < json_array_size(transitions); i++) {
    const json_t *one = json_array_get(transitions, i);
    const char *by = json_string_value(json_object_get(one, "event"));
    if (!names(one, id)) continue;
    if (starts && strcmp(by, end) == 0) ends++;
    else if (goes(one, "starting", "busy")) starts++;
    else if (!starts && strcmp(json_string_value(json_object_get(one, "to")), "starting") == 0)
      offers++;
    else
      check(strcmp(by, "committed") == 0 || goes(one, "busy", "busy") || !starts,
            "%s: an unexpected %s", id, by);
  }
  check(offers == 1 && starts == 1 && ends == 1,
        "%s: offered %u, started %u, ended %u times by the history", id, offers, starts, ends);
}

/* A steered message is recorded within the turn that it went into. */
static void recorded_within_a_turn(struct client host, const char *id) {
  const json_t *transitions = json_object_get(query(host, "history"), "transitions");
  for (size_t i = 0; i < json_array_size(transitions); i++)
    if (names(json_array_get(transitions, i), id))
      check(goes(json_array_get(transitions, i), "busy", NULL), "%s: recorded outside of a turn",
            id);
}

void test(void) {
  struct client host = open_host(NULL);
  start(host, submit(host, "typed"));
  event(host, "message.submitted",
        "{\"id\":\"trigger\",\"content\":\"x\",\"trigger\":{\"cron\":\"daily\"}}");
  event(host, "message.submitted", "{\"id\":\"steered\",\"content\":\"x\",\"delivery\":\"steer\"}");
  same(ids_in(json_object_get(tool_result(host), "steered")), "steered");
  json_t *reply = event(host, "turn.aborted", NULL);
  same(offered(reply), "trigger");
  start(host, reply);
  same(running(host), "trigger");
  event(host, "turn.failed", NULL);
  event(host, "turn.resume", NULL);
  reply =
      event(host, "notification", "{\"kind\":\"a.b\",\"level\":\"critical\",\"message\":\"x\"}");
  const char *system_turn = offered(reply);
  check(strncmp(system_turn, "tidings:", 8) == 0, "the turn of the system's is \"%s\"",
        system_turn);
  start(host, reply);
  same(running(host), system_turn);
  finish(host);
  submit(host, "declined");
  event(host, "turn.declined", NULL);
  same(end_of(host, "declined"), "queued");
  recorded_turn(host, "typed", "turn.aborted");
  recorded_turn(host, "trigger", "turn.failed");
  recorded_turn(host, system_turn, "turn.finished");
  recorded_within_a_turn(host, "steered");
  same(end_of(host, "typed"), "fired");
  same(end_of(host, "trigger"), "fired");
  same(end_of(host, "steered"), "fired");
  close_client(host);
}
