/* SPDX-License-Identifier: MIT
 *
 * fleet.c: measures calls of the plugin on a database beside hand-written SQL for the same work,
 * alternately, in one run. tests/fleet/bench.py starts the server, prints the table and checks the
 * goals.
 *
 *   tidings-bench-fleet PLUGIN URL CONNINFO calls ROUNDS
 *   tidings-bench-fleet PLUGIN URL CONNINFO clients COUNT MS ROUNDS
 *
 * Each line has the row's name, the medians of the plugin and of the hand-written SQL (µs, or
 * pushes a second), and the processor time of a call, client and server together (µs).
 */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "common/clock.h"
#include "fleet_raw.h"
#include "samples.h"
#include "target.h"

enum { ITEMS = 10, WARM = 10, BY_HAND = 1, SIDES = 2 };

void bench_die(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fprintf(stderr, "tidings-bench-fleet: ");
  vfprintf(stderr, format, list);
  va_end(list);
  fprintf(stderr, "\n");
  exit(1);
}

static uint64_t own_cpu_ns(void) {
  struct rusage usage;
  (void)getrusage(RUSAGE_SELF, &usage);
  return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
         ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u;
}

/* -- one client -------------------------------------------------------------------------------- */

struct sides {
  struct target target;
  struct fleet_raw *raw;
  uint64_t n;
};

static void our_push(struct sides *sides) {
  if (target_push(&sides->target, "one", sides->n++)) bench_die("the session is full");
}
static void our_delivery(struct sides *sides) {
  uint64_t delivery = target_deliver(&sides->target, "one", NULL);
  if (!delivery) bench_die("nothing was delivered");
  target_commit(&sides->target, delivery);
}
static void our_hook(struct sides *sides) {
  if (target_deliver(&sides->target, "one", NULL)) bench_die("the hook is not quiet");
}
static void our_other_push(struct sides *sides) {
  if (target_push(&sides->target, "two", sides->n++)) bench_die("the session is full");
}
static void push_by_hand(struct sides *sides) { fleet_raw_push(sides->raw, "one"); }
static void push_in_sql(struct sides *sides) { fleet_raw_push_in_sql(sides->raw, "two"); }
static void deliver_by_hand(struct sides *sides) { fleet_raw_deliver(sides->raw, "one"); }
static void look_by_hand(struct sides *sides) { fleet_raw_look(sides->raw); }
static void read_by_hand(struct sides *sides) { fleet_raw_read(sides->raw); }

struct measured {
  const char *name;
  int times; /* in a turn */
  void (*call[SIDES])(struct sides *sides);
  struct samples us[SIDES];
  double cpu_us[SIDES];
};

static void measure_row(struct measured *row, struct sides *sides) {
  for (int side = 0; side < SIDES; side++) {
    uint64_t theirs = fleet_raw_server_ns(sides->raw, side == BY_HAND), mine = own_cpu_ns();
    for (int i = 0; i < row->times; i++) {
      uint64_t began = clock_mono_ns();
      row->call[side](sides);
      samples_add(&row->us[side], (double)(clock_mono_ns() - began) / 1e3);
    }
    mine = own_cpu_ns() - mine;
    theirs = fleet_raw_server_ns(sides->raw, side == BY_HAND) - theirs;
    row->cpu_us[side] += (double)(mine + theirs) / 1e3;
  }
}

static void print_row(const char *name, const double value[SIDES], const double cpu_us[SIDES]) {
  printf("%s\t%.1f\t%.1f\t%.1f\t%.1f\n", name, value[0], value[1], cpu_us[0], cpu_us[1]);
}

static void run_calls(struct sides *sides, int rounds) {
  struct measured rows[] = {
      {.name = "push", .times = ITEMS, .call = {our_push, push_by_hand}},
      {.name = "push() in SQL", .times = 5, .call = {our_other_push, push_in_sql}},
      {.name = "lease + settle of ten", .times = 1, .call = {our_delivery, deliver_by_hand}},
      {.name = "quiet hook", .times = 5, .call = {our_hook, look_by_hand}},
      {.name = "quiet hook, one row", .times = 5, .call = {our_hook, read_by_hand}},
  };
  enum { ROWS = sizeof rows / sizeof *rows };
  for (int round = -3; round < rounds; round++) {
    for (size_t i = 0; i < ROWS; i++) {
      measure_row(&rows[i], sides);
      if (round >= 0) continue;
      for (int side = 0; side < SIDES;
           side++) { /* the first calls, with cold caches, do not count */
        samples_free(&rows[i].us[side]);
        rows[i].cpu_us[side] = 0;
      }
    }
  }
  for (size_t i = 0; i < ROWS; i++) {
    double median[SIDES], cpu[SIDES];
    for (int side = 0; side < SIDES; side++) {
      median[side] = samples_median(&rows[i].us[side]);
      cpu[side] = rows[i].cpu_us[side] / (rounds * rows[i].times);
      samples_free(&rows[i].us[side]);
    }
    print_row(rows[i].name, median, cpu);
  }
}

/* -- many clients, a process each -------------------------------------------------------------- */

struct gate {
  atomic_int ready, over;
  atomic_bool go, end;
  _Atomic(uint64_t) until, pushed, cpu_ns;
};

