/* SPDX-License-Identifier: MIT
 */
#include "stops/well.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/arguments.h"

enum { TRIES = 10, PATIENCE_MS = 60000, SLICES = BUDGET_MS / 10 };

static struct worker worker_of(const struct well *well, enum role role) {
  return (struct worker){.rig = well->rig,
                         .board = well->board,
                         .store = well->store,
                         .role = role,
                         .has_total = role == ROLE_NEWCOMER && well->newcomer_has_total};
}

/* Waits for a byte of the child, or for its death, which closes the descriptor. False: neither
 * comes in time. */
static bool wait_for_byte(const struct well *well, int fd, int *ret_byte) {
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  char byte = 0;
  int got;
  while ((got = poll(&ready, 1, well->patience_ms)) < 0 && errno == EINTR) {}
  if (got <= 0) return false;
  *ret_byte = read(fd, &byte, 1) == 1 ? byte : -1;
  return true;
}

static pid_t start(const struct well *well, void (*body)(struct worker *, int, int), enum role role,
                   int *ret_orders, int *ret_answers) {
  int orders[2], answers[2];
  unsigned before = failures();
  if (pipe(orders) || pipe(answers)) die("pipe: %s", strerror(errno));
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) die("fork: %s", strerror(errno));
  if (child == 0) {
    struct worker worker = worker_of(well, role);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(orders[1]);
    close(answers[0]);
    body(&worker, orders[0], answers[1]);
    _exit(failures() != before);
  }
  close(orders[0]);
  close(answers[1]);
  *ret_orders = orders[1];
  *ret_answers = answers[0];
  return child;
}

static void finish(const struct well *well, pid_t child, int orders, int answers,
                   const char *what) {
  int status, byte;
  close(orders);
  while (wait_for_byte(well, answers, &byte) && byte >= 0) {}
  close(answers);
  if (waitpid(child, &status, 0) != child) die("waitpid: %s", strerror(errno));
  if (status) fail("%s ended with status 0x%x", what, (unsigned)status);
}

/* -- their lives ------------------------------------------------------------------------------- */

static void newcomer_main(struct worker *worker, int orders, int answers) {
  (void)orders, (void)answers;
  worker_open(worker);
  worker_work(worker);
  worker_close(worker);
}

static void resident_main(struct worker *worker, int orders, int answers) {
  char byte;
  worker_open(worker);
  if (!worker->rig->plugin) die("the resident could not open the store");
  do {
    worker_work(worker);
    if (write(answers, "", 1) != 1) die("a pipe broke");
  } while (read(orders, &byte, 1) == 1);
  worker_close(worker);
}

static void drain_main(struct worker *worker, int orders, int answers) {
  struct tidings_error error = RIG_ERROR;
  const struct rig_open options = {.store = worker->store, .hook_budget_ms = PATIENCE_MS};
  (void)orders, (void)answers;
  int32_t code = rig_open(worker->rig, &options, &error);
  if (code) die("afterwards, open: %s", rig_why(code, &error));
  if (worker->role == ROLE_RESIDENT) {
    worker_drain(worker, ROLE_RESIDENT);
  } else {
    worker_drain(worker, ROLE_VICTIM);
    worker_drain(worker, ROLE_NEWCOMER);
  }
  code = rig_close(worker->rig, &error);
  if (code) die("afterwards, close: %s", rig_why(code, &error));
}

static void drain(struct well *well, enum role role) {
  int orders, answers;
  pid_t child = start(well, drain_main, role, &orders, &answers);
  finish(well, child, orders, answers, "the process that looks for what was lost");
}

/* -- the time that they take ------------------------------------------------------------------- */

static const char *const names[CALL_KINDS] = {"open", "push", "hook", "settle", "close"};

struct lateness {
  const char *what; /* NULL: nothing was late */
  int64_t ns;       /* how long it took, without waiting for a processor */
};

/* Returns how late a newcomer was whose calls have one budget together. */
static struct lateness together(struct well *well, enum role role, int64_t ns, int64_t itself_ns) {
  if (role != ROLE_NEWCOMER || !well->newcomer_has_total) return (struct lateness){.what = NULL};
  if (ns > well->worst_life_ns) well->worst_life_ns = ns;
  if (ns <= LATE_MS * INT64_C(1000000)) return (struct lateness){.what = NULL};
  well->late_lives++;
  return (struct lateness){.what = "all calls together", .ns = itself_ns};
}

