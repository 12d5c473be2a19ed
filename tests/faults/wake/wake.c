/* SPDX-License-Identifier: MIT
 *
 * wake/wake.c: no wake is ever lost. Pushers in several processes make pushes that need the host at
 * once. The host sleeps in poll without a time limit, and its plugin is swapped again and again.
 * Pushers are killed at random times, or kill themselves between commit and ring. Each push that
 * was acknowledged must wake the host. --count: how often poll must return.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/arguments.h"
#include "kit/folder.h"
#include "wake/board.h"

enum { LONGEST_SPELL_US = 50000, KILL_PERCENT = 40 };

struct test {
  struct arguments arguments;
  struct board *board;
  struct rig rig; /* loaded here, opened in the pushers */
  struct random random;
  char store[FOLDER_PATH_MAX];
  pid_t sleeper, pushers[PUSHERS];
  int control; /* closing it ends the sleeper */
  uint64_t spawned, killed, own_hand;
};

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void spawn(struct test *test, unsigned which) {
  uint64_t seed = test->arguments.seed + ++test->spawned * 1000003;
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) die("fork: %s", strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(test->control);
    pusher_main(&test->rig, test->board, test->store, which, seed);
  }
  test->pushers[which] = child;
}

/* The last push of the process before was never acknowledged, or has been delivered already. */
static void spawn_again(struct test *test, unsigned which) {
  for (unsigned i = 0; i < LANES_EACH; i++)
    atomic_store(&test->board->lanes[which * LANES_EACH + i].busy, false);
  spawn(test, which);
}

static void start_sleeper(struct test *test) {
  int control[2];
  if (pipe(control) != 0) die("pipe: %s", strerror(errno));
  fflush(NULL);
  test->sleeper = fork();
  if (test->sleeper < 0) die("fork: %s", strerror(errno));
  if (test->sleeper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(control[1]);
    sleeper_main(test->arguments.plugin, test->board, test->store, control[0]);
  }
  close(control[0]);
  test->control = control[1];
  for (double until = seconds() + (double)PATIENCE_SECONDS; !atomic_load(&test->board->ready);
       usleep(1000)) {
    int status;
    if (seconds() > until || waitpid(test->sleeper, &status, WNOHANG) != 0)
      die("the sleeper does not begin");
  }
}

/* Starts pushers again that have killed themselves. If one ended in another way, the test fails. */
static void reap(struct test *test) {
  int status;
  for (pid_t child; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
    unsigned which = 0;
    while (which < PUSHERS && test->pushers[which] != child) which++;
    if (which == PUSHERS) die("the sleeper ended with status 0x%x", (unsigned)status);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
      die("a pusher ended with status 0x%x", (unsigned)status);
    test->own_hand++;
    spawn_again(test, which);
  }
}

static void kill_one(struct test *test) {
  unsigned which = (unsigned)random_below(&test->random, PUSHERS);
  int status;
  if (kill(test->pushers[which], SIGKILL) != 0 || waitpid(test->pushers[which], &status, 0) < 0)
    die("kill: %s", strerror(errno));
  if (!WIFSIGNALED(status)) die("a pusher ended with status 0x%x", (unsigned)status);
  test->killed++;
  spawn_again(test, which);
}

/* Usually chooses one lane at a time, so that each push meets a sleeping host; now and then two, or
 * all. */
static void choose_lanes(struct test *test) {
  unsigned lanes = 1u << random_below(&test->random, LANES);
  if (random_chance(&test->random, 20)) lanes |= 1u << random_below(&test->random, LANES);
  if (random_chance(&test->random, 3)) lanes = (1u << LANES) - 1;
  atomic_store(&test->board->awake, lanes);
}

static void swap(struct test *test) {
  uint64_t before = atomic_load(&test->board->swaps);
  if (sem_post(&test->board->swap) != 0) die("sem_post: %s", strerror(errno));
  for (double until = seconds() + 2 * PATIENCE_SECONDS; atomic_load(&test->board->swaps) == before;
       usleep(200)) {
    if (seconds() > until) die("a swap does not come to its end");
    reap(test);
  }
}

