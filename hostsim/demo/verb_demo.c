/* SPDX-License-Identifier: MIT
 *
 * hostsim demo: the supervisor. It makes the folder, starts the host, kills it where it asks for
 * it, starts it again, does the books, and leaves nothing behind.
 */
#include "cli.h"
#include "demo/demo.h"
#include "demo/workshop.h"
#include "interrupt.h"
#include "paths.h"
#include "process.h"
#include "wire.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "About fifteen seconds of an agent session: a scripted model, real tools, a real store. A "
    "build really fails in "
    "the background, a file is\n"
    "really written by another process, another process really pushes; the host is killed twice "
    "and the plugin is "
    "swapped. Then typed words,\n"
    "a webhook, something critical and a subagent's end want turns. What the model gets is printed "
    "as it gets it. "
    "The last lines count, from\n"
    "the store and from the transcript, whether all was told once.\n\n"
    "  --plugin PATH  the plugin; default: tidings.so beside hostsim, else the installed one\n"
    "  --fast         no pauses for reading\n"
    "  --no-color     plain text on a terminal too; so does NO_COLOR in the environment\n"
    "  --help         this text\n\n"
    "Exit code: 0 when nothing was lost or told twice, 1 otherwise, 2 for a wrong command line.\n";

struct supervisor {
  struct demo_folder folder;
  struct screen screen;
  const char *plugin;
};

static const char *const headlines[DEMO_LIVES] = {
    "a session begins",
    "the host comes back: what its transcript holds was told, although it was never settled",
    "the host comes back: what its transcript does not hold is told now",
};

/* Starts the host for one of its lives. Returns 0 and the descriptor to listen on, or -1. */
static int start_host(const struct supervisor *supervisor, unsigned life, pid_t *ret_pid,
                      int *ret_fd) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
  char life_text[16];
  snprintf(life_text, sizeof life_text, "%u", life);
  const char *const arguments[] = {"internal-demo-host",
                                   supervisor->folder.dir,
                                   supervisor->plugin,
                                   life_text,
                                   supervisor->screen.color ? "color" : "plain",
                                   supervisor->screen.fast ? "fast" : "paced",
                                   NULL};
  int failed = process_spawn_self(arguments, pair[1], ret_pid);
  close(pair[1]);
  if (failed != 0) {
    close(pair[0]);
    errno = failed;
    return -1;
  }
  *ret_fd = pair[0];
  return 0;
}

/* Plays one life to its end: killed where it asks for it, or its own. Returns 0, or -1 when it
 * ended in another way. */
static int play_life(const struct supervisor *supervisor, unsigned life) {
  pid_t pid = 0;
  int fd = -1;
  screen_headline(&supervisor->screen, "%s", headlines[life - 1]);
  if (start_host(supervisor, life, &pid, &fd) != 0) {
    fprintf(stderr, "hostsim demo: the host could not be started: %s\n", strerror(errno));
    return -1;
  }
  json_t *word = NULL;
  enum wire_outcome outcome = wire_receive(fd, 2 * DEMO_TIMEOUT_MS, &word);
  close(fd);
  json_decref(word);
  int status = 0;
  if (outcome == WIRE_CLOSED) process_wait(pid, -1, &status);
  else status = process_kill(pid);
  bool as_planned = life < DEMO_LIVES
                        ? outcome == WIRE_OK
                        : outcome == WIRE_CLOSED && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!as_planned && !interrupt_seen()) {
    fputs("hostsim demo: the host ", stderr);
    process_describe(stderr, status);
    fputs("\n", stderr);
  }
  return as_planned && !interrupt_seen() ? 0 : -1;
}

static int play(const struct supervisor *supervisor) {
  const struct screen *screen = &supervisor->screen;
  if (workshop_set_up(supervisor->folder.workspace) != 0 ||
      paths_copy_file(supervisor->plugin, supervisor->folder.second_plugin) != 0) {
    fprintf(stderr, "hostsim demo: %s: %s\n", supervisor->plugin, strerror(errno));
    return EXIT_FAILURE;
  }
  if (play_life(supervisor, 1) != 0) return EXIT_FAILURE;
  screen_alarm(
      screen,
      "SIGKILL: the host died after the carrier had reached its transcript, before it settled");
  screen_note(screen, "another process pushes deploy.finished while no host is there");
  if (demo_push_from_elsewhere(&supervisor->folder, supervisor->plugin, "deploy.finished", "info",
                               "Deployment 77 of staging has finished.") != 0)
    return EXIT_FAILURE;
  screen_pause(screen, 600);
  if (play_life(supervisor, 2) != 0) return EXIT_FAILURE;
  screen_alarm(
      screen,
      "SIGKILL: the host died with a delivery leased, before the carrier reached its transcript");
  screen_pause(screen, 600);
  if (play_life(supervisor, 3) != 0) return EXIT_FAILURE;
  screen_headline(screen, "the books, from the store and from the transcript");
  return demo_account(&supervisor->folder, supervisor->plugin);
}

/* A compiler that outlives its killed host for a moment may still write a file while the folder
 * goes. */
static void remove_folder(const char *dir) {
  enum { TRIES = 100, PAUSE_NS = 20000000 };
  const struct timespec pause = {.tv_nsec = PAUSE_NS};
  for (int i = 0; i < TRIES && paths_remove_tree(dir) != 0 && access(dir, F_OK) == 0; i++)
    nanosleep(&pause, NULL);
}

static int demo(const char *plugin, bool fast, bool color) {
  struct supervisor supervisor = {.plugin = plugin, .screen = {.fast = fast, .color = color}};
  int status = EXIT_FAILURE;
  interrupt_catch();
  char *dir = paths_make_temp("hostsim-demo");
  if (!dir || demo_folder_init(&supervisor.folder, dir) != 0) {
    fprintf(stderr, "hostsim demo: no folder: %s\n", strerror(errno));
    goto out;
  }
  setenv("TMPDIR", dir, 1); /* what a compiler leaves when it is killed goes with the rest */
  status = play(&supervisor);
  if (interrupt_seen()) status = interrupt_exit_code();
out:
  if (dir) remove_folder(dir);
  demo_folder_finish(&supervisor.folder);
  free(dir);
  return status;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  static const struct option long_options[] = {
      {"plugin", required_argument, NULL, 'p'},
      {"fast", no_argument, NULL, 'f'},
      {"no-color", no_argument, NULL, 'n'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  const char *no_color = getenv("NO_COLOR");
  const char *terminal = getenv("TERM");
  bool color = isatty(STDOUT_FILENO) && (!no_color || no_color[0] == '\0') &&
               (!terminal || strcmp(terminal, "dumb") != 0);
  const char *plugin = NULL;
  bool fast = false;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1;) {
    switch (option) {
    case 'p': plugin = optarg; break;
    case 'f': fast = true; break;
    case 'n': color = false; break;
    case 'h': return cli_help(verb);
    default: return cli_bad_option(verb, option, argv);
    }
  }
  if (optind != argc) return cli_usage_error(verb, "unexpected argument '%s'", argv[optind]);
  char *found = !plugin ? paths_default_plugin() : NULL;
  if (!plugin && !found) {
    fprintf(stderr, "hostsim demo: out of memory\n");
    return EXIT_FAILURE;
  }
  int status = demo(plugin ? plugin : found, fast, color);
  free(found);
  return status;
}

const struct cli_verb verb_demo = {.name = "demo",
                                   .usage = "hostsim demo [--plugin PATH] [--fast] [--no-color]",
                                   .help = help,
                                   .run = run};
