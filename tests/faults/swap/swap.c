/* SPDX-License-Identifier: MIT
 *
 * swap/swap.c: hot swaps under load, through hostkit. While threads push, deliver and
 * settle and another process pushes, the plugin is swapped repeatedly. No call fails, nothing is
 * lost or delivered twice, leases from before a swap are settled after it, and no image, descriptor
 * or memory is left behind.
 */
#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tidings/hostkit.h>

#include "kit/arguments.h"
#include "kit/folder.h"
#include "kit/rig.h"

enum {
  SEED_IF_NONE = 7,
  PUSHERS = 2,
  DELIVERERS = 2,
  SESSIONS = 4,
  TOKENS = 4 << 20,
  HELD_MAX = 3,
  PATIENCE_MS = 60000,
  MOST_MS = 300000,
  WARMED_UP = 5
};

/* Shared with the process that pushes from outside. */
struct ledger {
  atomic_bool stop_pushing, drain;
  _Atomic(uint64_t) next_token, calls;
  _Atomic(uint64_t)
      across; /* across: leases that another image settled than the one that handed them out */
  _Atomic(uint8_t) acknowledged[TOKENS], carried[TOKENS];
};

struct load {
  uint64_t seed;
  struct hostkit *hostkit;
  struct ledger *ledger;
};

struct thread {
  struct load *load;
  unsigned number;
  pthread_t id;
};

struct held {
  uint64_t delivery;
  uint32_t generation;
  struct tokens tokens;
};

static struct tidings_span session_span(unsigned number, char name[8]) {
  int length = snprintf(name, 8, "s%u", number);
  return (struct tidings_span){name, (size_t)length};
}

static uint32_t generation(struct hostkit *hostkit) {
  struct hostkit_info info = {.size = sizeof info};
  if (hostkit_info(hostkit, &info) != 0) die("hostkit_info fails");
  return info.generation;
}

static void expect_ok(int32_t code, const struct tidings_error *error, const char *what) {
  if (code != 0) fail("%s during the swaps: %s", what, rig_why(code, error));
}

static void *pusher_main(void *context) {
  struct thread *thread = context;
  struct ledger *ledger = thread->load->ledger;
  while (!atomic_load(&ledger->stop_pushing)) {
    char event[RIG_EVENT_MAX], name[8];
    struct tidings_error error = RIG_ERROR;
    struct tidings_reply *reply = NULL;
    uint64_t token = atomic_fetch_add(&ledger->next_token, 1);
    if (token >= TOKENS) die("the ledger is full");
    session_span((unsigned)(token % SESSIONS), name);
    size_t length = rig_push_event(event, name, token, token % 2);
    int32_t code =
        hostkit_event(thread->load->hostkit, &(struct tidings_span){event, length}, &reply, &error);
    if (code == TIDINGS_E_FULL) usleep(1000);
    else expect_ok(code, &error, "a push");
    if (code == 0) atomic_store(&ledger->acknowledged[token], 1);
    hostkit_reply_free(reply);
    atomic_fetch_add(&ledger->calls, 1);
  }
  return NULL;
}

static void settle(struct load *load, struct held *held, uint32_t outcome) {
  struct tidings_error error = RIG_ERROR;
  int32_t code = hostkit_settle(load->hostkit, held->delivery, outcome, NULL, &error);
  expect_ok(code, &error, "a settle");
  if (generation(load->hostkit) != held->generation) atomic_fetch_add(&load->ledger->across, 1);
  for (size_t i = 0; outcome == TIDINGS_COMMITTED && i < held->tokens.count; i++)
    atomic_fetch_add(&load->ledger->carried[held->tokens.at[i]], 1);
  tokens_free(&held->tokens);
  atomic_fetch_add(&load->ledger->calls, 1);
}

static bool deliver(struct load *load, unsigned session, struct held *ret_held) {
  struct tidings_error error = RIG_ERROR;
  struct tidings_reply *reply = NULL;
  char name[8];
  struct tidings_tool_result result = {.size = sizeof result,
                                       .session = session_span(session, name)};
  *ret_held = (struct held){.generation = generation(load->hostkit)};
  int32_t code = hostkit_tool_result(load->hostkit, &result, &reply, &error);
  expect_ok(code, &error, "a hook");
  atomic_fetch_add(&load->ledger->calls, 1);
  for (size_t i = 0; reply && i < reply->notification_count; i++) {
    uint64_t token;
    if (!token_parse(reply->notifications[i]->text, &token) || token >= TOKENS)
      fail("a notification that nobody pushed");
    else tokens_add(&ret_held->tokens, token);
  }
  ret_held->delivery = reply ? reply->delivery_id : 0;
  hostkit_reply_free(reply);
  return ret_held->delivery != 0;
}

