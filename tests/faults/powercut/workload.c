/* SPDX-License-Identifier: MIT
 */
#include "powercut/workload.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/arguments.h"
#include "kit/folder.h"
#include "kit/rig.h"
#include "powercut/disk.h"
#include "powercut/lanes.h"
#include "powercut/tracer.h"

enum { STEPS = 400, PUSHERS = 4, PUSHES_EACH = 60, OUTSTANDING_MAX = 16 };

struct lease {
  uint64_t delivery;
  unsigned session;
};

struct workload {
  struct rig rig;
  struct random random;
  struct rig_open open;
  uint64_t next_token;
  struct lease leases[OUTSTANDING_MAX];
  size_t lease_count;
  struct lane lanes[WORKLOAD_LANES];
};

void workload_store_path(const char *root, char *path) { folder_join(path, root, "state/tidings"); }

void workload_session(unsigned i, char name[8]) {
  snprintf(name, 8, "%c%u", i < WORKLOAD_SESSIONS ? 's' : 't', i);
}

static void must(int32_t code, const struct tidings_error *error, const char *what) {
  if (code != 0) die("workload: %s: %s", what, rig_why(code, error));
}

static void push(struct workload *work, uint64_t token, struct random *random) {
  struct tidings_error error = RIG_ERROR;
  char session[8];
  unsigned number = (unsigned)random_below(random, WORKLOAD_SESSIONS);
  workload_session(number, session);
  bool identified = random_chance(random, 50);
  tracer_mark_push(token, number, identified);
  must(rig_push(&work->rig, session, token, identified, NULL, &error), &error, "push");
  tracer_mark(MARK_PUSHED, token, number, NULL, 0);
}

static void deliver(struct workload *work) {
  struct tidings_error error = RIG_ERROR;
  struct carried carried = {0};
  char session[8];
  unsigned number = (unsigned)random_below(&work->random, WORKLOAD_SESSIONS);
  if (work->lease_count == OUTSTANDING_MAX) return;
  workload_session(number, session);
  enum rig_hook hook = random_chance(&work->random, 70) ? RIG_TOOL_RESULT : RIG_CHAT_REQUEST;
  must(rig_deliver(&work->rig, session, hook, &carried, &error), &error, "deliver");
  if (carried.damaged) die("workload: a notification that nobody pushed: %s", carried.sample);
  if (carried.delivery) {
    tracer_mark(MARK_LEASED, carried.delivery, number, carried.tokens.at, carried.tokens.count);
    work->leases[work->lease_count++] = (struct lease){carried.delivery, number};
  }
  carried_clear(&carried);
}

static void settle(struct workload *work) {
  struct tidings_error error = RIG_ERROR;
  if (work->lease_count == 0) return;
  size_t i = random_below(&work->random, work->lease_count);
  uint64_t delivery = work->leases[i].delivery;
  unsigned session = work->leases[i].session;
  uint32_t outcome = random_chance(&work->random, 70) ? TIDINGS_COMMITTED : TIDINGS_ROLLED_BACK;
  work->leases[i] = work->leases[--work->lease_count];
  tracer_mark(MARK_SETTLE, delivery, outcome, NULL, 0);
  struct heard heard = {0};
  must(turns_settle(&work->rig, delivery, outcome, &heard, &error), &error, "settle");
  tracer_mark(MARK_SETTLED, delivery, outcome, NULL, 0);
  if (session >= WORKLOAD_SESSIONS) lane_hears(&work->lanes[session - WORKLOAD_SESSIONS], &heard);
  heard_clear(&heard);
}

static void turn(struct workload *work) {
  unsigned number = (unsigned)random_below(&work->random, WORKLOAD_LANES);
  struct lane *lane = &work->lanes[number];
  bool used;
  if (work->lease_count == OUTSTANDING_MAX) return;
  uint64_t delivery = lane_step(lane, &work->rig, &work->random, work->next_token, &used);
  if (delivery) work->leases[work->lease_count++] = (struct lease){delivery, lane->number};
  work->next_token += used;
}

static void open_store(struct workload *work) {
  struct tidings_error error = RIG_ERROR;
  must(rig_open(&work->rig, &work->open, &error), &error, "open");
}

static void run_serial(struct workload *work) {
  for (int step = 0; step < STEPS; step++) {
    uint64_t dice = random_below(&work->random, 100);
    if (dice < 42) push(work, work->next_token++, &work->random);
    else if (dice < 56) deliver(work);
    else if (dice < 72) settle(work);
    else if (dice < 98) turn(work);
    else {
      struct tidings_error error = RIG_ERROR;
      must(rig_close(&work->rig, &error), &error, "close");
      open_store(work);
    }
  }
}

struct pusher {
  struct workload *work;
  uint64_t first, seed;
  pthread_t thread;
};

