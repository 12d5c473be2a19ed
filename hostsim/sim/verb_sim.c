/* SPDX-License-Identifier: MIT
 *
 * sim/verb_sim.c: `hostsim sim`: random schedules against a model. This process starts the one that
 * plays. If that dies with the plugin, this one prints which schedule it played, and has it played
 * again with the host in a separate process.
 */
#include "sim/sim.h"

#include "command/interrupt.h"
#include "command/paths.h"
#include "common/folder.h"
#include "host/place.h"
#include "host/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 500 };

/* -- the command line -------------------------------------------------------------------------- */

enum {
  OPTION_PLUGIN = CLI_LONG_ONLY,
  OPTION_SEED,
  OPTION_STEPS,
  OPTION_FIRST,
  OPTION_SCHEDULES,
  OPTION_SCHEDULE,
  OPTION_SAVE,
  OPTION_SHRINK,
  OPTION_NO_SHRINK,
  OPTION_FAILURES,
  OPTION_SEPARATE,
  OPTION_STORY,
  OPTION_TIMEOUT,
  OPTION_STORE,
  OPTION_VERBOSE
};

static const struct cli_option options_of_sim[] = {
    {.key = OPTION_PLUGIN,
     .name = "plugin",
     .argument = "PATH",
     .completion = COMPLETE_FILE,
     .help = "The plugin. Default: tidings.so beside hostsim, else the installed one."},
    {.key = OPTION_SEED,
     .name = "seed",
     .argument = "N",
     .help = "The seed (default 1); the same seed plays the same schedules."},
    {.key = OPTION_STEPS,
     .name = "steps",
     .argument = "M",
     .help = "Play at least this many steps (default 100000)."},
    {.key = OPTION_FIRST,
     .name = "first",
     .argument = "K",
     .help = "Start with the K-th schedule of the seed (default 0)."},
    {.key = OPTION_SCHEDULES,
     .name = "schedules",
     .argument = "N",
     .help = "Play N schedules, however many steps they have."},
    {.key = OPTION_SCHEDULE,
     .name = "schedule",
     .argument = "FILE",
     .completion = COMPLETE_FILE,
     .help = "Play the schedule in FILE: 8 bytes, and 8 for each step."},
    {.key = OPTION_SAVE,
     .name = "save",
     .argument = "FILE",
     .completion = COMPLETE_FILE,
     .help = "Write the schedule that differs, after shrinking."},
    {.key = OPTION_SHRINK,
     .name = "shrink",
     .help = "Shrink the schedule of --schedule too; random ones always are."},
    {.key = OPTION_NO_SHRINK, .name = "no-shrink", .help = "Do not shrink."},
    {.key = OPTION_FAILURES,
     .name = "failures",
     .argument = "N",
     .help = "Stop after N schedules that differ (default 1)."},
    {.key = OPTION_SEPARATE,
     .name = "separate",
     .help = "Run the host in its own process in all schedules (slower), not only in "
             "a few."},
    {.key = OPTION_STORY, .name = "story", .help = "Print every step in words."},
    {.key = OPTION_TIMEOUT,
     .name = "timeout",
     .argument = "MS",
     .help = "How long one schedule may take before it counts as hung (default 120000)."},
    {.key = OPTION_STORE,
     .name = "store",
     .argument = "URL",
     .help = "A database: each store is a fresh schema of it, removed afterwards. Default: "
             "folders."},
    {.key = OPTION_VERBOSE, .name = "verbose", .help = "Print the plugin's log on stderr."},
    {.name = NULL},
};

static const struct {
  int option;
  const char *name;
  size_t offset;
  uint64_t min;
} numbers[] = {
    {OPTION_SEED, "seed", offsetof(struct sim_options, seed), 0},
    {OPTION_STEPS, "steps", offsetof(struct sim_options, steps), 1},
    {OPTION_FIRST, "first", offsetof(struct sim_options, first), 0},
    {OPTION_SCHEDULES, "schedules", offsetof(struct sim_options, schedules), 1},
    {OPTION_FAILURES, "failures", offsetof(struct sim_options, failures), 1},
    {OPTION_TIMEOUT, "timeout", offsetof(struct sim_options, timeout_ms), 1},
};

