/* SPDX-License-Identifier: MIT
 *
 * wake/pusher.c: makes pushes that need the host at once, of several kinds, one at a time in each
 * lane. Now and then it dies at the worst moment: after the commit, just before or just after it
 * writes the byte that wakes.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "kit/arguments.h"
#include "kit/interpose.h"
#include "wake/board.h"

struct thread {
  struct rig *rig;
  struct board *board;
  unsigned lane;
  struct random random;
  pthread_t id;
};

/* -- killing itself ---------------------------------------------------------------------------- */

static _Atomic(uint64_t) rings_left; /* rings until this process is killed */
static bool dies_after;
static _Thread_local bool mine;

static _Noreturn void die_now(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* Only a ring writes a single byte in a pusher. */
static bool before(struct io_op *op) {
  mine = op->kind == IO_WRITE && op->length == 1 && atomic_fetch_sub(&rings_left, 1) == 1;
  if (mine && !dies_after) die_now();
  return true;
}

static void after(const struct io_op *op) {
  (void)op;
  if (mine) die_now();
}

static const struct io_watch watch = {.before = before, .after = after};

/* -- a lane ------------------------------------------------------------------------------------ */

static void send(struct thread *thread, const char *event) {
  struct tidings_error error = RIG_ERROR;
  int32_t code;
  while ((code = rig_event(thread->rig, event, &error)) == TIDINGS_E_BUSY || code == TIDINGS_E_FULL)
    usleep(200);
  if (code != 0) die("a push: %s", rig_why(code, &error));
}

static void push_ringing(struct thread *thread, uint64_t n) {
  static const char *const ways[] = {"\"level\":\"critical\"", "\"activation\":\"interrupt\"",
                                     "\"activation\":\"idle\""};
  char event[512], session[8];
  lane_session(thread->lane, session);
  uint64_t way = random_below(&thread->random, 4);
  if (way == 3) {
    snprintf(event, sizeof event,
             "{\"type\":\"subagent.finished\",\"session\":\"%s\",\"data\":{\"slug\":\"lane\","
             "\"summary\":\"%u %" PRIu64 "\"}}",
             session, thread->lane, n);
  } else {
    snprintf(event, sizeof event,
             "{\"type\":\"notification\",\"session\":\"%s\",\"data\":{\"kind\":\"lane.n\","
             "\"message\":\"%u %" PRIu64 "\",%s}}",
             session, thread->lane, n, ways[way]);
  }
  send(thread, event);
  atomic_fetch_add(&thread->board->acknowledged, 1);
}

static void push_passive(struct thread *thread) {
  struct tidings_error error = RIG_ERROR;
  static const char event[] = "{\"type\":\"notification\",\"session\":\"" QUIET_SESSION
                              "\",\"data\":{\"kind\":\"a.b\",\"message\":\"m\"}}";
  int32_t code = rig_event(thread->rig, event,
                           &error); /* FULL until the next swap lets the sleeper look at it */
  if (code != 0 && code != TIDINGS_E_BUSY && code != TIDINGS_E_FULL)
    die("a push: %s", rig_why(code, &error));
  atomic_fetch_add(&thread->board->passive, 1);
}

static void await(struct thread *thread, uint64_t n) {
  struct lane *lane = &thread->board->lanes[thread->lane];
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += (time_t)2 * PATIENCE_SECONDS;
  while (atomic_load(&lane->delivered) < n) {
    if (sem_timedwait(&lane->delivery, &until) == 0 || errno == EINTR) continue;
    die("push %" PRIu64 " of lane %u was stored %d s ago and the sleeper has not come", n,
        thread->lane, 2 * PATIENCE_SECONDS);
  }
}

static void *thread_main(void *context) {
  struct thread *thread = context;
  struct lane *lane = &thread->board->lanes[thread->lane];
  while (!atomic_load(&thread->board->stop)) {
    atomic_store(&lane->busy, true); /* set before it checks whether it may push */
    bool pushes = atomic_load(&thread->board->awake) >> thread->lane & 1;
    if (pushes) {
      uint64_t n = atomic_fetch_add(&lane->next, 1) + 1;
      push_ringing(thread, n);
      await(thread, n);
    }
    atomic_store(&lane->busy, false);
    if (!pushes) {
      usleep(500);
      continue;
    }
    if (random_chance(&thread->random, 10)) push_passive(thread);
    if (random_chance(&thread->random, 50)) /* otherwise the sleeper would never sleep */
      usleep((useconds_t)random_below(&thread->random, 50));
  }
  return NULL;
}

_Noreturn void pusher_main(struct rig *rig, struct board *board, const char *store, unsigned number,
                           uint64_t seed) {
  static struct thread threads[LANES_EACH];
  struct tidings_error error = RIG_ERROR;
  struct random random = random_seeded(seed, 99);
  int32_t code;
  while ((code = rig_open(rig, &(struct rig_open){.store = store, .role = TIDINGS_ROLE_PRODUCER},
                          &error)) == TIDINGS_E_BUSY)
    usleep(1000);
  if (code != 0) die("a pusher cannot open the store: %s", rig_why(code, &error));
  atomic_store(&rings_left, 1 + random_below(&random, 2000));
  dies_after = random_chance(&random, 50);
  io_watch(&watch);
  for (unsigned i = 0; i < LANES_EACH; i++) {
    threads[i] = (struct thread){.rig = rig,
                                 .board = board,
                                 .lane = number * LANES_EACH + i,
                                 .random = random_seeded(seed, i)};
    if (pthread_create(&threads[i].id, NULL, thread_main, &threads[i]) != 0) die("no thread");
  }
  for (unsigned i = 0; i < LANES_EACH; i++) pthread_join(threads[i].id, NULL);
  io_watch(NULL);
  code = rig_close(rig, &error);
  if (code != 0) die("a pusher cannot close: %s", rig_why(code, &error));
  exit(0);
}
