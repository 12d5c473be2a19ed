/* SPDX-License-Identifier: MIT
 *
 * kit_crew.c: the test's folder, its main function, and threads and processes that run at once.
 */
#include "kit.h"

#include "kit_store.h"

#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256];
static pid_t first; /* the process that made the folder */

const char *kit_copies(void) { return folder; }

/* -- the folder -------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where) {
  (void)status;
  (void)type;
  (void)where;
  return remove(path);
}

static void make_folder(void) {
  const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");
  (void)snprintf(folder, sizeof folder, "%s/tidings-turns-XXXXXX", base ? base : "/tmp");
  first = getpid();
  if (!mkdtemp(folder)) {
    perror(folder);
    exit(EXIT_FAILURE);
  }
  store_folder = text("%s/store", folder);
}

static void remove_folder(void) { (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

_Noreturn void kit_give_up(void) {
  if (getpid() == first) remove_folder();
  _exit(EXIT_FAILURE);
}

int main(void) {
  (void)setvbuf(stdout, NULL, _IOLBF, 0);
  make_folder();
  (void)printf("# %s\n", invariant);
  test();
  remove_folder();
  kit_forget();
  return EXIT_SUCCESS;
}

/* -- threads ----------------------------------------------------------------------------------- */

struct racer {
  pthread_t thread;
  pthread_barrier_t *line;
  unsigned index;
  void (*work)(unsigned index);
};

static void *race(void *argument) {
  struct racer *racer = argument;
  pthread_barrier_wait(racer->line);
  racer->work(racer->index);
  return NULL;
}

void at_once(unsigned count, void (*work)(unsigned index)) {
  enum { THREADS_MAX = 16 };
  struct racer racers[THREADS_MAX];
  pthread_barrier_t line;
  check(count <= THREADS_MAX && pthread_barrier_init(&line, NULL, count) == 0,
        "no barrier for %u threads", count);
  for (unsigned i = 0; i < count; i++) {
    racers[i] = (struct racer){.line = &line, .index = i, .work = work};
    check(pthread_create(&racers[i].thread, NULL, race, &racers[i]) == 0, "no thread");
  }
  for (unsigned i = 0; i < count; i++) pthread_join(racers[i].thread, NULL);
  pthread_barrier_destroy(&line);
}

/* -- processes --------------------------------------------------------------------------------- */

/* A child never outlives a test that has failed. */
static pid_t fork_quietly(void) {
  (void)fflush(stdout);
  pid_t parent = getpid(), pid = fork();
  check(pid >= 0, "no process");
  if (pid == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)) _exit(EXIT_FAILURE);
  return pid;
}

struct crew crew_start(unsigned count, void (*work)(unsigned index)) {
  struct crew crew = {.count = count};
  int gate[2];
  check(count <= CREW_MAX && pipe(gate) == 0, "no gate for %u processes", count);
  for (unsigned i = 0; i < count; i++) {
    crew.pids[i] = fork_quietly();
    if (crew.pids[i]) continue;
    struct pollfd opens = {.fd = gate[0], .events = POLLIN};
    close(gate[1]);
    while (poll(&opens, 1, -1) != 1) continue;
    work(i);
    kit_forget();
    (void)fflush(stdout);
    _exit(EXIT_SUCCESS);
  }
  close(gate[0]);
  crew.gate = gate[1];
  return crew;
}

/* Closes the pipe, whose end of file all processes wait for. */
void crew_go(struct crew *crew) { close(crew->gate); }

void crew_wait(struct crew *crew) {
  for (unsigned i = 0; i < crew->count; i++) {
    int status = 0;
    waitpid(crew->pids[i], &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS,
          "process %u of the crew failed (status %d)", i, status);
  }
}

_Noreturn void dying(void) {
  (void)fflush(stdout);
  (void)kill(getpid(), SIGKILL);
  abort();
}

void in_another_process(void (*work)(const char *argument), const char *argument) {
  pid_t pid = fork_quietly();
  if (!pid) {
    work(argument);
    kit_forget();
    (void)fflush(stdout);
    _exit(EXIT_SUCCESS);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  check(killed || (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS),
        "the other process failed (status %d)", status);
}
