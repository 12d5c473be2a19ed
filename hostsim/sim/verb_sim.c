/* SPDX-License-Identifier: MIT
 *
 * hostsim sim: random schedules against a model. This side starts the process that plays, and when
 * that dies with the plugin, says where it was and has the schedule played again with the host in a
 * process of its own.
 */
#include "sim/sim.h"

#include "interrupt.h"
#include "paths.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 500 };

static const char help[] =
    "Plays random schedules against a plugin and, beside it, against a model of what the documents "
    "say: whatever either answers, and the\n"
    "states that the queries tell, must be the same after every step. Steps are notifications, "
    "messages, turns, carriers and settles of "
    "two\n"
    "hosts and a producer, and what befalls them: clock jumps, kills (inside a commit too), "
    "restarts, hot swaps, takeovers.\n\n"
    "  --plugin PATH    the plugin; default: tidings.so beside hostsim, else the installed one\n"
    "  --seed N         which schedules (default 1); the same seed plays the same ones\n"
    "  --steps M        at least so many steps (default 100000)\n"
    "  --first K        start with the K-th schedule of the seed (default 0)\n"
    "  --schedules N    play N schedules, however many steps they have\n"
    "  --schedule FILE  play this one: 8 bytes and 8 for each step\n"
    "  --save FILE      write the schedule that differs, as it was cut down\n"
    "  --shrink         cut the one of --schedule down too; random ones always are\n"
    "  --no-shrink      cut nothing down\n"
    "  --failures N     stop after N schedules that differ (default 1)\n"
    "  --separate       the host always runs in a process of its own (slower), not only in a few "
    "schedules\n"
    "  --story          every step in words\n"
    "  --timeout MS     how long one schedule may take before it counts as hung (default 120000)\n"
    "  --verbose        the plugin's log on stderr\n"
    "  --help           this text\n\n"
    "The stores are in $TMPDIR, or in memory (/dev/shm) if that is not set, and no commit waits "
    "for a disk: processes die here, the "
    "machine does "
    "not.\n\n"
    "Exit code: 0 when nothing differed, 1 when something did, 2 for a wrong command line.\n";

/* -- the command line -------------------------------------------------------------------------- */