static void *pusher_main(void *context) {
  struct pusher *pusher = context;
  struct random random = random_seeded(pusher->seed, pusher->first);
  for (uint64_t i = 0; i < PUSHES_EACH; i++) push(pusher->work, pusher->first + i, &random);
  return NULL;
}

static void run_threads(struct workload *work, uint64_t seed) {
  struct pusher pushers[PUSHERS];
  for (uint64_t i = 0; i < PUSHERS; i++) {
    pushers[i] = (struct pusher){.work = work, .first = 1 + i * PUSHES_EACH, .seed = seed};
    if (pthread_create(&pushers[i].thread, NULL, pusher_main, &pushers[i]) != 0) die("no thread");
  }
  for (int step = 0; step < 80; step++) {
    uint64_t dice = random_below(&work->random, 100);
    if (dice < 40) deliver(work);
    else if (dice < 70) settle(work);
    else turn(work);
  }
  for (uint64_t i = 0; i < PUSHERS; i++) pthread_join(pushers[i].thread, NULL);
}

/* Makes the store's folder durable, as if it were old. */
static void make_durable_parent(const char *root, const char *parent) {
  int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || mkdir(parent, 0700) != 0 || fsync(fd) != 0) die("%s cannot be made", parent);
  close(fd);
}

static _Noreturn void workload_main(enum workload_kind kind, const char *plugin, uint64_t seed,
                                    const char *root, struct trace *trace) {
  char store[FOLDER_PATH_MAX], parent[FOLDER_PATH_MAX];
  struct workload *work = calloc(1, sizeof *work);
  if (!work) die("out of memory");
  work->random = random_seeded(seed, 1);
  work->rig.virtual_time = true;
  work->rig.random = random_seeded(seed, 2);
  work->next_token = kind == WORKLOAD_SERIAL ? 1 : 1 + PUSHERS * PUSHES_EACH;
  for (unsigned i = 0; i < WORKLOAD_LANES; i++) {
    work->lanes[i].number = WORKLOAD_SESSIONS + i;
    workload_session(work->lanes[i].number, work->lanes[i].session);
  }
  workload_store_path(root, store);
  work->open = (struct rig_open){.store = store};
  rig_load(&work->rig, plugin);
  tracer_start(trace, root);
  folder_join(parent, root, "state");
  make_durable_parent(root, parent);
  open_store(work);
  tracer_opened();
  if (kind == WORKLOAD_SERIAL) run_serial(work);
  else run_threads(work, seed);
  tracer_stop(); /* no orderly close, because the power fails while everything runs */
  fflush(NULL);
  _exit(0);
}

/* Checks that both folders have the same files with the same bytes. */
static void compare(const char *real, const char *model) {
  DIR *folder = opendir(real);
  if (!folder) die("%s cannot be read", real);
  for (struct dirent *entry; (entry = readdir(folder));) {
    char left[FOLDER_PATH_MAX], right[FOLDER_PATH_MAX];
    struct stat status;
    if (entry->d_name[0] == '.' && (!entry->d_name[1] || !strcmp(entry->d_name, ".."))) continue;
    folder_join(left, real, entry->d_name);
    folder_join(right, model, entry->d_name);
    if (lstat(left, &status) != 0) die("%s vanished", left);
    if (S_ISDIR(status.st_mode)) compare(left, right);
    if (!S_ISREG(status.st_mode)) continue;
    size_t left_length, right_length;
    if (access(right, R_OK) != 0) die("the trace has no %s", left);
    uint8_t *left_bytes = file_read(left, &left_length),
            *right_bytes = file_read(right, &right_length);
    if (left_length != right_length)
      die("%s has %zu bytes, after the trace %zu", left, left_length, right_length);
    for (size_t i = 0; i < left_length; i++) {
      if (left_bytes[i] != right_bytes[i]) die("%s differs from its trace at byte %zu", left, i);
    }
    free(left_bytes);
    free(right_bytes);
  }
  closedir(folder);
}

static void check_trace(const struct trace *trace, const char *root) {
  char model[FOLDER_PATH_MAX + 8];
  snprintf(model, sizeof model, "%s.model", root);
  struct disk *disk = disk_new(trace, DISK_HONEST);
  if (mkdir(model, 0700) != 0) die("%s cannot be made", model);
  disk_advance(disk, trace->count);
  disk_image_whole(disk, model);
  compare(root, model);
  disk_free(disk);
  folder_remove(model);
}

struct trace *workload_run(enum workload_kind kind, const char *plugin, uint64_t seed,
                           const char *root) {
  struct trace *trace = trace_new();
  int status;
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) die("fork failed");
  if (child == 0) workload_main(kind, plugin, seed, root, trace);
  if (waitpid(child, &status, 0) != child || status != 0)
    die("the workload ended with status 0x%x", (unsigned)status);
  check_trace(trace, root);
  return trace;
}
