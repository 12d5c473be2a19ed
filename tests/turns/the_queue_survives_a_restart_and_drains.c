/* SPDX-License-Identifier: MIT
 *
 * Host after host is killed in every state of a turn. After each restart the session is idle
 * at first, and then what is still queued drains; nothing fires twice and nothing is lost.
 */
#include "kit.h"

#include <string.h>

const char invariant[] = "The queue survives a host restart: after a restart every session reads "
                         "as idle; the run-state machine then "
                         "resumes by draining any still-queued messages.";

/* Opens, starts the turn that is offered, and dies in the state that is asked for. */
static void live(const char *way) {
  struct client host = open_unattached(NULL);
  json_t *reply = event(host, "session.opened", NULL);
  if (strcmp(way, "offered") == 0) dying();
  start(host, reply);
  if (strcmp(way, "streaming") == 0) event(host, "stream.started", NULL);
  if (strcmp(way, "retrying") == 0) event(host, "turn.retrying", NULL);
  if (strcmp(way, "waiting") == 0) event(host, "turn.waiting", NULL);
  if (strcmp(way, "failed") == 0) event(host, "turn.failed", NULL);
  if (strcmp(way, "orderly") == 0) close_client(host);
  if (strcmp(way, "orderly") == 0) return;
  dying();
}

static void queue_seven(const char *unused) {
  (void)unused;
  struct client source = open_producer();
  for (unsigned i = 1; i <= 7; i++) submit(source, text("m%u", i));
  dying();
}

void test(void) {
  static const char *const WAYS[] = {"offered", "busy",   "streaming", "retrying",
                                     "waiting", "failed", "orderly"};
  in_another_process(queue_seven, NULL);
  for (size_t i = 0; i < sizeof WAYS / sizeof WAYS[0]; i++) in_another_process(live, WAYS[i]);
  struct client host = open_unattached(NULL);
  same(drain(host, event(host, "session.opened", NULL)), "m7");
  for (unsigned i = 1; i <= 7; i++) same(end_of(host, text("m%u", i)), "fired");
  close_client(host);
}
