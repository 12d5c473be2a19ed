/* SPDX-License-Identifier: MIT
 *
 * kills/kills.c: SIGKILL at any moment. Eight producers of four threads each push and submit; a
 * host delivers, runs turns and settles. Now and then one of these processes is killed at a
 * random time, or kills itself at a random write or sync, and is started again. In the end each
 * acknowledged push must be in exactly one carrier of the host's transcript.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kills/roles.h"
#include "kit/arguments.h"
#include "kit/folder.h"

enum { HOST = BOARD_PRODUCERS, CHILDREN, DRAIN_SECONDS = 600 };

struct killing {
  struct arguments arguments;
  struct board *board;
  struct rig rig; /* loaded here, opened in the children */
  struct random random;
  char store[FOLDER_PATH_MAX];
  pid_t children[CHILDREN];
  uint64_t spawned, kills_by_clock, kills_by_own_hand, host_kills;
};

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void spawn(struct killing *killing, unsigned which, bool mortal) {
  uint64_t seed = killing->arguments.seed + ++killing->spawned * 1000003;
  struct random random = random_seeded(seed, 99);
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) die("fork: %s", strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* If few calls are left, the process dies while it opens the store; if many are left, during
     * its work. */
    if (mortal && random_chance(&random, 50))
      suicide_arm(&random, random_chance(&random, 20) ? 6 : which == HOST ? 60 : 90);
    if (which == HOST) host_main(&killing->rig, killing->board, killing->store, seed);
    else producer_main(&killing->rig, killing->board, killing->store, which, seed);
  }
  killing->children[which] = child;
}

/* Reaps the processes that have ended; returns how many of them have killed themselves. */
static uint64_t reap(struct killing *killing) {
  uint64_t kills = 0;
  int status;
  for (pid_t child; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
    unsigned which = 0;
    while (which < CHILDREN && killing->children[which] != child) which++;
    if (which == CHILDREN) continue;
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
      die("%s ended by itself with status 0x%x", which == HOST ? "the host" : "a producer",
          (unsigned)status);
    }
    kills++;
    killing->host_kills += which == HOST;
    spawn(killing, which, true);
  }
  killing->kills_by_own_hand += kills;
  return kills;
}

static void kill_one(struct killing *killing) {
  unsigned which = random_chance(&killing->random, 25)
                       ? HOST
                       : (unsigned)random_below(&killing->random, BOARD_PRODUCERS);
  int status;
  if (kill(killing->children[which], SIGKILL) != 0 ||
      waitpid(killing->children[which], &status, 0) < 0)
    die("kill: %s", strerror(errno));
  /* It may have ended just before: it has killed itself, or has found something wrong. */
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
    die("%s ended by itself with status 0x%x", which == HOST ? "the host" : "a producer",
        (unsigned)status);
  }
  killing->kills_by_clock++;
  killing->host_kills += which == HOST;
  spawn(killing, which, true);
}

static void kill_many(struct killing *killing) {
  for (uint64_t kills = 0; kills < killing->arguments.count;) {
    usleep((useconds_t)random_below(&killing->random, 4000));
    kills += reap(killing);
    if (random_chance(&killing->random, 60)) {
      kill_one(killing);
      kills++;
    }
  }
}

static void wait_for(struct killing *killing, unsigned which, const char *what) {
  double until = seconds() + (double)DRAIN_SECONDS;
  int status;
  pid_t ended;
  while ((ended = waitpid(killing->children[which], &status, WNOHANG)) == 0) {
    if (seconds() > until) die("%s does not come to an end", what);
    usleep(2000);
  }
  if (ended < 0 || status != 0) die("%s ended with status 0x%x", what, (unsigned)status);
}

static bool was_enough_pushed(const struct killing *killing) {
  const struct board *board = killing->board;
  uint64_t tokens = atomic_load(&board->next_token), acknowledged = 0, messages = 0;
  for (uint64_t token = 1; token < tokens; token++) {
    bool known = atomic_load(&board->tokens[token].state) == TOKEN_ACKNOWLEDGED;
    acknowledged += known;
    messages += known && board->tokens[token].session >= BOARD_SESSIONS;
  }
  return acknowledged >= killing->arguments.count && messages;
}

/* Starts all processes a last time, without kills: the producers finish, and the host drains its
 * sessions. */
static void finish(struct killing *killing) {
  for (unsigned i = 0; i < CHILDREN; i++) {
    int status;
    kill(killing->children[i], SIGKILL);
    waitpid(killing->children[i], &status, 0);
    spawn(killing, i, false);
  }
  double until = seconds() + (double)DRAIN_SECONDS;
  while (!was_enough_pushed(killing)) {
    if (seconds() > until) die("hardly anything is pushed");
    usleep(2000);
  }
  atomic_store(&killing->board->stop, true);
  for (unsigned i = 0; i < BOARD_PRODUCERS; i++) wait_for(killing, i, "a producer");
  atomic_store(&killing->board->drain, true);
  wait_for(killing, HOST, "the host");
}

