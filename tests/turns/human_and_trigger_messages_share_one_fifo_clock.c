/* SPDX-License-Identifier: MIT
 *
 * Typed messages and triggers of several kinds come in turn, from the host and from another
 * process, while a turn runs. They fire in the order in which they came.
 */
#include "kit.h"

#include <stdlib.h>

const char invariant[] =
    "Human- and trigger-originated messages share one FIFO clock; no source is prioritized.";

static const char *const TRIGGERS[] = {NULL, "{\"webhook\":\"push\",\"priority\":\"highest\"}",
                                       "{\"cron\":\"@hourly\"}",
                                       "{\"agent\":\"self\",\"urgent\":true}"};
enum { KINDS = sizeof TRIGGERS / sizeof TRIGGERS[0], MESSAGES = 16 };

/* The i-th message: every kind comes from the host and from elsewhere. */
static void send_one(struct client client, unsigned i) {
  const char *trigger = TRIGGERS[i % KINDS];
  const char *member = trigger ? text(",\"trigger\":%s", trigger) : "";
  check(!offered(event(client, "message.submitted", "{\"id\":\"m%02u\",\"content\":\"x\"%s}", i,
                       member))[0],
        "it was offered while a turn runs");
}

static void send_from_elsewhere(const char *number) {
  struct client source = open_producer();
  send_one(source, (unsigned)strtoul(number, NULL, 10));
  close_client(source);
}

void test(void) {
  struct client host = open_host(NULL);
  const char *expected = "";
  event(host, "turn.started", NULL);
  for (unsigned i = 0; i < MESSAGES; i++) {
    if ((i / KINDS) % 2 == 0) send_one(host, i);
    else in_another_process(send_from_elsewhere, text("%u", i));
    expected = text("%s%sm%02u", expected, i > 0 ? "|" : "", i);
  }
  same(drain(host, finish(host)), expected);
  close_client(host);
}
