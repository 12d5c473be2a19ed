/* SPDX-License-Identifier: MIT
 *
 * crowd/crowd.c: two hosts, which take the session from each other, and four submitters use one
 * session for N seconds; now and then one of them is killed and started again. There are never two
 * turns at once, no message is delivered twice, none is lost, and none that was cancelled is
 * delivered. `sim-crowd [--seconds N] [--drain N] [--seed N] [--plugin PATH] [--store PLACE]`;
 * --drain: the seconds in which all that waits must be delivered in the end; --store: an existing
 * store, in a database.
 */
#include "crowd.h"

#include "kit/folder.h"

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

enum { CHILDREN = HOSTS + SUBMITTERS, KILL_EVERY_MS = 150 };

struct crowd {
  struct board *board;
  const char *plugin;
  char folder[FOLDER_PATH_MAX], store[FOLDER_PATH_MAX];
  uint64_t seconds, drain_seconds, seed, spawned, kills, deaths;
  struct random random;
  pid_t children[CHILDREN];
};

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct board *make_board(void) {
  struct board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  pthread_mutexattr_t robust;
  if (board == MAP_FAILED) wrong("no memory for the board: %s", strerror(errno));
  if (pthread_mutexattr_init(&robust) != 0 ||
      pthread_mutexattr_setpshared(&robust, PTHREAD_PROCESS_SHARED) != 0 ||
      pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST) != 0 ||
      pthread_mutex_init(&board->lock, &robust) != 0)
    wrong("no lock for the board");
  (void)pthread_mutexattr_destroy(&robust);
  board->writer = NOBODY;
  return board;
}

static void spawn(struct crowd *crowd, unsigned which, bool mortal) {
  struct part part = {.board = crowd->board,
                      .plugin = crowd->plugin,
                      .store = crowd->store,
                      .number = which < HOSTS ? which : which - HOSTS,
                      .mortal = mortal,
                      .random = random_seeded(crowd->seed, ++crowd->spawned)};
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) wrong("fork: %s", strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (which < HOSTS) host_main(&part);
    submitter_main(&part);
  }
  crowd->children[which] = child;
}

static void stop_all(struct crowd *crowd) {
  for (unsigned i = 0; i < CHILDREN; i++) {
    if (crowd->children[i] > 0) {
      kill(crowd->children[i], SIGKILL);
      waitpid(crowd->children[i], NULL, 0);
    }
  }
  folder_remove(crowd->folder);
}

/* Reaps the processes that have ended. A process that was killed is started again; one that found
 * something wrong ends the test. */
static void reap(struct crowd *crowd, bool again) {
  int status;
  for (pid_t child; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
    unsigned which = 0;
    while (which < CHILDREN && crowd->children[which] != child) which++;
    if (which == CHILDREN) continue;
    crowd->children[which] = 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
      crowd->deaths++;
      spawn(crowd, which, again);
    } else if (status != 0) {
      stop_all(crowd);
      wrong("%s %u ended with status 0x%x", which < HOSTS ? "host" : "submitter",
            which < HOSTS ? which : which - HOSTS, (unsigned)status);
    }
  }
}

static void kill_one(struct crowd *crowd) {
  unsigned which = (unsigned)random_below(&crowd->random, CHILDREN);
  if (crowd->children[which] > 0) {
    kill(crowd->children[which], SIGKILL);
    crowd->kills++;
  }
}

static bool any_alive(const struct crowd *crowd, unsigned first, unsigned end) {
  for (unsigned i = first; i < end; i++) {
    if (crowd->children[i] > 0) return true;
  }
  return false;
}

/* Finds the first message that is not where it must be; MESSAGES: there is none. */
static unsigned find_missing(const struct board *board) {
  for (unsigned i = 0; i < MESSAGES; i++) {
    const struct note *note = &board->notes[i];
    if (atomic_load(&note->state) == NOTE_UNUSED) {
      i |= MESSAGES_EACH - 1; /* the next submitter's */
    } else if (atomic_load(&note->state) == NOTE_ACKNOWLEDGED &&
               atomic_load(&note->delivered) != 1) {
      return i;
    }
  }
  return MESSAGES;
}

