/* SPDX-License-Identifier: MIT
 *
 * bench_push.c: measures durable pushes by one producer, by 64 threads into one session, and by
 * eight processes.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "common/clock.h"
#include "duel.h"
#include "sqlite.h"

enum { THREADS = 64, PROCESSES = 8, SLICE_LIMIT = 9000, TIMES_MAX = SLICE_LIMIT };

static uint64_t slice_ns(const struct bench *bench) {
  return bench->quick ? 150000000u : 400000000u;
}
static int push_rounds(const struct bench *bench) { return bench->quick ? 3 : 9; }

/* -- one producer ------------------------------------------------------------------------------ */

static void push_alone(struct bench *bench) {
  struct duel duel;
  uint64_t n = 0, pending = 0;
  if (!duel_begin(bench, "durable push, one producer", &duel)) return;
  duel_open(bench, &duel, true);
  for (int batch = 0; batch < push_rounds(bench) * 10; batch++) {
    for (int i = 0; i < 20; i++, n++, pending++) {
      uint64_t began = clock_mono_ns();
      raw_put(duel.raw, 1, n);
      uint64_t between = clock_mono_ns();
      target_push(&duel.target, "one", n);
      samples_add(&duel.floor, (double)(between - began) / 1e3);
      samples_add(&duel.measured, (double)(clock_mono_ns() - between) / 1e3);
    }
    if (pending > SLICE_LIMIT - 100) {
      target_drain(&duel.target, "one");
      pending = 0;
    }
  }
  snprintf(duel.row->note, sizeof duel.row->note, "p99 %.0f µs, floor's %.0f µs",
           samples_percentile(&duel.measured, 99), samples_percentile(&duel.floor, 99));
  duel_end(&duel, UNIT_US, 0.55, "mdb_put + commit of the same record", "0 to %" PRIu64 " pending",
           n);
}

/* -- SQLite ------------------------------------------------------------------------------------ */

#ifdef BENCH_SQLITE
/* Alternates with SQLite and raw LMDB; the note has the ratio to raw LMDB. */
static void push_beside_sqlite(struct bench *bench) {
  char sqlite_path[PATH_BYTES];
  struct samples raws = {0};
  struct duel duel;
  if (!duel_begin(bench, "durable push, against SQLite", &duel)) return;
  bench_store_path(bench, sqlite_path);
  struct sqlite *sqlite = sqlite_open(sqlite_path);
  duel_open(bench, &duel, true);
  for (uint64_t n = 0; n < (uint64_t)push_rounds(bench) * 200; n++) {
    uint64_t began = clock_mono_ns();
    raw_put(duel.raw, 1, n);
    uint64_t after_raw = clock_mono_ns();
    sqlite_put(sqlite, 1, n, raw_record_bytes());
    uint64_t after_sqlite = clock_mono_ns();
    target_push(&duel.target, "one", n);
    samples_add(&raws, (double)(after_raw - began) / 1e3);
    samples_add(&duel.floor, (double)(after_sqlite - after_raw) / 1e3);
    samples_add(&duel.measured, (double)(clock_mono_ns() - after_sqlite) / 1e3);
  }
  double raw_us = samples_median(&raws);
  snprintf(duel.row->note, sizeof duel.row->note, "of raw LMDB: SQLite %.2f ×, a push %.2f ×",
           samples_median(&duel.floor) / raw_us, samples_median(&duel.measured) / raw_us);
  duel_end(&duel, UNIT_US, 1, "INSERT, WAL, synchronous=FULL", "the same records");
  samples_free(&raws);
  sqlite_close(sqlite);
}
#else
static void push_beside_sqlite(struct bench *bench) { (void)bench; }
#endif

/* -- flushes ----------------------------------------------------------------------------------- */

static double flushes_of_raw(struct raw *raw, uint64_t n) {
  uint64_t before = calls_flushes();
  raw_put(raw, 1, n);
  return (double)(calls_flushes() - before);
}

