/* SPDX-License-Identifier: MIT
 *
 * demo/fleet.c: `hostsim demo --fleet`: the supervisor. It makes a store in a database and two
 * machines. It starts the host on one machine, kills it when the host asks for that, starts it on
 * the other machine, and prints the account at the end.
 */
#include "demo/fleet.h"

#include "command/interrupt.h"
#include "command/paths.h"
#include "common/file.h"
#include "host/place.h"
#include "host/process.h"
#include "host/wire.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MACHINES = 2 };

struct fleet {
  const char *plugin;
  struct screen screen;
  char *store, *ledger;
  struct demo_folder machines[MACHINES];
};

static const char *const headlines[FLEET_LIVES] = {
    "machine A: a session begins",
    "machine B: the session goes on; its transcript says what the model has",
    "machine A again: what the transcript lacks is delivered now",
};

static struct demo_folder *machine_of(struct fleet *fleet, unsigned life) {
  return &fleet->machines[(life - 1) % MACHINES];
}

/* Returns 0 and the descriptor to listen on, or an errno. */
static int start_host_on(struct fleet *fleet, unsigned life, pid_t *ret_pid, int *ret_fd) {
  char life_text[16];
  (void)snprintf(life_text, sizeof life_text, "%u", life);
  const char *const arguments[] = {"internal-fleet-host",
                                   machine_of(fleet, life)->dir,
                                   fleet->store,
                                   fleet->ledger,
                                   fleet->plugin,
                                   life_text,
                                   fleet->screen.color ? "color" : "plain",
                                   fleet->screen.fast ? "fast" : "paced",
                                   NULL};
  return process_start_with_channel(arguments, ret_pid, ret_fd);
}

static int play_on(struct fleet *fleet, unsigned life) {
  json_t *word = NULL;
  pid_t pid = 0;
  int fd = -1, status = 0;
  screen_headline(&fleet->screen, "%s", headlines[life - 1]);
  int reason = start_host_on(fleet, life, &pid, &fd);
  if (reason) {
    fprintf(stderr, "hostsim demo: the host could not be started: %s\n", strerror(reason));
    return -1;
  }
  enum wire_outcome outcome = wire_receive(fd, 2 * DEMO_TIMEOUT_MS, &word);
  close(fd);
  json_decref(word);
  if (outcome == WIRE_CLOSED) spawn_wait(pid, -1, &status);
  else status = spawn_kill(pid);
  bool ended = outcome == WIRE_CLOSED && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  bool as_planned = life < FLEET_LIVES ? outcome == WIRE_OK : ended;
  if (!as_planned && !interrupt_seen()) {
    fputs("hostsim demo: the host ", stderr);
    process_describe(stderr, status);
    fputs("\n", stderr);
  }
  return as_planned && !interrupt_seen() ? 0 : -1;
}

/* Copies the transcript to the next machine, which an agent would do itself. */
static int move_transcript(struct fleet *fleet, unsigned life) {
  int reason =
      file_copy(machine_of(fleet, life)->transcript, machine_of(fleet, life + 1)->transcript);
  if (reason) fprintf(stderr, "hostsim demo: the transcript: %s\n", strerror(reason));
  return reason ? -1 : 0;
}

static int push_while_none_runs(struct fleet *fleet) {
  static const char *const messages[] = {"The approval of version 12 was given.",
                                         "The certificate of staging runs out in 3 days."};
  screen_note(&fleet->screen, "machine C goes on pushing while no host runs");
  for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
    if (demo_push_from_elsewhere(&fleet->machines[0], fleet->plugin,
                                 i ? "cert.expires" : "deploy.approved", i ? "warning" : "info",
                                 messages[i]) != 0)
      return -1;
  return 0;
}

static int play_all(struct fleet *fleet) {
  const struct screen *screen = &fleet->screen;
  if (play_on(fleet, 1)) return EXIT_FAILURE;
  screen_alarm(screen, "SIGKILL: machine A is gone; its last carrier is in the transcript, and was "
                       "not settled");
  if (push_while_none_runs(fleet) || move_transcript(fleet, 1)) return EXIT_FAILURE;
  screen_pause(screen, 600);
  if (play_on(fleet, 2)) return EXIT_FAILURE;
  screen_alarm(screen, "SIGKILL: machine B is gone with a delivery leased, before the carrier "
                       "reached the transcript");
  screen_pause(screen, 600);
  if (move_transcript(fleet, 2) || play_on(fleet, 3)) return EXIT_FAILURE;
  screen_headline(screen, "the final counts, from the store and from the transcript");
  return demo_account(machine_of(fleet, FLEET_LIVES), fleet->plugin);
}

static int make_machines(struct fleet *fleet, const char *dir) {
  for (int i = 0; i < MACHINES; i++) {
    char *path = paths_join(dir, i ? "machine-b" : "machine-a");
    bool made = path && mkdir(path, 0700) == 0 &&
                demo_folder_init(&fleet->machines[i], path) == 0 &&
                demo_folder_share(&fleet->machines[i], fleet->store, fleet->ledger) == 0;
    free(path);
    if (!made) return -1;
  }
  return 0;
}

static int play_in(const char *plugin, const char *url, const char *dir,
                   const struct screen *screen) {
  struct fleet fleet = {.plugin = plugin, .screen = *screen};
  char why[512] = "out of memory";
  int code = EXIT_FAILURE;
  place_use(url);
  fleet.ledger = paths_join(dir, "ledger.jsonl");
  fleet.store = place_make(dir, plugin, why, sizeof why);
  if (!fleet.ledger || !fleet.store) fprintf(stderr, "hostsim demo: %s\n", why);
  else if (make_machines(&fleet, dir)) perror("hostsim demo: no folder");
  else code = play_all(&fleet);
  place_remove(fleet.store, plugin);
  place_finish(plugin);
  for (int i = 0; i < MACHINES; i++) demo_folder_finish(&fleet.machines[i]);
  free(fleet.store);
  free(fleet.ledger);
  return code;
}

int demo_fleet(const char *plugin, const char *url, const char *dir, const struct screen *screen) {
  struct demo_server server = {.pid = 0};
  int code = EXIT_FAILURE;
  if (!url) screen_note(screen, "a PostgreSQL server is started for this demo");
  if (url || demo_server_start(&server) == 0)
    code = play_in(plugin, url ? url : server.url, dir, screen);
  demo_server_stop(&server);
  return code;
}
