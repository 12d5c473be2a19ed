/* SPDX-License-Identifier: MIT
 *
 * stops/stops.c: a process is stopped at any moment of open, push, hook, settle and close, or
 * inside LMDB's own locks. All other processes go on, or get BUSY within their budget. When the
 * stopped process continues or is killed, nothing is lost.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/arguments.h"
#include "kit/folder.h"
#include "stops/at_lock.h"
#include "stops/tracee.h"
#include "stops/well.h"

enum { A_RESIDENT = 16, MOST_STEPS_BITS = 13, READERS = 8 };

struct stopping {
  struct arguments arguments;
  struct random random;
  struct well well;
  struct worker victim;
  uint64_t moments[CALL_KINDS + 1]; /* how many moments each call has */
  char store[FOLDER_PATH_MAX];
};

static void live(void *context) {
  struct worker *victim = context;
  worker_open(victim);
  worker_work(victim);
  worker_close(victim);
}

/* -- at random moments ------------------------------------------------------------------------- */

/* Counts the entries and exits of system calls in each call; there are fewer if the store has
 * another user. False: nothing can be traced here. */
static bool count_moments(struct stopping *stopping) {
  memset(stopping->moments, 0, sizeof stopping->moments);
  pid_t child = tracee_start(live, &stopping->victim);
  while (child >= 0 && tracee_go(child, 1, 0))
    stopping->moments[atomic_load(&stopping->well.board->victim_call)]++;
  return child >= 0;
}

/* Chooses a moment; each call is chosen equally often. */
static uint64_t random_moment(struct stopping *stopping) {
  uint64_t kind = random_below(&stopping->random, CALL_KINDS), before = 0;
  for (uint64_t i = 0; i < kind; i++) before += stopping->moments[i];
  return before + random_below(&stopping->random, stopping->moments[kind] + 1);
}

static uint64_t random_steps(struct stopping *stopping) {
  if (random_chance(&stopping->random, 30)) return 0;
  return random_below(&stopping->random,
                      UINT64_C(1) << random_below(&stopping->random, MOST_STEPS_BITS + 1));
}

/* False: the process had ended before that moment. */
static bool stop_once(struct stopping *stopping, uint64_t *stopped) {
  uint64_t at = random_moment(stopping), steps = random_steps(stopping);
  pid_t child = tracee_start(live, &stopping->victim);
  if (!tracee_go(child, at, steps)) return false;
  stopped[atomic_load(&stopping->well.board->victim_call)]++;
  unsigned before = failures();
  well_measure(&stopping->well);
  if (failures() != before)
    printf("the victim was stopped after %" PRIu64 " entries and exits and %" PRIu64
           " instructions\n",
           at, steps);
  bool killed = random_chance(&stopping->random, 50);
  int status = tracee_finish(child, killed);
  if (!killed && status) fail("the victim ended with status 0x%x", (unsigned)status);
  well_drain(&stopping->well);
  return true;
}

static int part_moments(struct stopping *stopping) {
  uint64_t stopped[CALL_KINDS + 1] = {0}, changed = 0;
  if (!count_moments(stopping)) return EXIT_SKIPPED;
  uint64_t done = 0;
  while (done < stopping->arguments.count && !failures()) {
    if (done && done % A_RESIDENT == 0 && done != changed) {
      if (stopping->well.resident.child) well_end_resident(&stopping->well);
      else well_start_resident(&stopping->well);
      (void)count_moments(stopping);
      changed = done;
    }
    done += stop_once(stopping, stopped);
  }
  if (stopping->well.resident.child) well_end_resident(&stopping->well);
  printf("stopped %" PRIu64 " times: in open %" PRIu64 ", push %" PRIu64 ", hook %" PRIu64
         ", settle %" PRIu64 ", close %" PRIu64 ", afterwards %" PRIu64 "\n",
         done, stopped[CALL_OPEN], stopped[CALL_PUSH], stopped[CALL_HOOK], stopped[CALL_SETTLE],
         stopped[CALL_CLOSE], stopped[CALL_KINDS]);
  well_print(&stopping->well);
  result(&stopping->arguments, "stops", done, failures(), "\"longest_ms\":%" PRId64,
         well_longest_ms(&stopping->well));
  return 0;
}