/* Returns 0 or the exit code. */
static int read_number(const struct cli *cli, int key, struct sim_options *options) {
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    if (numbers[i].option != key) continue;
    if (cli_number(cli->value, numbers[i].min, UINT64_MAX >> 1,
                   (uint64_t *)(void *)((char *)options + numbers[i].offset)))
      return cli_usage(cli, "--%s: '%s' is not a whole number%s", numbers[i].name, cli->value,
                       numbers[i].min > 0 ? " from 1" : "");
    return 0;
  }
  return cli->exit_code;
}

/* Returns whether the verb goes on; if not, *ret_code is its exit code. */
static bool read_options(struct cli *cli, struct sim_options *ret_options, int *ret_code) {
  struct sim_options options = {.seed = 1, .steps = 100000, .failures = 1, .timeout_ms = 120000};
  bool shrink = false, no_shrink = false;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    *ret_code = 0;
    switch (key) {
    case OPTION_PLUGIN: options.plugin = cli->value; break;
    case OPTION_SCHEDULE: options.schedule_file = cli->value; break;
    case OPTION_SAVE: options.save_file = cli->value; break;
    case OPTION_SHRINK: shrink = true; break;
    case OPTION_NO_SHRINK: no_shrink = true; break;
    case OPTION_SEPARATE: options.separate = true; break;
    case OPTION_STORY: options.story = true; break;
    case OPTION_STORE: place_use(cli->value); break;
    case OPTION_VERBOSE: options.verbose = true; break;
    case CLI_STOP: *ret_code = cli->exit_code; return false;
    default: *ret_code = read_number(cli, key, &options);
    }
    if (*ret_code) return false;
  }
  *ret_code = cli_take_words(cli, 0, 0, "");
  if (*ret_code) return false;
  options.shrink = !no_shrink && (shrink || !options.schedule_file);
  *ret_options = options;
  return true;
}

/* -- watching ---------------------------------------------------------------------------------- */

struct watch {
  char *base;
  struct sim_progress *progress;
};

