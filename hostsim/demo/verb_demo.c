/* SPDX-License-Identifier: MIT
 *
 * demo/verb_demo.c: `hostsim demo`: the supervisor. It makes the folder, starts the host, kills it
 * when the host asks for that, starts it again, counts what was delivered, and removes the folder.
 */
#include "command/interrupt.h"
#include "command/paths.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/folder.h"
#include "common/store_url.h"
#include "demo/demo.h"
#include "demo/fleet.h"
#include "demo/workshop.h"
#include "host/process.h"
#include "host/wire.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  OPTION_PLUGIN = CLI_LONG_ONLY,
  OPTION_FAST,
  OPTION_NO_COLOR,
  OPTION_FLEET,
  OPTION_STORE,
  OPTION_TIMELINE
};

struct supervisor {
  struct demo_folder folder;
  struct screen screen;
  const char *plugin;
  const char *timeline; /* the page to write; NULL: none */
};

static const char *const headlines[DEMO_LIVES] = {
    "a session begins",
    ("the host comes back: what its transcript has was delivered, although it was "
     "never settled"),
    "the host comes back: what its transcript lacks is delivered now",
};

/* Starts the host for one of its lives. Returns 0 and the descriptor to listen on, or an errno. */
static int start_host(const struct supervisor *supervisor, unsigned life, pid_t *ret_pid,
                      int *ret_fd) {
  char life_text[16];
  snprintf(life_text, sizeof life_text, "%u", life);
  const char *const arguments[] = {"internal-demo-host",
                                   supervisor->folder.dir,
                                   supervisor->plugin,
                                   life_text,
                                   supervisor->screen.color ? "color" : "plain",
                                   supervisor->screen.fast ? "fast" : "paced",
                                   NULL};
  return process_start_with_channel(arguments, ret_pid, ret_fd);
}

/* Plays one life until the host asks to be killed or ends itself. Returns 0, or -1 if it ended in
 * another way. */
static int play_life(const struct supervisor *supervisor, unsigned life) {
  pid_t pid = 0;
  int fd = -1;
  screen_headline(&supervisor->screen, "%s", headlines[life - 1]);
  int reason = start_host(supervisor, life, &pid, &fd);
  if (reason) {
    fprintf(stderr, "hostsim demo: the host could not be started: %s\n", strerror(reason));
    return -1;
  }
  json_t *word = NULL;
  enum wire_outcome outcome = wire_receive(fd, 2 * DEMO_TIMEOUT_MS, &word);
  close(fd);
  json_decref(word);
  int status = 0;
  if (outcome == WIRE_CLOSED) spawn_wait(pid, -1, &status);
  else status = spawn_kill(pid);
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
  int reason = workshop_set_up(supervisor->folder.workspace)
                   ? errno
                   : file_copy(supervisor->plugin, supervisor->folder.second_plugin);
  if (reason) {
    fprintf(stderr, "hostsim demo: %s: %s\n", supervisor->plugin, strerror(reason));
    return EXIT_FAILURE;
  }
  if (play_life(supervisor, 1) != 0) return EXIT_FAILURE;
  screen_alarm(
      screen,
      "SIGKILL: the host died after the carrier had reached its transcript, before it settled");
  screen_note(screen, "another process pushes deploy.finished while no host runs");
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
  screen_headline(screen, "the final counts, from the store and from the transcript");
  return demo_account(&supervisor->folder, supervisor->plugin);
}

/* Draws the timeline by the command `tidings`, which lies beside this program. Returns 0 or
 * EXIT_FAILURE. */
static int draw_timeline(const struct supervisor *supervisor) {
  char *program = paths_beside_program("tidings", "tidings");
  const char *const arguments[] = {program, "timeline",   "-S", supervisor->folder.store,
                                   "-s",    DEMO_SESSION, "-o", supervisor->timeline,
                                   NULL};
  const struct spawn spawn = {.program = program, .argv = arguments};
  pid_t pid = 0;
  int status = 0, reason = ENOMEM;
  if (program && !setenv("TIDINGS_PLUGIN", supervisor->plugin, 1))
    reason = spawn_start(&spawn, &pid);
  free(program);
  if (reason) {
    fprintf(stderr, "hostsim demo: tidings timeline: %s\n", strerror(reason));
    return EXIT_FAILURE;
  }
  spawn_wait(pid, -1, &status);
  if (!WIFEXITED(status) || WEXITSTATUS(status)) return EXIT_FAILURE;
  printf("the page of this session, for a browser: %s\n", supervisor->timeline);
  return 0;
}

/* Tries several times: a compiler that outlives its killed host for a moment may still write a file
 * while the folder is removed. */
static void remove_folder(const char *dir) {
  enum { TRIES = 100, PAUSE_MS = 20 };
  for (int i = 0; i < TRIES && folder_remove_all(dir) != 0 && access(dir, F_OK) == 0; i++)
    clock_sleep_ms(PAUSE_MS);
}

