/* SPDX-License-Identifier: MIT
 *
 * Threads of one host submit all the time; the thread that a reply asks to start a turn runs it.
 * Two threads never run a turn at the same time, and every message has its turn.
 */
#include "kit.h"

#include <stdatomic.h>

const char invariant[] = "At most one turn runs per session at any instant.";

enum { THREADS = 6, MESSAGES = 20 };

static struct client host;
static atomic_int now_running, turns_run;

/* Runs the turn that `reply` offers, and those that its end offers. */
static void run_turns(const json_t *reply) {
  while (offered(reply)[0]) {
    check(atomic_fetch_add(&now_running, 1) == 0, "a second turn (%s) was offered while one ran",
          offered(reply));
    start(host, reply);
    event(host, "stream.started", NULL);
    event(host, "stream.finished", NULL);
    atomic_fetch_add(&turns_run, 1);
    check(atomic_fetch_sub(&now_running, 1) == 1, "a second turn ran");
    reply = finish(host);
  }
}

static void submit_many(unsigned index) {
  for (unsigned i = 0; i < MESSAGES; i++) run_turns(submit(host, text("t%u-%u", index, i)));
}

void test(void) {
  host = open_host(NULL);
  at_once(THREADS, submit_many);
  same(state(host), "idle");
  check(atomic_load(&turns_run) == THREADS * MESSAGES, "%d turns ran for %d messages",
        atomic_load(&turns_run), THREADS * MESSAGES);
  close_client(host);
}