/* -- inside LMDB's locks ----------------------------------------------------------------------- */

static void *read_on(void *context) {
  struct rig *rig = context;
  struct tidings_error error = RIG_ERROR;
  for (int i = 0; i < 1000; i++)
    (void)rig_query(rig, "{\"name\":\"pending\",\"session\":\"victim\"}", NULL, &error);
  return NULL;
}

static void open_stopped(struct worker *victim) {
  lock_stop_at(AT_LOCK);
  worker_open(victim);
  worker_close(victim);
}

/* Reads with more readers at once than there are slots. */
static void read_stopped(struct worker *victim) {
  pthread_t threads[READERS];
  worker_open(victim);
  lock_stop_at(AT_LOCK);
  for (int i = 0; i < READERS; i++)
    if (pthread_create(&threads[i], NULL, read_on, victim->rig)) die("no thread");
  for (int i = 0; i < READERS; i++) pthread_join(threads[i], NULL);
  worker_close(victim);
}

static void close_stopped(struct worker *victim) {
  worker_open(victim);
  lock_stop_at(AT_DESTROY);
  worker_close(victim);
}

static const struct {
  const char *what;
  void (*live)(struct worker *victim);
  bool may_not_stop; /* only newer versions of LMDB destroy their locks */
} cases[] = {{"it begins to read, while it opens", open_stopped, false},
             {"it begins to read", read_stopped, false},
             {"it closes as the last user", close_stopped, true}};

static void stop_in(struct stopping *stopping, size_t which, bool killed) {
  int status;
  unsigned before = failures();
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) die("fork: %s", strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    cases[which].live(&stopping->victim);
    _exit(failures() != before);
  }
  if (waitpid(child, &status, WUNTRACED) != child) die("waitpid: %s", strerror(errno));
  if (!WIFSTOPPED(status) && status) die("the victim ended with status 0x%x", (unsigned)status);
  printf("%s: %s\n", cases[which].what,
         WIFSTOPPED(status) ? killed ? "stopped, then killed" : "stopped"
                            : "there is no such lock");
  if (!WIFSTOPPED(status)) {
    if (!cases[which].may_not_stop) fail("%s: LMDB took no lock", cases[which].what);
    return;
  }
  well_measure(&stopping->well);
  kill(child, killed ? SIGKILL : SIGCONT);
  (void)waitpid(child, &status, 0);
  if (!killed && status) fail("the victim ended with status 0x%x", (unsigned)status);
  well_drain(&stopping->well);
}

static void part_locks(struct stopping *stopping) {
  for (int killed = 0; killed < 2; killed++) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) stop_in(stopping, i, killed);
    well_start_resident(&stopping->well);
    stop_in(stopping, 0, killed);
    stop_in(stopping, 1, killed);
    well_end_resident(&stopping->well);
  }
  well_print(&stopping->well);
}

int main(int argc, char **argv) {
  static struct stopping stopping = {.arguments = {.count = 40, .seed = 1}};
  static struct rig rig;
  char folder[FOLDER_PATH_MAX];
  int code = 0;
  arguments_read(&stopping.arguments, argc, argv);
  folder_make(stopping.arguments.scratch, "stops", folder);
  folder_join(stopping.store, folder, "store");
  stopping.random = random_seeded(stopping.arguments.seed, 0);
  struct board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (board == MAP_FAILED) die("no shared memory");
  atomic_store(&board->next_token, 1);
  rig_load(&rig, stopping.arguments.plugin);
  stopping.well = (struct well){.rig = &rig,
                                .board = board,
                                .store = stopping.store,
                                .patience_ms = (int)stopping.arguments.patience_ms};
  stopping.victim =
      (struct worker){.rig = &rig, .board = board, .store = stopping.store, .role = ROLE_VICTIM};
  if (arguments_part(&stopping.arguments, "locks")) part_locks(&stopping);
  memset(stopping.well.totals, 0, sizeof stopping.well.totals);
  if (arguments_part(&stopping.arguments, "moments")) code = part_moments(&stopping);
  if (failures() == 0) folder_remove(folder);
  return failures() ? 1 : code;
}
