/* SPDX-License-Identifier: MIT
 *
 * Several processes submit to an idle session at the same instant, again and again. The host gets
 * one offer, once, and all other messages are queued.
 */
#include "kit.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

const char invariant[] = "The idle->busy transition is atomic.";

enum { SOURCES = 4, ROUNDS = 25 };

/* All sources see the board. Each sends its n-th message as soon as the host has put the number n
 * on it. */
static atomic_uint *board, *done;

static void submit_each_round(unsigned index) {
  struct client source = open_producer();
  for (unsigned round = 1; round <= ROUNDS; round++) {
    while (atomic_load(board) < round) sched_yield();
    json_t *reply = submit(source, text("r%u-%u", round, index));
    check(!offered(reply)[0], "a source was told to start a turn");
    atomic_fetch_add(done, 1);
  }
  close_client(source);
}

void test(void) {
  board = mmap(NULL, 2 * sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check(board != MAP_FAILED, "no shared memory");
  done = board + 1;
  struct crew sources = crew_start(SOURCES, submit_each_round);
  struct client host = open_host(NULL);
  crew_go(&sources);
  for (unsigned round = 1; round <= ROUNDS; round++) {
    atomic_store(board, round);
    while (atomic_load(done) < round * SOURCES) sched_yield();
    const char *winner = running(host);
    same(state(host), "starting");
    check(winner[0] && !strchr(winner, ' '),
          "the turn of round %u has the messages \"%s\"; expected one", round, winner);
    json_t *reply = event(host, "wake", NULL);
    same(offered(reply), winner);
    check(!offered(event(host, "wake", NULL))[0], "the same offer was made twice");
    unsigned fired = 0;
    for (; offered(reply)[0]; fired++) {
      start(host, reply);
      reply = finish(host);
    }
    check(fired == SOURCES, "%u messages of round %u fired; expected %d", fired, round, SOURCES);
  }
  crew_wait(&sources);
  same(state(host), "idle");
  close_client(host);
  munmap(board, 2 * sizeof *board);
}