static bool map_progress(const char *base, struct sim_progress **ret_progress) {
  char *path = paths_join(base, "progress");
  int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  free(path);
  if (fd < 0) return false;
  void *page = ftruncate(fd, sizeof **ret_progress) == 0
                   ? mmap(NULL, sizeof **ret_progress, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                   : MAP_FAILED;
  close(fd);
  if (page == MAP_FAILED) return false;
  *ret_progress = page;
  return true;
}

/* Makes the folder in $TMPDIR, or else in /dev/shm if possible, because a disk is slower. */
static char *make_base(void) {
  char *base = getenv("TMPDIR") ? NULL : folder_make_temporary("/dev/shm", "hostsim-sim");
  return base ? base : folder_make_temporary(NULL, "hostsim-sim");
}

/* Ignores SIGPIPE: if the output's reader has closed it, the playing process dies of it, but this
 * one must clean up. */
static void ignore_closed_pipe(int number) { (void)number; }

/* Starts the playing process with the same arguments and some more, and waits for it. Returns its
 * wait status; -1: this process was asked to stop; -2: the playing process hung. */
static int run_player(const struct watch *watch, const struct sim_options *options, int argc,
                      char **argv, const char *const more[]) {
  const char *arguments[64] = {"internal-sim", watch->base};
  size_t count = 2;
  for (int i = 1; i < argc && count < 50; i++) arguments[count++] = argv[i];
  for (size_t i = 0; more && more[i]; i++) arguments[count++] = more[i];
  pid_t pid = 0;
  int status = 0;
  uint64_t waited = 0, seen = 0;
  int failed = process_start_self(arguments, -1, &pid);
  if (failed != 0) {
    fprintf(stderr, "hostsim sim: no process could be started: %s\n", strerror(failed));
    return -1;
  }
  while (!spawn_wait(pid, LOOK_MS, &status)) {
    uint64_t now = watch->progress->schedule * UINT64_C(1000003) + watch->progress->trials;
    waited = now == seen ? waited + LOOK_MS : 0;
    seen = now;
    if (interrupt_seen() || waited > options->timeout_ms) {
      spawn_kill(pid);
      return interrupt_seen() ? -1 : -2;
    }
  }
  return status;
}

static int watch_play(const struct watch *watch, const struct sim_options *options, int argc,
                      char **argv) {
  int status = run_player(watch, options, argc, argv, NULL);
  if (status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE) return 128 + SIGPIPE;
  if (status == -1 || (status >= 0 && WIFEXITED(status) && watch->progress->ended))
    return status == -1 ? interrupt_exit_code() : WEXITSTATUS(status);
  char schedule[24];
  uint64_t n = watch->progress->schedule;
  (void)snprintf(schedule, sizeof schedule, "%" PRIu64, n);
  printf("seed %" PRIu64 ", schedule %" PRIu64 ": the process with the plugin ", options->seed, n);
  if (status == -2) printf("hung");
  else process_describe(stdout, status);
  printf("; once more, with the host in a process of its own:\n");
  fflush(stdout);
  const char *const again[] = {"--separate", "--first", schedule, "--schedules", "1", NULL};
  status = run_player(watch, options, argc, argv, again);
  if (status == -1) return interrupt_exit_code();
  if (status == -2 || !WIFEXITED(status)) printf("that process died too\n");
  return EXIT_FAILURE;
}

static int sim_verb(struct cli *cli) {
  struct sim_options options;
  int status = 0;
  if (!read_options(cli, &options, &status)) return status;
  struct watch watch = {.base = make_base()};
  struct sigaction closed_pipe = {.sa_handler = ignore_closed_pipe};
  interrupt_catch();
  sigaction(SIGPIPE, &closed_pipe, NULL);
  if (!watch.base || !map_progress(watch.base, &watch.progress)) {
    fprintf(stderr, "hostsim sim: a temporary folder cannot be made: %s\n", strerror(errno));
    free(watch.base);
    return EXIT_FAILURE;
  }
  status = watch_play(&watch, &options, cli->argc, cli->argv);
  munmap(watch.progress, sizeof *watch.progress);
  int reason = folder_remove_all(watch.base);
  if (reason) fprintf(stderr, "hostsim sim: %s: %s\n", watch.base, strerror(reason));
  free(watch.base);
  return status;
}

/* The first argument is the folder; the arguments of the verb `sim` follow. */
static int playing_verb(struct cli *cli) {
  struct sim_options options;
  struct sim_progress *progress = NULL;
  const char *base = cli->argc < 2 ? NULL : cli->argv[1];
  if (!base || !map_progress(base, &progress))
    return cli_usage(cli, "internal; not for use by hand");
  process_become_child();
  cli->argc--;
  cli->argv++;
  int status = 0;
  if (read_options(cli, &options, &status)) {
    interrupt_catch();
    status = sim_play(&options, base, progress);
  }
  progress->ended = 1;
  munmap(progress, sizeof *progress);
  return status;
}

const struct cli_verb verb_sim = {
    .name = "sim",
    .usage = "[--plugin PATH] [--seed N] [--steps M] [--schedule FILE [--shrink]] [--save FILE] "
             "[--separate] [--story] [OPTION]...",
    .summary = "play random schedules against a plugin and a model of it",
    .help = "Plays random schedules against a plugin and against a model of the "
            "documentation. After every step, the answers and the states that queries "
            "return must be the same. Steps are notifications, messages, turns, carriers "
            "and settles of two hosts and a producer, and faults: clock jumps, kills "
            "(also during a commit), restarts, hot swaps, takeovers.\n\n"
            "The stores are in $TMPDIR, or in memory (/dev/shm) if that is not set. No "
            "commit waits for a disk, because processes die here but the machine does "
            "not.\n\n"
            "Exit code: 0 if nothing differed, 1 if something differed, 2 for a wrong "
            "command line.",
    .options = options_of_sim,
    .run = sim_verb,
    .examples = (const struct cli_example[]){{"hostsim sim --seed 7 --steps 1000000",
                                              "Play a million steps of other schedules."},
                                             {NULL, NULL}},
};
const struct cli_verb verb_internal_sim = {
    .name = "internal-sim",
    .usage = "FOLDER [OPTION]...",
    .options = options_of_sim,
    .run = playing_verb,
};