/* Each deliverer has sessions of its own, and leaves some leases unsettled while it goes on. */
static void *deliverer_main(void *context) {
  struct thread *thread = context;
  struct load *load = thread->load;
  struct random random = random_seeded(load->seed, thread->number);
  struct held held[HELD_MAX];
  size_t count = 0;
  for (unsigned quiet = 0; quiet < 2 * SESSIONS;) {
    bool last = atomic_load(&load->ledger->drain);
    for (unsigned session = thread->number; session < SESSIONS; session += DELIVERERS) {
      while (count == HELD_MAX || (count && (last || random_chance(&random, 10)))) {
        settle(load, &held[--count],
               random_chance(&random, 10) ? TIDINGS_ROLLED_BACK : TIDINGS_COMMITTED);
      }
      bool something = deliver(load, session, &held[count]);
      count += something;
      quiet = last && !something && count == 0 ? quiet + 1 : 0;
    }
    usleep(500);
  }
  return NULL;
}

static _Noreturn void producer_main(const char *plugin, struct ledger *ledger, const char *store) {
  static struct rig rig;
  struct tidings_error error = RIG_ERROR;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  rig_load(&rig, plugin);
  const struct rig_open options = {
      .store = store, .role = TIDINGS_ROLE_PRODUCER, .hook_budget_ms = PATIENCE_MS};
  if (rig_open(&rig, &options, &error) != 0) die("the producer: %s", error.text);
  while (!atomic_load(&ledger->stop_pushing)) {
    char name[8];
    uint64_t token = atomic_fetch_add(&ledger->next_token, 1);
    if (token >= TOKENS) die("the ledger is full");
    session_span((unsigned)(token % SESSIONS), name);
    int32_t code = rig_push(&rig, name, token, false, NULL, &error);
    if (code == TIDINGS_E_FULL) usleep(1000);
    else if (code != 0) die("a push of the producer: %s", rig_why(code, &error));
    else atomic_store(&ledger->acknowledged[token], 1);
  }
  rig_unload(&rig);
  exit(0);
}

/* -- what is left behind ----------------------------------------------------------------------- */

static unsigned open_descriptors(void) {
  unsigned count = 0;
  DIR *folder = opendir("/proc/self/fd");
  if (!folder) die("/proc/self/fd");
  while (readdir(folder)) count++;
  closedir(folder);
  return count;
}

/* Counts the executable mappings of a plugin. The names of hostkit's private copies contain .so,
 * like those of libraries. */
static unsigned plugin_images(const char *folder) {
  char line[1024];
  unsigned count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  if (!maps) die("/proc/self/maps");
  while (fgets(line, sizeof line, maps)) count += strstr(line, " r-xp ") && strstr(line, folder);
  fclose(maps);
  return count;
}

static long resident_kib(void) {
  char line[128];
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || !fgets(line, sizeof line, file)) die("/proc/self/statm");
  (void)fclose(file);
  const char *resident = strchr(line, ' '); /* the second number, in pages */
  return resident ? strtol(resident, NULL, 10) * (sysconf(_SC_PAGESIZE) / 1024) : 0;
}

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Waits until some more calls were made, so that each swap meets running calls. */
static void let_it_run(const struct ledger *ledger) {
  uint64_t until = atomic_load(&ledger->calls) + 200;
  double give_up = milliseconds() + (double)PATIENCE_MS;
  while (atomic_load(&ledger->calls) < until) {
    if (milliseconds() > give_up) die("the load does not go on");
    usleep(500);
  }
}

/* Makes `count` swaps, and more until a lease has outlived a swap. */
static void swap_many(struct hostkit *hostkit, struct ledger *ledger, uint64_t count,
                      const char *copies) {
  double total = 0, longest = 0;
  long first_rss = 0, rss = 0;
  double give_up = milliseconds() + (double)MOST_MS;
  uint64_t done = 0;
  for (; done < count || (!atomic_load(&ledger->across) && milliseconds() < give_up); done++) {
    struct tidings_error error = RIG_ERROR;
    let_it_run(ledger);
    double began = milliseconds();
    int32_t code = hostkit_swap(hostkit, NULL, PATIENCE_MS, &error);
    double took = milliseconds() - began;
    if (code != 0) fail("swap %" PRIu64 ": %s", done, rig_why(code, &error));
    unsigned images = plugin_images(copies);
    if (images != 1) fail("after swap %" PRIu64 " %u images are mapped", done, images);
    total += took;
    if (took > longest) longest = took;
    rss = resident_kib();
    if (done == WARMED_UP) first_rss = rss;
  }
  printf("%" PRIu64 " swaps, mean %.1f ms, longest %.1f ms with the probe; resident %ld KiB after "
         "%d, %ld KiB in the end\n",
         done, total / (double)done, longest, first_rss, WARMED_UP, rss);
}