static int demo(const char *plugin, const struct screen *screen, bool fleet, const char *url,
                const char *timeline) {
  struct supervisor supervisor = {.plugin = plugin, .timeline = timeline, .screen = *screen};
  int status = EXIT_FAILURE;
  interrupt_catch();
  interrupt_catch_pipe();
  char *dir = folder_make_temporary(NULL, "hostsim-demo");
  if (!dir || demo_folder_init(&supervisor.folder, dir) != 0) {
    fprintf(stderr, "hostsim demo: no folder: %s\n", strerror(errno));
    goto out;
  }
  setenv("TMPDIR", dir, 1); /* a killed compiler's files are removed with the folder */
  status = fleet ? demo_fleet(plugin, url, dir, screen) : play(&supervisor);
  if (!status && timeline) status = draw_timeline(&supervisor);
  if (interrupt_seen()) status = interrupt_exit_code();
out:
  if (dir) remove_folder(dir);
  demo_folder_finish(&supervisor.folder);
  free(dir);
  return status;
}

static int demo_verb(struct cli *cli) {
  const char *no_color = getenv("NO_COLOR");
  const char *terminal = getenv("TERM");
  struct screen screen = {.fast = false};
  screen.color = isatty(STDOUT_FILENO) && (!no_color || !no_color[0]) &&
                 (!terminal || strcmp(terminal, "dumb") != 0);
  const char *plugin = NULL, *url = NULL, *timeline = NULL;
  bool fleet = false;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case OPTION_PLUGIN: plugin = cli->value; break;
    case OPTION_FAST: screen.fast = true; break;
    case OPTION_NO_COLOR: screen.color = false; break;
    case OPTION_FLEET: fleet = true; break;
    case OPTION_STORE: url = cli->value; break;
    case OPTION_TIMELINE: timeline = cli->value; break;
    default: return cli->exit_code;
    }
  }
  int code = cli_take_words(cli, 0, 0, "");
  if (code) return code;
  if (timeline && fleet) return cli_usage(cli, "--timeline is not for --fleet");
  if (url && !fleet) return cli_usage(cli, "--store is for --fleet");
  if (url && !store_url_is(url))
    return cli_usage(cli, "--store: expected postgresql://USER@HOST/DATABASE");
  char *found = plugin ? NULL : paths_beside_program("tidings.so", CLI_PLUGIN_FROM_PROGRAM);
  if (!plugin && !found) return cli_fail(cli, "out of memory");
  int status = demo(plugin ? plugin : found, &screen, fleet, url, timeline);
  free(found);
  return status;
}

const struct cli_verb verb_demo = {
    .name = "demo",
    .usage = "[--plugin PATH] [--fleet [--store URL]] [--timeline FILE] [--fast] [--no-color]",
    .summary = "watch an agent session with crashes and a hot swap",
    .help = "Plays about fifteen seconds of an agent session with a scripted model, real "
            "tools and a real store. A build fails in the background, another process "
            "writes a file, another process pushes, the host is killed twice, and the "
            "plugin is swapped. Then typed messages, a webhook, a critical notification "
            "and the end of a subagent each ask for a turn. Everything that the model "
            "gets is printed at that time. The last lines count, from the store and from "
            "the transcript, whether everything was delivered exactly once.\n\n"
            "With --fleet the store is in a PostgreSQL database, and two folders stand for two "
            "machines: the host is killed on one, and the session goes on at the other.\n\n"
            "Exit code: 0 if nothing was lost or delivered twice, 1 otherwise, 2 for a "
            "wrong command line.",
    .options =
        (const struct cli_option[]){
            {.key = OPTION_PLUGIN,
             .name = "plugin",
             .argument = "PATH",
             .completion = COMPLETE_FILE,
             .help = "The plugin. Default: tidings.so beside hostsim, else the "
                     "installed one."},
            {.key = OPTION_FLEET,
             .name = "fleet",
             .help = "Play one session on two machines. Without --store it starts a PostgreSQL "
                     "server of its own, of the installed programs."},
            {.key = OPTION_STORE,
             .name = "store",
             .argument = "URL",
             .help = "With --fleet: the database, postgresql://USER@HOST/DATABASE. A schema is "
                     "made in it and removed."},
            {.key = OPTION_TIMELINE,
             .name = "timeline",
             .argument = "FILE",
             .completion = COMPLETE_FILE,
             .help = "Write the page of 'tidings timeline' at the end, and print its path."},
            {.key = OPTION_FAST, .name = "fast", .help = "Do not pause for reading."},
            {.key = OPTION_NO_COLOR,
             .name = "no-color",
             .help = "Print plain text on a terminal too, as with NO_COLOR in the "
                     "environment."},
            {.name = NULL},
        },
    .run = demo_verb,
    .examples =
        (const struct cli_example[]){
            {"hostsim demo --fast", "Print all of it without pauses."},
            {"hostsim demo --fleet", "Watch a session move to another machine."},
            {NULL, NULL}},
};