static void balance(const struct killing *killing) {
  const struct board *board = killing->board;
  uint64_t tokens = atomic_load(&board->next_token), acknowledged = 0, lost = 0, twice = 0,
           again = 0, stray = 0, carriers = 0, messages = 0;
  uint8_t *seen = calloc(tokens + 1, 1), *settled = calloc(tokens + 1, 1);
  if (!seen || !settled) die("out of memory");
  for (uint64_t i = 0; i < board->carrier_count; i++) {
    const struct carrier_note *note = &board->carriers[i];
    uint8_t state = atomic_load(&note->state);
    if (state == CARRIER_ABSENT) continue;
    carriers++;
    for (uint32_t k = 0; k < note->token_count; k++) {
      uint64_t token = board->carried[note->first_token + k];
      if (token >= tokens || board->tokens[token].session != note->session ||
          atomic_load(&board->tokens[token].state) == TOKEN_UNUSED) {
        stray++;
        continue;
      }
      if (settled[token]) again++;
      else if (seen[token]) twice++;
      if (seen[token] && again + twice <= 10)
        fail("token %" PRIu64 " twice, the second time in delivery %" PRIu64, token,
             note->delivery);
      seen[token] = 1;
      settled[token] |= state == CARRIER_SETTLED;
    }
  }
  for (uint64_t token = 1; token < tokens; token++) {
    bool known = atomic_load(&board->tokens[token].state) == TOKEN_ACKNOWLEDGED;
    acknowledged += known;
    messages += known && board->tokens[token].session >= BOARD_SESSIONS;
    if (known && !seen[token] && lost++ < 10)
      fail("token %" PRIu64 " of session %u is lost", token, board->tokens[token].session);
  }
  printf("killed %" PRIu64 " times (%" PRIu64 " by the clock, %" PRIu64
         " at a write or sync; the host %" PRIu64 " times)\n",
         killing->kills_by_clock + killing->kills_by_own_hand, killing->kills_by_clock,
         killing->kills_by_own_hand, killing->host_kills);
  printf("pushes %" PRIu64 ", acknowledged %" PRIu64 " (%" PRIu64
         " are messages), retried after a kill %" PRIu64 " (%" PRIu64
         " were duplicates), BUSY %" PRIu64 ", outcome unknown %" PRIu64 "\n",
         tokens - 1, acknowledged, messages, atomic_load(&board->retried),
         atomic_load(&board->duplicates), atomic_load(&board->busy), atomic_load(&board->unknown));
  printf("carriers %" PRIu64 ", rolled back %" PRIu64 ", resumes %" PRIu64 "\n", carriers,
         atomic_load(&board->rolled_back), atomic_load(&board->resumes));
  printf("lost %" PRIu64 ", twice %" PRIu64 ", delivered after a settle that returned OK %" PRIu64
         ", never pushed %" PRIu64 "\n",
         lost, twice, again, stray);
  if (lost + twice + again + stray) fail("the books do not balance");
  result(&killing->arguments, "kills", killing->kills_by_clock + killing->kills_by_own_hand,
         lost + twice + again + stray,
         "\"acknowledged\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"twice\":%" PRIu64, acknowledged, lost,
         twice + again);
  if (carriers == 0) fail("nothing was delivered");
  free(seen);
  free(settled);
}

int main(int argc, char **argv) {
  static struct killing killing = {.arguments = {.count = 1000, .seed = 1}};
  char folder[FOLDER_PATH_MAX];
  double began = seconds();
  arguments_read(&killing.arguments, argc, argv);
  folder_make(killing.arguments.scratch, "kills", folder);
  folder_join(killing.store, folder, "store");
  killing.random = random_seeded(killing.arguments.seed, 0);
  killing.board = mmap(NULL, sizeof *killing.board, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (killing.board == MAP_FAILED) die("no shared memory");
  atomic_store(&killing.board->next_token, 1);
  rig_load(&killing.rig, killing.arguments.plugin);
  for (unsigned i = 0; i < CHILDREN; i++) spawn(&killing, i, true);
  kill_many(&killing);
  finish(&killing);
  balance(&killing);
  printf("%.1f s\n", seconds() - began);
  if (failures() == 0) folder_remove(folder);
  else printf("kept: %s\n", folder);
  return failures() == 0 ? 0 : 1;
}