/* Stops pushing, killing and swapping: every push that is under way has to wake the sleeper by
 * itself. */
static void settle_down(struct test *test) {
  double until = seconds() + (double)PATIENCE_SECONDS;
  atomic_store(&test->board->awake, 0);
  for (unsigned lane = 0; lane < LANES; usleep(100)) {
    while (lane < LANES && !atomic_load(&test->board->lanes[lane].busy)) lane++;
    if (seconds() > until) {
      die("a wake is lost: after %" PRIu64
          " of them lane %u waits for the sleeper at push %" PRIu64,
          atomic_load(&test->board->woken), lane, atomic_load(&test->board->lanes[lane].next));
    }
    reap(test);
  }
}

static bool has_enough(const struct test *test) {
  return atomic_load(&test->board->woken) >= test->arguments.count &&
         atomic_load(&test->board->swaps) && test->killed;
}

/* A swap makes the sleeper look, so only each second period has swaps. */
static void run(struct test *test) {
  for (unsigned i = 0; i < PUSHERS; i++) spawn(test, i);
  for (uint64_t spell = 0; !has_enough(test); spell++) {
    choose_lanes(test);
    usleep((useconds_t)random_below(&test->random, LONGEST_SPELL_US));
    reap(test);
    if (spell % 2) swap(test);
    if (random_chance(&test->random, KILL_PERCENT)) kill_one(test);
    settle_down(test);
  }
}

static void finish(struct test *test) {
  int status;
  atomic_store(&test->board->stop, true);
  for (unsigned i = 0; i < PUSHERS; i++) {
    bool good = waitpid(test->pushers[i], &status, 0) == test->pushers[i];
    if (!good || (status != 0 && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)))
      fail("a pusher ended with 0x%x", (unsigned)status);
  }
  if (sem_post(&test->board->swap) != 0) die("sem_post: %s", strerror(errno));
  close(test->control);
  if (waitpid(test->sleeper, &status, 0) != test->sleeper || status != 0)
    fail("the sleeper ended with status 0x%x", (unsigned)status);
}

static void report(const struct test *test, double took) {
  const struct board *board = test->board;
  printf("%" PRIu64 " pushes that ring, each of which woke the host; %" PRIu64 " others; %.0f s\n",
         atomic_load(&board->acknowledged), atomic_load(&board->passive), took);
  printf("woken from poll %" PRIu64 " times, sessions named %" PRIu64 ", in vain %" PRIu64 "\n",
         atomic_load(&board->woken), atomic_load(&board->named), atomic_load(&board->empty));
  printf("pushers killed %" PRIu64 " times by the clock, %" PRIu64
         " times between commit and ring or just after; %" PRIu64 " swaps\n",
         test->killed, test->own_hand, atomic_load(&board->swaps));
  printf("found by the last look alone: %" PRIu64 "\n", atomic_load(&board->late));
}

int main(int argc, char **argv) {
  static struct test test = {.arguments = {.count = 20000, .seed = 1}};
  char folder[FOLDER_PATH_MAX];
  double began = seconds();
  arguments_read(&test.arguments, argc, argv);
  folder_make(test.arguments.scratch, "wake", folder);
  folder_join(test.store, folder, "store");
  test.random = random_seeded(test.arguments.seed, 0);
  test.board =
      mmap(NULL, sizeof *test.board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (test.board == MAP_FAILED) die("no shared memory");
  if (sem_init(&test.board->swap, 1, 0) != 0) die("sem_init: %s", strerror(errno));
  for (unsigned i = 0; i < LANES; i++) {
    if (sem_init(&test.board->lanes[i].delivery, 1, 0) != 0) die("sem_init: %s", strerror(errno));
  }
  rig_load(&test.rig, test.arguments.plugin);
  start_sleeper(&test);
  run(&test);
  finish(&test);
  report(&test, seconds() - began);
  if (failures() == 0) folder_remove(folder);
  else printf("kept: %s\n", folder);
  return failures() == 0 ? 0 : 1;
}
