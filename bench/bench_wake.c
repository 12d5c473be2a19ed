/* SPDX-License-Identifier: MIT
 *
 * bench_wake.c: measures the time from an urgent push until the sleeping process is awake. The
 * floor is the time that the kernel needs for one byte in a FIFO: one process writes, another one
 * polls and reads. A commit of raw LMDB precedes it, so that both begin with the same cold caches.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "calls.h"
#include "common/clock.h"
#include "raw.h"
#include "samples.h"
#include "target.h"

enum { ASLEEP_AFTER_US = 60, WARM_UP = 20 };

struct pair { /* two processes, and their shared memory */
  _Atomic(bool) asleep;
  _Atomic(uint64_t) woken_ns; /* the newest wake; a push rings before its commit and after it */
  char fifo[PATH_BYTES], store[PATH_BYTES];
};

/* Pins the sleeper to the last processor, and the pusher to the first one, for the floor and for
 * the plugin. */
static void pin(bool last) {
  cpu_set_t all, one;
  size_t chosen = CPU_SETSIZE;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  for (size_t i = 0; i < CPU_SETSIZE && (last || chosen == CPU_SETSIZE); i++) {
    if (CPU_ISSET(i, &all)) chosen = i;
  }
  CPU_SET(chosen, &one);
  (void)sched_setaffinity(0, sizeof one, &one);
}

static void sleep_on(struct pair *pair, int fd) {
  struct pollfd polled = {.fd = fd, .events = POLLIN};
  atomic_store(&pair->asleep, true);
  while (poll(&polled, 1, -1) != 1) continue;
  atomic_store(&pair->asleep, false);
}

static _Noreturn void raw_sleeper(struct pair *pair) {
  int fd = open(pair->fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) bench_die("%s: %s", pair->fifo, strerror(errno));
  for (;;) {
    char bytes[64];
    sleep_on(pair, fd);
    if (read(fd, bytes, sizeof bytes) < 0) bench_die("the FIFO: %s", strerror(errno));
    atomic_store(&pair->woken_ns, clock_mono_ns());
  }
}

static _Noreturn void plugin_sleeper(const struct bench *bench, struct pair *pair) {
  struct target target;
  char session[SESSION_BYTES];
  target_load(&target, bench->plugin);
  target_open(&target, pair->store, TIDINGS_ROLE_HOST);
  int fd = target_wake_descriptor(&target);
  target_drain(&target, "one"); /* this makes the session belong to this host */
  while (target_next_session(&target, session, sizeof session)) continue;
  for (;;) {
    sleep_on(pair, fd);
    while (target_next_session(&target, session, sizeof session))
      atomic_store(&pair->woken_ns, clock_mono_ns());
  }
}

static pid_t start(const struct bench *bench, struct pair *pair, bool raw) {
  atomic_store(&pair->asleep, false);
  pid_t child = fork();
  if (child < 0) bench_die("fork failed");
  if (child > 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pin(true);
  if (raw) raw_sleeper(pair);
  plugin_sleeper(bench, pair);
}

/* The sleeper says that it is asleep a few instructions before it sleeps. */
static void until_asleep(const struct pair *pair) {
  do usleep(ASLEEP_AFTER_US);
  while (!atomic_load(&pair->asleep));
  usleep(ASLEEP_AFTER_US);
  while (!atomic_load(&pair->asleep)) usleep(ASLEEP_AFTER_US);
}

/* Wakes before the commit do not count, because there is nothing to do yet. */
static double woken_us(const struct pair *pair, uint64_t committed) {
  uint64_t woken;
  while ((woken = atomic_load(&pair->woken_ns)) < committed) sched_yield();
  return (double)(woken - committed) / 1e3;
}

struct figures {
  struct samples floor, after, whole;
};

static void measure_wake(struct bench *bench, struct pair *pairs, struct raw *raw,
                         struct target *target, int fifo, struct figures *figures) {
  int rounds = bench->quick ? 300 : 2000;
  for (int i = 1; i <= rounds + WARM_UP; i++) {
    uint64_t n = (uint64_t)i;
    until_asleep(&pairs[0]);
    raw_put(raw, 1, n);
    uint64_t committed = calls_wrote_ns();
    if (write(fifo, "", 1) != 1) bench_die("the FIFO: %s", strerror(errno));
    double floor = woken_us(&pairs[0], committed);

    until_asleep(&pairs[1]);
    uint64_t began = clock_mono_ns();
    target_push_critical(target, "one", n);
    committed = calls_wrote_ns();
    double after = woken_us(&pairs[1], committed);
    if (i <= WARM_UP) continue;
    samples_add(&figures->floor, floor);
    samples_add(&figures->after, after);
    samples_add(&figures->whole, after + (double)(committed - began) / 1e3);
  }
}

static void fill_row(struct row *row, struct figures *figures) {
  snprintf(row->state, sizeof row->state, "from the commit on");
  snprintf(row->floor_is, sizeof row->floor_is,
           "after a raw commit: a byte through a FIFO, write, poll, read");
  row->unit = UNIT_US;
  row->floor = samples_median(&figures->floor);
  row->measured = samples_median(&figures->after);
  row->budget = 1.5;
  snprintf(row->note, sizeof row->note,
           "the whole push, to its session's name in the other process: %.0f µs",
           samples_median(&figures->whole));
}

void bench_wake(struct bench *bench) {
  static const char name[] = "push to wake, another process";
  struct figures figures = {0};
  struct target target;
  char raw_path[PATH_BYTES];
  cpu_set_t before;
  if (!bench_is_selected(bench, name)) return;
  struct row *row = bench_row(bench, name);
  struct pair *pairs =
      mmap(NULL, 2 * sizeof *pairs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (pairs == MAP_FAILED || sched_getaffinity(0, sizeof before, &before) != 0)
    bench_die("no shared memory");
  bench_store_path(bench, raw_path);
  bench_store_path(bench, pairs[0].fifo);
  bench_store_path(bench, pairs[1].store);
  if (mkfifo(pairs[0].fifo, 0600) != 0) bench_die("%s: %s", pairs[0].fifo, strerror(errno));
  pid_t sleepers[] = {start(bench, &pairs[0], true), start(bench, &pairs[1], false)};
  pin(false);
  struct raw *raw = raw_open(raw_path);
  target_load(&target, bench->plugin);
  target_open(&target, pairs[1].store, TIDINGS_ROLE_PRODUCER);
  int fifo = open(pairs[0].fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fifo < 0) bench_die("%s: %s", pairs[0].fifo, strerror(errno));
  measure_wake(bench, pairs, raw, &target, fifo, &figures);
  fill_row(row, &figures);

  for (int i = 0; i < 2; i++) {
    kill(sleepers[i], SIGKILL);
    waitpid(sleepers[i], NULL, 0);
  }
  (void)sched_setaffinity(0, sizeof before, &before);
  close(fifo);
  raw_close(raw);
  target_unload(&target);
  samples_free(&figures.floor);
  samples_free(&figures.after);
  samples_free(&figures.whole);
  munmap(pairs, 2 * sizeof *pairs);
}