/* Runs until `until`, but at least until something was delivered, before which nobody is killed. */
static void run(struct crowd *crowd, double until) {
  double next_kill = seconds_now(), give_up = until + (double)crowd->drain_seconds;
  while (seconds_now() < until ||
         (atomic_load(&crowd->board->delivered) == 0 && seconds_now() < give_up)) {
    usleep(2000);
    reap(crowd, true);
    if (seconds_now() >= next_kill && seconds_now() < until) {
      kill_one(crowd);
      next_kill =
          seconds_now() + (double)random_below(&crowd->random, UINT64_C(2) * KILL_EVERY_MS) / 1000;
    }
  }
}

/* Waits until everything that still waits was delivered. A process that kills itself now is started
 * again. */
static void drain(struct crowd *crowd) {
  double deadline = seconds_now() + (double)crowd->drain_seconds;
  unsigned missing = 0;
  atomic_store(&crowd->board->stop, true);
  while (any_alive(crowd, HOSTS, CHILDREN) || (missing = find_missing(crowd->board)) < MESSAGES) {
    reap(crowd, false);
    usleep(2000);
    if (seconds_now() > deadline) {
      stop_all(crowd);
      wrong("message %u-%u was acknowledged and is not delivered", missing / MESSAGES_EACH,
            missing % MESSAGES_EACH);
    }
  }
  atomic_store(&crowd->board->leave, true);
  while (any_alive(crowd, 0, HOSTS)) {
    reap(crowd, false);
    usleep(2000);
  }
}

static void report(const struct crowd *crowd) {
  struct board *board = crowd->board;
  printf("%" PRIu64 " messages acknowledged, %" PRIu64 " delivered (%" PRIu64
         " in the midst of a turn), %" PRIu64 " cancelled; %" PRIu64 " turns, %" PRIu64
         " refused, %" PRIu64 " carriers given back\n",
         atomic_load(&board->acknowledged), atomic_load(&board->delivered),
         atomic_load(&board->steered), atomic_load(&board->cancelled), atomic_load(&board->turns),
         atomic_load(&board->refused), atomic_load(&board->rolled_back));
  printf("%" PRIu64 " takeovers, %" PRIu64 " times taken up again, %" PRIu64 " processes killed\n",
         atomic_load(&board->takeovers), atomic_load(&board->recoveries), crowd->deaths);
  if (atomic_load(&board->delivered) == 0) wrong("nothing was delivered");
}

static bool read_arguments(struct crowd *crowd, int argc, char **argv) {
  crowd->plugin = getenv("TIDINGS_PLUGIN");
  crowd->seconds = 5;
  crowd->drain_seconds = 300;
  for (int i = 1; i < argc; i += 2) {
    uint64_t number = i + 1 < argc ? strtoull(argv[i + 1], NULL, 10) : 0;
    if (i + 1 == argc) return false;
    if (strcmp(argv[i], "--seconds") == 0) {
      crowd->seconds = number;
    } else if (strcmp(argv[i], "--drain") == 0) {
      crowd->drain_seconds = number;
    } else if (strcmp(argv[i], "--seed") == 0) {
      crowd->seed = number;
    } else if (strcmp(argv[i], "--plugin") == 0) {
      crowd->plugin = argv[i + 1];
    } else if (strcmp(argv[i], "--store") == 0) {
      if (snprintf(crowd->store, sizeof crowd->store, "%s", argv[i + 1]) >=
          (int)sizeof crowd->store)
        return false;
    } else {
      return false;
    }
  }
  return crowd->plugin && crowd->seconds > 0 && crowd->drain_seconds > 0;
}

int main(int argc, char **argv) {
  static struct crowd crowd;
  if (!read_arguments(&crowd, argc, argv)) {
    fprintf(stderr,
            "usage: %s --plugin PATH [--seconds N] [--drain N] [--seed N] [--store PLACE]\n",
            argv[0]);
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  crowd.random = random_seeded(crowd.seed, 0);
  folder_make(access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp", "crowd", crowd.folder);
  if (!*crowd.store) folder_join(crowd.store, crowd.folder, "store");
  crowd.board = make_board();
  for (unsigned i = 0; i < CHILDREN; i++) spawn(&crowd, i, true);
  run(&crowd, seconds_now() + (double)crowd.seconds);
  drain(&crowd);
  report(&crowd);
  folder_remove(crowd.folder);
  return 0;
}