static void push_one(struct sides *sides, const char *session, uint64_t n, bool by_hand) {
  if (by_hand) fleet_raw_push(sides->raw, session);
  else if (target_push(&sides->target, session, n)) bench_die("session %s is full", session);
}

static _Noreturn void client_main(struct gate *gate, char *const arguments[], int number,
                                  bool by_hand) {
  struct sides sides = {.raw = NULL};
  char session[SESSION_BYTES];
  uint64_t pushed = 0;
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)snprintf(session, sizeof session, "many-%d", number);
  if (by_hand) {
    sides.raw = fleet_raw_open(arguments[2], "clients by hand");
  } else {
    target_load(&sides.target, arguments[0]);
    target_open(&sides.target, arguments[1], TIDINGS_ROLE_PRODUCER);
  }
  /* The first calls do not count, because each server process plans a statement once. */
  for (int i = 0; i < WARM; i++) push_one(&sides, session, 0, by_hand);
  atomic_fetch_add(&gate->ready, 1);
  while (!atomic_load(&gate->go)) usleep(200);
  uint64_t until = atomic_load(&gate->until), cpu = own_cpu_ns();
  for (; clock_mono_ns() < until; pushed++) push_one(&sides, session, pushed, by_hand);
  atomic_fetch_add(&gate->cpu_ns, own_cpu_ns() - cpu);
  atomic_fetch_add(&gate->pushed, pushed);
  atomic_fetch_add(&gate->over, 1);
  while (!atomic_load(&gate->end))
    usleep(200); /* the parent is asking for the processor time of the server's processes */
  _exit(0);
}

/* Returns the pushes a second. *ret_cpu_us: the processor time of one. */
static double slice(struct gate *gate, char *const arguments[], struct fleet_raw *raw, int clients,
                    uint64_t ns, bool by_hand, double *ret_cpu_us) {
  memset(gate, 0, sizeof *gate);
  for (int i = 0; i < clients; i++) {
    pid_t child = fork();
    if (child < 0) bench_die("fork failed");
    if (child == 0) client_main(gate, arguments, i, by_hand);
  }
  while (atomic_load(&gate->ready) < clients) usleep(1000);
  fleet_raw_find_servers(raw, by_hand ? "clients by hand" : "tidings");
  uint64_t theirs = fleet_raw_server_ns(raw, false), began = clock_mono_ns();
  atomic_store(&gate->until, began + ns);
  atomic_store(&gate->go, true);
  while (atomic_load(&gate->over) < clients) usleep(1000);
  double seconds = (double)(clock_mono_ns() - began) / 1e9;
  theirs = fleet_raw_server_ns(raw, false) - theirs;
  atomic_store(&gate->end, true);
  for (int status; wait(&status) > 0;) {
    if (status) bench_die("a client ended with status 0x%x", (unsigned)status);
  }
  double pushed = (double)atomic_load(&gate->pushed);
  *ret_cpu_us = (double)(theirs + atomic_load(&gate->cpu_ns)) / 1e3 / pushed;
  fleet_raw_empty(raw);
  return pushed / seconds;
}

static void run_clients(char *const arguments[], int clients, int ms, int rounds) {
  struct gate *gate =
      mmap(NULL, sizeof *gate, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct fleet_raw *raw = fleet_raw_open(arguments[2], "by hand");
  struct samples rate[SIDES] = {{0}, {0}}, cpu[SIDES] = {{0}, {0}};
  double rates[SIDES], cpus[SIDES], took;
  char name[32];
  if (gate == MAP_FAILED) bench_die("no shared memory");
  for (int round = 0; round < rounds; round++) {
    for (int side = 0; side < SIDES; side++) {
      uint64_t ns = (uint64_t)ms * 1000000u;
      samples_add(&rate[side], slice(gate, arguments, raw, clients, ns, side == BY_HAND, &took));
      samples_add(&cpu[side], took);
    }
  }
  for (int side = 0; side < SIDES; side++) {
    rates[side] = samples_median(&rate[side]);
    cpus[side] = samples_median(&cpu[side]);
  }
  (void)snprintf(name, sizeof name, "%d clients", clients);
  print_row(name, rates, cpus);
  fleet_raw_close(raw);
}

static int number_of(const char *word) {
  char *end;
  long number = strtol(word, &end, 10);
  if (!number || *end || number > INT_MAX) bench_die("'%s' is not a number", word);
  return (int)number;
}

int main(int count, char **words) {
  if (count == 6 && strcmp(words[4], "calls") == 0) {
    struct sides sides = {.raw = fleet_raw_open(words[3], "by hand")};
    target_load(&sides.target, words[1]);
    target_open(&sides.target, words[2], TIDINGS_ROLE_HOST);
    our_push(&sides);
    our_delivery(&sides);
    fleet_raw_find_servers(sides.raw, "tidings");
    fleet_raw_hold(sides.raw);
    run_calls(&sides, number_of(words[5]));
    target_unload(&sides.target);
    fleet_raw_close(sides.raw);
  } else if (count == 8 && strcmp(words[4], "clients") == 0) {
    run_clients(words + 1, number_of(words[5]), number_of(words[6]), number_of(words[7]));
  } else {
    bench_die("expected PLUGIN URL CONNINFO calls ROUNDS, or … clients COUNT MS ROUNDS");
  }
  return 0;
}