static const struct option long_options[] = {
    {"plugin", required_argument, NULL, 'p'},
    {"seed", required_argument, NULL, 's'},
    {"steps", required_argument, NULL, 'm'},
    {"first", required_argument, NULL, 'f'},
    {"schedules", required_argument, NULL, 'n'},
    {"schedule", required_argument, NULL, 'c'},
    {"save", required_argument, NULL, 'o'},
    {"shrink", no_argument, NULL, 'k'},
    {"no-shrink", no_argument, NULL, 'K'},
    {"failures", required_argument, NULL, 'x'},
    {"separate", no_argument, NULL, 'a'},
    {"story", no_argument, NULL, 'w'},
    {"timeout", required_argument, NULL, 't'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const struct {
  int option;
  const char *name;
  size_t offset;
  uint64_t min;
} numbers[] = {
    {'s', "seed", offsetof(struct sim_options, seed), 0},
    {'m', "steps", offsetof(struct sim_options, steps), 1},
    {'f', "first", offsetof(struct sim_options, first), 0},
    {'n', "schedules", offsetof(struct sim_options, schedules), 1},
    {'x', "failures", offsetof(struct sim_options, failures), 1},
    {'t', "timeout", offsetof(struct sim_options, timeout_ms), 1},
};

static int parse_number(const struct cli_verb *verb, int option, const char *text,
                        struct sim_options *options) {
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    if (numbers[i].option != option) continue;
    if (cli_number(text, numbers[i].min, UINT64_MAX >> 1,
                   (uint64_t *)(void *)((char *)options + numbers[i].offset)) != 0) {
      return cli_usage_error(verb, "--%s: '%s' is not a whole number%s", numbers[i].name, text,
                             numbers[i].min > 0 ? " from 1" : "");
    }
    return 0;
  }
  return -1;
}

int sim_parse(const struct cli_verb *verb, int argc, char **argv, struct sim_options *ret_options,
              bool *ret_help) {
  struct sim_options options = {.seed = 1, .steps = 100000, .failures = 1, .timeout_ms = 120000};
  bool shrink = false, no_shrink = false;
  opterr = 0;
  optind = 1;
  *ret_help = false;
  for (int option; (option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1;) {
    int status = 0;
    switch (option) {
    case 'p': options.plugin = optarg; break;
    case 'c': options.schedule_file = optarg; break;
    case 'o': options.save_file = optarg; break;
    case 'k': shrink = true; break;
    case 'K': no_shrink = true; break;
    case 'a': options.separate = true; break;
    case 'w': options.story = true; break;
    case 'v': options.verbose = true; break;
    case 'h': *ret_help = true; return 0;
    default: status = parse_number(verb, option, optarg, &options);
    }
    if (status != 0) return status > 0 ? status : cli_bad_option(verb, option, argv);
  }
  if (optind < argc) return cli_usage_error(verb, "unexpected argument '%s'", argv[optind]);
  options.shrink = !no_shrink && (shrink || !options.schedule_file);
  *ret_options = options;
  return 0;
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

/* Where the user wants temporary files; else in memory if there is such a folder: a disk would only
 * be slower. */
static char *make_base(void) {
  char in_memory[] = "/dev/shm/hostsim-sim-XXXXXX";
  return !getenv("TMPDIR") && mkdtemp(in_memory) ? strdup(in_memory)
                                                 : paths_make_temp("hostsim-sim");
}

/* Whoever reads the output has had enough: the playing process dies of that, this one only sees it
 * and cleans up. */
static void hear_closed_pipe(int number) { (void)number; }

/* Starts the playing process with the same arguments and some more, and waits for it. Returns its
 * wait status; -1: it was told to stop; -2: hung. */
static int run_player(const struct watch *watch, const struct sim_options *options, int argc,
                      char **argv, const char *const more[]) {
  const char *arguments[64] = {"internal-sim", watch->base};
  size_t count = 2;
  for (int i = 1; i < argc && count < 50; i++) arguments[count++] = argv[i];
  for (size_t i = 0; more && more[i]; i++) arguments[count++] = more[i];
  pid_t pid = 0;
  int status = 0;
  uint64_t waited = 0, seen = 0;
  int failed = process_spawn_self(arguments, -1, &pid);
  if (failed != 0) {
    fprintf(stderr, "hostsim sim: no process could be had: %s\n", strerror(failed));
    return -1;
  }
  while (!process_wait(pid, LOOK_MS, &status)) {
    uint64_t now = watch->progress->schedule * UINT64_C(1000003) + watch->progress->trials;
    waited = now == seen ? waited + LOOK_MS : 0;
    seen = now;
    if (interrupt_seen() || waited > options->timeout_ms) {
      process_kill(pid);
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
  if (status == -2 || !WIFEXITED(status)) printf("that died as well\n");
  return EXIT_FAILURE;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  struct sim_options options;
  bool wants_help = false;
  int status = sim_parse(verb, argc, argv, &options, &wants_help);
  if (status != 0 || wants_help) return wants_help ? cli_help(verb) : status;
  struct watch watch = {.base = make_base()};
  struct sigaction closed_pipe = {.sa_handler = hear_closed_pipe};
  interrupt_catch();
  sigaction(SIGPIPE, &closed_pipe, NULL);
  if (!watch.base || !map_progress(watch.base, &watch.progress)) {
    fprintf(stderr, "hostsim sim: a temporary folder cannot be made: %s\n", strerror(errno));
    free(watch.base);
    return EXIT_FAILURE;
  }
  status = watch_play(&watch, &options, argc, argv);
  munmap(watch.progress, sizeof *watch.progress);
  if (paths_remove_tree(watch.base) != 0)
    fprintf(stderr, "hostsim sim: %s: %s\n", watch.base, strerror(errno));
  free(watch.base);
  return status;
}

static int run_playing(const struct cli_verb *verb, int argc, char **argv) {
  struct sim_options options;
  struct sim_progress *progress = NULL;
  bool wants_help = false;
  if (argc < 2 || !map_progress(argv[1], &progress))
    return cli_usage_error(verb, "not to be called by hand");
  process_become_child();
  int status = sim_parse(verb, argc - 1, argv + 1, &options, &wants_help);
  if (status == 0) {
    interrupt_catch();
    status = sim_play(&options, argv[1], progress);
  }
  progress->ended = 1;
  munmap(progress, sizeof *progress);
  return status;
}

const struct cli_verb verb_sim = {
    .name = "sim",
    .usage = "hostsim sim [--plugin PATH] [--seed N] [--steps M] [--schedule FILE [--shrink]] "
             "[--save FILE] [--separate] [--story] [OPTION]...",
    .help = help,
    .run = run};
const struct cli_verb verb_internal_sim = {.name = "internal-sim",
                                           .usage = "hostsim internal-sim FOLDER [OPTION]...",
                                           .help = "",
                                           .run = run_playing};
