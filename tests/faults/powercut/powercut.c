/* SPDX-License-Identifier: MIT
 *
 * powercut/powercut.c: the power fails at any moment, and the disk keeps what was synced and any
 * part of the rest; no promise may be broken. The test traces a workload, makes images (disk.h),
 * and inspects each (inspect.h). It must find broken promises on a control, a disk whose fdatasync
 * does nothing. In the part `sectors`, sectors that were being written are also torn or unreadable
 * (spoil.h).
 *
 * An image is named by its number: the same seed, trace and number give the same image. A failing
 * trace is kept in a file, so that
 * `--trace FILE --only N` shows image N again.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/arguments.h"
#include "kit/folder.h"
#include "kit/rig.h"
#include "powercut/disk.h"
#include "powercut/inspect.h"
#include "powercut/spoil.h"
#include "powercut/workload.h"

enum { BATCH = 200, BATCH_SECONDS = 600, KEPT_IMAGES = 3, SHOWN_FAILURES = 20, SECTORS_SHARE = 20 };

struct image {
  size_t cut;
  uint64_t number;
};

/* Shared by all processes of a run. */
struct board {
  _Atomic(uint64_t) failed, crashed, finished, kept, spoilt, refused;
};

/* The sums of one process's runs. */
struct sum {
  uint64_t images, failed, spoilt, refused, controls, caught;
};

struct run {
  const struct arguments *arguments;
  const struct trace *trace;
  enum disk_honesty honesty;
  char folder[FOLDER_PATH_MAX];
  char label[32];
  struct image *images;
  size_t image_count;
  struct board *board;
};

/* The report of a batch's process to its parent. */
struct progress {
  _Atomic(size_t) next; /* the image under inspection */
};

static void *shared(size_t length) {
  void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) die("no shared memory");
  return memory;
}

/* About every eighth cut is while the store is made, because that takes little time, and must also
 * survive a cut. */
static size_t cut_of(const struct trace *trace, struct random *random) {
  if (trace->opened > 0 && random_chance(random, 12))
    return random_below(random, trace->opened + 1);
  return random_below(random, trace->count + 1);
}

static void make_image(const struct run *run, struct disk *disk, const struct image *image,
                       const char *root, struct random *ret_random) {
  *ret_random = random_seeded(run->arguments->seed, image->number);
  cut_of(run->trace, ret_random);
  disk_advance(disk, image->cut);
  folder_remove(root);
  if (mkdir(root, 0700) != 0) die("%s cannot be made", root);
  disk_image(disk, ret_random, root);
}

static bool is_control(const struct run *run) { return run->honesty == DISK_IGNORES_FDATASYNC; }

static void report(const struct run *run, const struct image *image, const char *why) {
  uint64_t before = atomic_fetch_add(&run->board->failed, 1);
  if (is_control(run) || before >= SHOWN_FAILURES) return;
  fail("%s: image %" PRIu64 " (cut after event %zu of %zu): %s", run->label, image->number,
       image->cut, run->trace->count, why);
}

/* If the power failed in the first moments, even the folder of the store may be missing. */
static void make_parent(const char *root) {
  char parent[FOLDER_PATH_MAX];
  folder_join(parent, root, "state");
  mkdir(parent, 0700);
}

/* Spoils sectors of the image at `root`, and inspects it with them. */
static bool inspect_with_spoilt(const struct run *run, struct disk *disk, struct rig *rig,
                                const char *root, size_t cut, struct random random, char *why) {
  char store[FOLDER_PATH_MAX], data[FOLDER_PATH_MAX], saved[FOLDER_PATH_MAX];
  struct unreadable unreadable;
  bool refused = false;
  workload_store_path(root, store);
  folder_join(data, store, "data.mdb");
  folder_join(saved, root, "salvaged");
  size_t count = spoil(disk, &random, data, &unreadable);
  if (count == 0) return true;
  unreadable_arm(data, &unreadable);
  bool good = inspect_spoilt(rig, store, saved, run->trace, cut, random, &refused, why);
  unreadable_arm(data, &(struct unreadable){.count = 0});
  atomic_fetch_add(&run->board->spoilt, 1);
  atomic_fetch_add(&run->board->refused, refused);
  return good;
}

