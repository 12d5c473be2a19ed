/* SPDX-License-Identifier: MIT
 *
 * Threads of the host submit to an idle session at the same instant: exactly one of them is told to
 * start a turn, and what the others sent is queued with its time.
 */
#include "kit.h"

const char invariant[] = "The idle->busy transition MUST be atomic, so two near-simultaneous "
                         "arrivals cannot both win the run; the loser is "
                         "queued.";

enum { THREADS = 4, ROUNDS = 25 };

static struct client host;
static unsigned round_number;
static json_t *replies[THREADS];

static void submit_one(unsigned index) {
  replies[index] = submit(host, text("r%u-%u", round_number, index));
}

void test(void) {
  host = open_host("{\"turns\":{\"discipline\":\"coalescing\"}}");
  for (round_number = 0; round_number < ROUNDS; round_number++) {
    const json_t *won = NULL;
    at_once(THREADS, submit_one);
    for (unsigned i = 0; i < THREADS; i++) {
      if (!offered(replies[i])[0]) continue;
      check(!won, "%s and %s have both won the run", offered(won), offered(replies[i]));
      won = replies[i];
    }
    check(won, "nobody has won the run");
    check(json_is_null(json_object_get(offered_message(won, 0), "queued_at")),
          "the winner has waited");
    start(host, won);
    json_t *rest = finish(host);
    for (size_t i = 0; i < THREADS - 1; i++)
      check(json_integer_value(json_object_get(offered_message(rest, i), "queued_at")) > 0,
            "a loser was not queued: %s", offered(rest));
    check(!offered_message(rest, THREADS - 1), "more were queued than had lost: %s", offered(rest));
    start(host, rest);
    same(offered(finish(host)), "");
  }
  close_client(host);
}