/* Counts the flushes of a push, or, with `leases`, of a delivery and its settling. */
static void count_flushes(struct bench *bench, const char *name, bool leases, double budget) {
  struct duel duel;
  size_t got;
  if (!duel_begin(bench, name, &duel)) return;
  duel_open(bench, &duel, true);
  for (uint64_t n = 1; n <= 20; n++) {
    uint64_t before = calls_flushes();
    target_push(&duel.target, "one", n);
    if (leases) {
      before = calls_flushes();
      target_commit(&duel.target, target_deliver(&duel.target, "one", &got));
    }
    duel.row->measured = (double)(calls_flushes() - before);
    duel.row->floor = flushes_of_raw(duel.raw, n) * (leases ? 2 : 1);
  }
  duel.row->budget_is_absolute = true;
  duel_end(&duel, UNIT_COUNT, budget, "those of LMDB as it is", "the last of 20");
}

/* -- many threads ------------------------------------------------------------------------------ */

struct slice {
  struct target *target;
  uint64_t until;
  _Atomic(uint64_t) pushed, n;
};

static void *pusher_main(void *context) {
  struct slice *slice = context;
  while (clock_mono_ns() < slice->until && atomic_load(&slice->pushed) < SLICE_LIMIT - THREADS) {
    if (target_push(slice->target, "one", atomic_fetch_add(&slice->n, 1)) != 0) break;
    atomic_fetch_add(&slice->pushed, 1);
  }
  return NULL;
}

static double threads_per_second(struct bench *bench, struct target *target) {
  pthread_t threads[THREADS];
  struct slice slice = {.target = target};
  uint64_t began = clock_mono_ns();
  slice.until = began + slice_ns(bench);
  for (int i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, pusher_main, &slice) != 0) bench_die("no thread");
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  double seconds = (double)(clock_mono_ns() - began) / 1e9;
  target_drain(target, "one");
  return (double)atomic_load(&slice.pushed) / seconds;
}

static double raw_per_second(struct bench *bench, struct raw *raw, uint64_t *n) {
  uint64_t began = clock_mono_ns(), until = began + slice_ns(bench), count = 0;
  for (; clock_mono_ns() < until; count++) raw_put(raw, 1, (*n)++);
  return (double)count / ((double)(clock_mono_ns() - began) / 1e9);
}

static void push_by_threads(struct bench *bench) {
  struct duel duel;
  uint64_t n = 0;
  if (!duel_begin(bench, "durable pushes, 64 threads", &duel)) return;
  duel_open(bench, &duel, true);
  for (int round = 0; round < push_rounds(bench); round++) {
    samples_add(&duel.floor, raw_per_second(bench, duel.raw, &n));
    samples_add(&duel.measured, threads_per_second(bench, &duel.target));
  }
  duel.row->more_is_better = true;
  duel_end(&duel, UNIT_PER_SECOND, 8, "one thread, mdb_put + commit each",
           "one session, up to %d pending", SLICE_LIMIT);
}

/* -- many processes ---------------------------------------------------------------------------- */

struct worker_times {
  uint64_t count;
  double us[TIMES_MAX];
};

struct gate {
  atomic_int ready;
  atomic_bool go;
  _Atomic(uint64_t) until;
  struct worker_times workers[PROCESSES];
};

static _Noreturn void worker_main(const struct bench *bench, struct gate *gate, unsigned number,
                                  const char *path, bool is_raw, uint64_t first) {
  struct worker_times *times = &gate->workers[number];
  struct target target = {0};
  struct raw *raw = NULL;
  char session[SESSION_BYTES];
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  snprintf(session, sizeof session, "p%u", number);
  if (is_raw) {
    raw = raw_open(path);
  } else {
    target_load(&target, bench->plugin);
    target_open(&target, path, TIDINGS_ROLE_PRODUCER);
  }
  atomic_fetch_add(&gate->ready, 1);
  while (!atomic_load(&gate->go)) usleep(100);
  uint64_t until = atomic_load(&gate->until);
  for (times->count = 0; times->count < TIMES_MAX; times->count++) {
    uint64_t began = clock_mono_ns();
    if (began >= until) break;
    if (raw) raw_put(raw, number + 1, first + times->count);
    else if (target_push(&target, session, times->count) != 0) break;
    times->us[times->count] = (double)(clock_mono_ns() - began) / 1e3;
  }
  _exit(0);
}