static void balance(const struct arguments *arguments, const struct ledger *ledger) {
  uint64_t tokens = atomic_load(&ledger->next_token), acknowledged = 0, lost = 0, twice = 0;
  for (uint64_t token = 1; token < tokens; token++) {
    unsigned carried = atomic_load(&ledger->carried[token]);
    bool known = atomic_load(&ledger->acknowledged[token]);
    acknowledged += known;
    lost += known && carried == 0;
    twice += carried > 1;
  }
  printf("acknowledged %" PRIu64 ", lost %" PRIu64 ", twice %" PRIu64
         ", leases settled after a swap %" PRIu64 ", calls %" PRIu64 "\n",
         acknowledged, lost, twice, atomic_load(&ledger->across), atomic_load(&ledger->calls));
  if (lost || twice) fail("the books do not balance");
  if (atomic_load(&ledger->across) == 0) fail("no lease was out across a swap");
  result(arguments, "swaps", arguments->count, failures(),
         "\"acknowledged\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"twice\":%" PRIu64, acknowledged, lost,
         twice);
}

static struct hostkit *open_hostkit(const struct arguments *arguments, const char *store,
                                    const char *copies) {
  struct tidings_error error = RIG_ERROR;
  struct hostkit *hostkit = NULL;
  struct hostkit_options options = {.size = sizeof options,
                                    .plugin_path = arguments->plugin,
                                    .store_dir = store,
                                    .copy_dir = copies,
                                    .hook_budget_ms = PATIENCE_MS};
  int32_t code = hostkit_open(&options, &hostkit, &error);
  if (code != 0) die("hostkit_open: %s", rig_why(code, &error));
  return hostkit;
}

int main(int argc, char **argv) {
  struct arguments arguments = {.count = 50, .seed = SEED_IF_NONE};
  char folder[FOLDER_PATH_MAX], store[FOLDER_PATH_MAX];
  struct tidings_error error = RIG_ERROR;
  int status;
  arguments_read(&arguments, argc, argv);
  folder_make(arguments.scratch, "swap", folder);
  folder_join(store, folder, "store");
  struct ledger *ledger = mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (ledger == MAP_FAILED) die("no shared memory");
  atomic_store(&ledger->next_token, 1);
  pid_t producer = fork();
  if (producer < 0) die("fork failed");
  if (producer == 0) producer_main(arguments.plugin, ledger, store);

  unsigned closed_descriptors = open_descriptors();
  struct load load = {arguments.seed, open_hostkit(&arguments, store, folder), ledger};
  unsigned descriptors = open_descriptors();
  struct thread threads[PUSHERS + DELIVERERS];
  for (unsigned i = 0; i < PUSHERS + DELIVERERS; i++) {
    threads[i] = (struct thread){.load = &load, .number = i < PUSHERS ? i : i - PUSHERS};
    if (pthread_create(&threads[i].id, NULL, i < PUSHERS ? pusher_main : deliverer_main,
                       &threads[i]) != 0)
      die("no thread");
  }
  swap_many(load.hostkit, ledger, arguments.count, folder);
  atomic_store(&ledger->stop_pushing, true);
  for (unsigned i = 0; i < PUSHERS; i++) pthread_join(threads[i].id, NULL);
  if (waitpid(producer, &status, 0) != producer || status != 0)
    fail("the producer ended with status 0x%x", (unsigned)status);
  atomic_store(&ledger->drain, true);
  for (unsigned i = PUSHERS; i < PUSHERS + DELIVERERS; i++) pthread_join(threads[i].id, NULL);

  if (open_descriptors() != descriptors)
    fail("%u descriptors before the swaps, %u after", descriptors, open_descriptors());
  int32_t code = hostkit_close(load.hostkit, PATIENCE_MS, &error);
  if (code != 0) fail("hostkit_close: %s", rig_why(code, &error));
  if (open_descriptors() != closed_descriptors)
    fail("%u descriptors before open, %u after close", closed_descriptors, open_descriptors());
  if (plugin_images(folder) != 0) fail("the image is still mapped after close");
  balance(&arguments, ledger);
  if (failures() == 0) folder_remove(folder);
  else printf("kept: %s\n", folder);
  return failures() == 0 ? 0 : 1;
}