/* Returns how late the first late call was, or all calls together. */
static struct lateness count(struct well *well, enum role role) {
  struct lateness late = {.what = NULL};
  int64_t sum_ns = 0, sum_itself_ns = 0;
  for (enum call_kind kind = CALL_OPEN; kind < CALL_KINDS; kind++) {
    const struct call_note *note = &well->board->calls[role].at[kind];
    if (!note->made) continue;
    well->totals[kind].made++;
    well->totals[kind].busy += note->code == TIDINGS_E_BUSY;
    sum_ns += note->ns;
    if (note->ns > well->totals[kind].worst_ns) well->totals[kind].worst_ns = note->ns;
    int64_t itself_ns = note->ns - note->waited_ns;
    sum_itself_ns += itself_ns;
    if (itself_ns > well->totals[kind].worst_itself_ns)
      well->totals[kind].worst_itself_ns = itself_ns;
    if (note->ns <= LATE_MS * INT64_C(1000000)) continue;
    well->totals[kind].late++;
    well->totals[kind].late_itself += itself_ns > LATE_MS * INT64_C(1000000);
    if (!late.what || itself_ns > late.ns)
      late = (struct lateness){.what = names[kind], .ns = itself_ns};
  }
  return late.what ? late : together(well, role, sum_ns, sum_itself_ns);
}

static void hangs(pid_t child, const char *what) {
  fail("%s hangs", what);
  kill(child, SIGKILL);
}

static void run_newcomer(struct well *well) {
  int orders, answers, byte;
  pid_t child = start(well, newcomer_main, ROLE_NEWCOMER, &orders, &answers);
  if (wait_for_byte(well, answers, &byte)) {
    finish(well, child, orders, answers, "a newcomer");
    return;
  }
  hangs(child, "a newcomer");
  (void)waitpid(child, NULL, 0);
  close(orders);
  close(answers);
}

static void run_resident(struct well *well) {
  int byte = -1;
  well->board->calls[ROLE_RESIDENT] = (struct calls){0};
  if (write(well->resident.orders, "", 1) != 1) die("the resident is dead");
  if (!wait_for_byte(well, well->resident.answers, &byte)) {
    hangs(well->resident.child, "the resident");
    die("it goes on no further");
  }
  if (byte < 0) die("the resident died");
}

/* Measures how much longer than its budget a wait takes now, because other processes use the
 * processors. */
static int64_t noise_ns(void) {
  const struct timespec slice = {.tv_nsec = 10000000};
  struct timespec began, ended;
  clock_gettime(CLOCK_MONOTONIC, &began);
  for (int i = 0; i < SLICES; i++) (void)nanosleep(&slice, NULL);
  clock_gettime(CLOCK_MONOTONIC, &ended);
  int64_t took =
      (ended.tv_sec - began.tv_sec) * INT64_C(1000000000) + ended.tv_nsec - began.tv_nsec;
  return took - SLICES * slice.tv_nsec;
}

static void measure(struct well *well, enum role role, void (*run)(struct well *),
                    const char *what) {
  struct lateness late = {.what = NULL};
  unsigned before = failures();
  for (int i = 0; i < TRIES; i++) {
    run(well);
    late = count(well, role);
    if (!late.what || failures() != before) return;
    int64_t limit = LATE_MS * INT64_C(1000000) + noise_ns();
    if (late.ns <= limit) return;
  }
  fail("%s of %s took %.1f ms, and was late %d times: the budget is %d ms", late.what, what,
       (double)late.ns / 1e6, (int)TRIES, (int)BUDGET_MS);
}

void well_measure(struct well *well) {
  well->newcomer_has_total = !well->newcomer_has_total;
  measure(well, ROLE_NEWCOMER, run_newcomer, "a newcomer");
  if (well->resident.child) measure(well, ROLE_RESIDENT, run_resident, "the resident");
}

/* -- the resident, and the end ----------------------------------------------------------------- */

void well_start_resident(struct well *well) {
  int byte = -1;
  well->resident.child =
      start(well, resident_main, ROLE_RESIDENT, &well->resident.orders, &well->resident.answers);
  if (!wait_for_byte(well, well->resident.answers, &byte) || byte < 0) die("the resident died");
}

void well_end_resident(struct well *well) {
  finish(well, well->resident.child, well->resident.orders, well->resident.answers, "the resident");
  well->resident.child = 0;
  drain(well, ROLE_RESIDENT);
}

void well_drain(struct well *well) { drain(well, ROLE_VICTIM); }

void well_print(const struct well *well) {
  for (enum call_kind kind = CALL_OPEN; kind < CALL_KINDS; kind++)
    printf(
        "%-6s: %" PRIu64 " calls, %" PRIu64 " BUSY, longest %.1f ms (%.1f without the wait for a "
        "processor), %" PRIu64 " over %d ms (%" PRIu64 ")\n",
        names[kind], well->totals[kind].made, well->totals[kind].busy,
        (double)well->totals[kind].worst_ns / 1e6, (double)well->totals[kind].worst_itself_ns / 1e6,
        well->totals[kind].late, (int)LATE_MS, well->totals[kind].late_itself);
  printf("all calls with one budget: longest %.1f ms, %" PRIu64 " over %d ms\n",
         (double)well->worst_life_ns / 1e6, well->late_lives, (int)LATE_MS);
}

int64_t well_longest_ms(const struct well *well) {
  int64_t longest = well->worst_life_ns;
  for (enum call_kind kind = CALL_OPEN; kind < CALL_KINDS; kind++)
    if (well->totals[kind].worst_ns > longest) longest = well->totals[kind].worst_ns;
  return longest / 1000000;
}