/* Runs a slice with fresh processes; adds their latencies and returns pushes a second. */
static double processes_per_second(const struct bench *bench, struct gate *gate, const char *path,
                                   bool is_raw, uint64_t first, struct samples *latencies) {
  uint64_t pushes = 0;
  atomic_store(&gate->ready, 0);
  atomic_store(&gate->go, false);
  for (unsigned i = 0; i < PROCESSES; i++) {
    pid_t child = fork();
    if (child < 0) bench_die("fork failed");
    if (child == 0) worker_main(bench, gate, i, path, is_raw, first);
  }
  while (atomic_load(&gate->ready) < PROCESSES) usleep(100);
  uint64_t began = clock_mono_ns();
  atomic_store(&gate->until, began + slice_ns(bench));
  atomic_store(&gate->go, true);
  for (int status; wait(&status) > 0;) {
    if (status != 0) bench_die("a worker ended with status 0x%x", (unsigned)status);
  }
  double seconds = (double)(clock_mono_ns() - began) / 1e9;
  for (unsigned i = 0; i < PROCESSES; i++) {
    pushes += gate->workers[i].count;
    for (uint64_t k = 0; k < gate->workers[i].count; k++)
      samples_add(latencies, gate->workers[i].us[k]);
  }
  return (double)pushes / seconds;
}

static void drain_all(const struct bench *bench, const char *store) {
  struct target target;
  target_load(&target, bench->plugin);
  target_open(&target, store, TIDINGS_ROLE_HOST);
  for (unsigned i = 0; i < PROCESSES; i++) {
    char session[SESSION_BYTES];
    snprintf(session, sizeof session, "p%u", i);
    target_drain(&target, session);
  }
  target_unload(&target);
}

static void push_by_processes(struct bench *bench) {
  struct samples floor_us = {0}, push_us = {0};
  struct duel duel;
  if (!duel_begin(bench, "8 producer processes", &duel)) return;
  struct gate *gate =
      mmap(NULL, sizeof *gate, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (gate == MAP_FAILED) bench_die("no shared memory");
  for (int round = 0; round < push_rounds(bench); round++) {
    samples_add(&duel.floor, processes_per_second(bench, gate, duel.raw_path, true,
                                                  (uint64_t)round * TIMES_MAX, &floor_us));
    samples_add(&duel.measured, processes_per_second(bench, gate, duel.store, false, 0, &push_us));
    drain_all(bench, duel.store);
  }
  double p99 = samples_percentile(&push_us, 99), floor_p99 = samples_percentile(&floor_us, 99);
  duel.row->more_is_better = true;
  duel.row->failed = p99 > 1.1 * floor_p99; /* no worse, except for noise */
  snprintf(duel.row->note, sizeof duel.row->note, "p99 %.0f µs, floor's %.0f µs", p99, floor_p99);
  duel_end(&duel, UNIT_PER_SECOND, 1.8, "8 processes, mdb_put + commit each", "one session each");
  samples_free(&floor_us);
  samples_free(&push_us);
  munmap(gate, sizeof *gate);
}

void bench_push(struct bench *bench) {
  count_flushes(bench, "flushes of the disk, one push", false, 1);
  count_flushes(bench, "flushes of the disk, lease and settle", true, 2);
  push_alone(bench);
  push_beside_sqlite(bench);
  push_by_threads(bench);
  push_by_processes(bench);
}