static _Noreturn void batch_main(const struct run *run, struct disk *disk, size_t first,
                                 size_t last, unsigned worker, struct progress *progress) {
  char root[FOLDER_PATH_MAX], name[32], store[FOLDER_PATH_MAX], why[512];
  struct rig *rig = calloc(1, sizeof *rig);
  if (!rig) die("out of memory");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(BATCH_SECONDS);
  if (is_control(run)) expect_death();
  /* An hour after the workload, so that ids are still remembered. */
  rig->virtual_time = true;
  rig->random = random_seeded(run->arguments->seed, first);
  atomic_store(&rig->virtual_ms, RIG_VIRTUAL_START_MS + 3600000);
  rig_load(rig, run->arguments->plugin);
  snprintf(name, sizeof name, "image-%u", worker);
  folder_join(root, run->folder, name);
  workload_store_path(root, store);
  for (size_t i = first; i < last; i++) {
    struct random random;
    atomic_store(&progress->next, i);
    make_image(run, disk, &run->images[i], root, &random);
    make_parent(root);
    size_t cut = run->images[i].cut;
    bool good = run->honesty == DISK_SPOILS
                    ? inspect_with_spoilt(run, disk, rig, root, cut, random, why)
                    : inspect(rig, store, run->trace, cut, random, why);
    if (!good) report(run, &run->images[i], why);
    atomic_fetch_add(&run->board->finished, 1);
  }
  atomic_store(&progress->next, last);
  folder_remove(root);
  fflush(NULL);
  _exit(0);
}

/* Makes the image again, as it was before the plugin opened it. */
static void keep_image(const struct run *run, const struct image *image) {
  char root[FOLDER_PATH_MAX], name[64];
  struct random random;
  if (is_control(run) || atomic_fetch_add(&run->board->kept, 1) >= KEPT_IMAGES) return;
  snprintf(name, sizeof name, "kept-%s-%" PRIu64, run->label, image->number);
  folder_join(root, run->folder, name);
  struct disk *disk = disk_new(run->trace, run->honesty);
  make_image(run, disk, image, root, &random);
  disk_free(disk);
  printf("kept: %s\n", root);
}

/* Runs a batch in a child. If the child dies, another one continues after that image. */
static void run_batch(const struct run *run, struct disk *disk, size_t first, size_t last,
                      unsigned worker, struct progress *progress) {
  while (first < last) {
    int status;
    disk_advance(disk, run->images[first].cut);
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) die("fork failed");
    if (child == 0) batch_main(run, disk, first, last, worker, progress);
    if (waitpid(child, &status, 0) != child) die("waitpid failed");
    if (status == 0) return;
    char why[64];
    size_t at = atomic_load(&progress->next);
    snprintf(why, sizeof why, WIFSIGNALED(status) ? "killed by signal %d" : "exited with %d",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    report(run, &run->images[at], why);
    atomic_fetch_add(&run->board->crashed, 1);
    keep_image(run, &run->images[at]);
    first = at + 1;
  }
}

static _Noreturn void worker_main(const struct run *run, unsigned worker) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  size_t share = run->image_count / run->arguments->workers + 1;
  size_t first = share * worker, end = first + share;
  if (end > run->image_count) end = run->image_count;
  struct disk *disk = disk_new(run->trace, run->honesty);
  struct progress *progress = shared(sizeof *progress);
  for (; first < end; first += BATCH)
    run_batch(run, disk, first, first + BATCH < end ? first + BATCH : end, worker, progress);
  disk_free(disk);
  fflush(NULL);
  _exit(0);
}

static int by_cut(const void *left, const void *right) {
  const struct image *a = left, *b = right;
  if (a->cut != b->cut) return a->cut < b->cut ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

static void choose_images(struct run *run, uint64_t count) {
  bool one = run->arguments->only != UINT64_MAX;
  run->image_count = one ? 1 : count;
  run->images = calloc(run->image_count + 1, sizeof run->images[0]);
  if (!run->images) die("out of memory");
  for (uint64_t i = 0; i < run->image_count; i++) {
    uint64_t number = one ? run->arguments->only : i;
    struct random random = random_seeded(run->arguments->seed, number);
    run->images[i] = (struct image){cut_of(run->trace, &random), number};
  }
  qsort(run->images, run->image_count, sizeof run->images[0], by_cut);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Returns how many images broke a promise. */
static uint64_t run_images(const struct arguments *arguments, const struct trace *trace,
                           enum disk_honesty honesty, const char *label, uint64_t count,
                           const char *folder, struct sum *sum) {
  struct run run = {.arguments = arguments,
                    .trace = trace,
                    .honesty = honesty,
                    .board = shared(sizeof *run.board)};
  double began = seconds();
  snprintf(run.label, sizeof run.label, "%s", label);
  snprintf(run.folder, sizeof run.folder, "%s", folder);
  choose_images(&run, count);
  fflush(NULL);
  for (unsigned worker = 0; worker < arguments->workers; worker++) {
    pid_t child = fork();
    if (child < 0) die("fork failed");
    if (child == 0) worker_main(&run, worker);
  }
  for (int status; wait(&status) > 0;) {
    if (status != 0) die("%s: a worker ended with status 0x%x", label, (unsigned)status);
  }
  uint64_t failed = atomic_load(&run.board->failed), crashed = atomic_load(&run.board->crashed);
  printf("%s: %zu images of %zu events (%.1f MB written), %" PRIu64 " broke a promise, %" PRIu64
         " of them killed the process; %.1f s\n",
         label, run.image_count, trace->count, (double)trace->bytes / 1e6, failed, crashed,
         seconds() - began);
  if (is_control(&run)) {
    sum->controls += run.image_count;
    sum->caught += failed;
  } else {
    sum->images += run.image_count;
    sum->failed += failed;
    sum->spoilt += atomic_load(&run.board->spoilt);
    sum->refused += atomic_load(&run.board->refused);
  }
  if (!is_control(&run) && failed) {
    char saved[FOLDER_PATH_MAX];
    folder_join(saved, folder, "trace");
    trace_save(trace, saved);
    printf("again: --seed %" PRIu64 " --trace %s --only NUMBER\n", arguments->seed, saved);
  }
  free(run.images);
  munmap(run.board, sizeof *run.board);
  return failed;
}

static void run_workload(const struct arguments *arguments, enum workload_kind kind,
                         enum disk_honesty honesty, const char *label, uint64_t count,
                         const char *folder, struct sum *sum) {
  char root[FOLDER_PATH_MAX], control[40];
  folder_join(root, folder, label);
  if (mkdir(root, 0700) != 0) die("%s cannot be made", root);
  struct trace *trace = workload_run(kind, arguments->plugin, arguments->seed, root);
  (void)run_images(arguments, trace, honesty, label, count, folder, sum);
  if (arguments->only == UINT64_MAX) {
    /* A few images nearly always show the fault; if they do not, more are tried. */
    uint64_t caught = 0, tried = count / 40 + 10;
    snprintf(control, sizeof control, "%s control", label);
    for (unsigned times = 0; caught == 0 && times < 4; times++, tried *= 8)
      caught = run_images(arguments, trace, DISK_IGNORES_FDATASYNC, control, tried, folder, sum);
    if (caught == 0)
      fail("%s: a disk that ignores fdatasync was not caught: this test sees nothing", label);
  }
  trace_free(trace);
}

static void print_sum(const struct arguments *arguments, const struct sum *sum) {
  bool sectors = arguments->part && strcmp(arguments->part, "sectors") == 0;
  result(arguments, sectors ? "sectors" : "powercut", sectors ? sum->spoilt : sum->images,
         sum->failed,
         "\"spoilt\":%" PRIu64 ",\"refused\":%" PRIu64 ",\"controls\":%" PRIu64
         ",\"controls_caught\":%" PRIu64,
         sum->spoilt, sum->refused, sum->controls, sum->caught);
}

int main(int argc, char **argv) {
  struct arguments arguments = {.count = 20000, .seed = 1};
  char folder[FOLDER_PATH_MAX];
  arguments_read(&arguments, argc, argv);
  folder_make(arguments.scratch, "powercut", folder);
  struct sum sum = {0};
  if (arguments.trace) {
    struct trace *trace = trace_load(arguments.trace);
    bool sectors = arguments.part && strcmp(arguments.part, "sectors") == 0;
    (void)run_images(&arguments, trace, sectors ? DISK_SPOILS : DISK_HONEST, "trace",
                     arguments.count, folder, &sum);
  } else {
    uint64_t count = arguments.count;
    bool cuts = arguments.part && strcmp(arguments.part, "cuts") == 0; /* all but `sectors` */
    if (cuts || arguments_part(&arguments, "serial"))
      run_workload(&arguments, WORKLOAD_SERIAL, DISK_HONEST, "serial", count * 3 / 5, folder, &sum);
    if (cuts || arguments_part(&arguments, "threads"))
      run_workload(&arguments, WORKLOAD_THREADS, DISK_HONEST, "threads", count * 2 / 5, folder,
                   &sum);
    if (arguments_part(&arguments, "sectors"))
      run_workload(&arguments, WORKLOAD_SERIAL, DISK_SPOILS, "sectors",
                   arguments.part ? count : count / SECTORS_SHARE, folder, &sum);
  }
  print_sum(&arguments, &sum);
  if (sum.failed == 0) folder_remove(folder);
  return sum.failed == 0 && failures() == 0 ? 0 : 1;
}
