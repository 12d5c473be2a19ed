/* SPDX-License-Identifier: MIT
 *
 * demo/server.c: starts a server for the demo from the distribution's programs. The server ends
 * with this process.
 */
#include "demo/fleet.h"

#include "command/interrupt.h"
#include "common/clock.h"
#include "common/folder.h"
#include "host/process.h"

#include <errno.h>
#include <glob.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 24, OLDEST = 15, START_MS = 60000, STEP_MS = 20 };

struct command {
  const char *list[MOST_ARGUMENTS];
  size_t count;
};

static void add(struct command *command, const char *word) {
  if (command->count + 1 < MOST_ARGUMENTS) command->list[command->count++] = word;
}

/* Finds the newest of /usr/lib/postgresql/15/bin/initdb and so on. Free it; NULL: there is none. */
static char *find_programs(void) {
  static const char pattern[] = "/usr/lib/postgresql/*/bin/initdb";
  const size_t before = strcspn(pattern, "*");
  glob_t found = {0};
  char *programs = NULL;
  long newest = OLDEST - 1;
  if (glob(pattern, 0, NULL, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; i++) {
      const char *path = found.gl_pathv[i];
      long version = strtol(path + before, NULL, 10);
      if (version <= newest) continue;
      newest = version;
      free(programs);
      programs = strndup(path, strlen(path) - strlen("/initdb"));
    }
  }
  globfree(&found);
  return programs;
}

/* Gives the folder to another user, because the server refuses to run as root. Returns 0 or an
 * errno. */
static int give_folder_away(const char *folder, char who[2][32]) {
  const struct passwd *nobody = getpwnam("nobody");
  if (!nobody) return ENOENT;
  (void)snprintf(who[0], sizeof who[0], "--reuid=%u", (unsigned)nobody->pw_uid);
  (void)snprintf(who[1], sizeof who[1], "--regid=%u", (unsigned)nobody->pw_gid);
  return chown(folder, nobody->pw_uid, nobody->pw_gid) ? errno : 0;
}

/* Begins a command with setpriv (util-linux), which gives up root's rights and ends the server when
 * this process ends. */
static int begin_command(struct command *command, const char *folder, char who[2][32]) {
  *command = (struct command){.count = 0};
  add(command, "setpriv");
  add(command, "--pdeathsig=INT");
  if (geteuid()) return 0;
  int reason = give_folder_away(folder, who);
  add(command, who[0]);
  add(command, who[1]);
  add(command, "--clear-groups");
  return reason;
}

static int run_to_end(const struct command *command) {
  int status = 0;
  pid_t pid = 0;
  int reason = process_start_program(command->list, "/", -1, &pid);
  if (reason) return reason;
  (void)spawn_wait(pid, -1, &status);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : EIO;
}

static int make_cluster(const char *programs, const char *folder, const char *data) {
  char who[2][32] = {"", ""}, program[256];
  struct command command;
  int reason = begin_command(&command, folder, who);
  if (reason) return reason;
  (void)snprintf(program, sizeof program, "%s/initdb", programs);
  const char *const words[] = {program, "-D", data,   "-A",         "trust",    "-U",
                               "fleet", "-E", "UTF8", "--locale=C", "--no-sync"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) add(&command, words[i]);
  return run_to_end(&command);
}

static int start_server(const char *programs, const char *folder, const char *data,
                        pid_t *ret_pid) {
  char who[2][32] = {"", ""}, program[256];
  struct command command;
  int reason = begin_command(&command, folder, who);
  if (reason) return reason;
  (void)snprintf(program, sizeof program, "%s/postgres", programs);
  const char *const words[] = {
      program, "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "shared_buffers=16MB"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) add(&command, words[i]);
  return process_start_program(command.list, "/", -1, ret_pid);
}

static int wait_until_ready(const struct demo_server *server, const char *programs) {
  char program[256];
  (void)snprintf(program, sizeof program, "%s/pg_isready", programs);
  const struct command asks = {{program, "-q", "-h", server->folder, NULL}, 4};
  for (int waited = 0; waited < START_MS && !interrupt_seen(); waited += STEP_MS) {
    int status = 0;
    if (run_to_end(&asks) == 0) return 0;
    if (spawn_wait(server->pid, 0, &status)) return EIO;
    clock_sleep_ms(STEP_MS);
  }
  return interrupt_seen() ? EINTR : ETIMEDOUT;
}

static int start_in(struct demo_server *server, const char *programs) {
  char *data = NULL;
  server->folder = folder_make_temporary("/tmp", "hostsim-demo-server");
  if (!server->folder) return errno;
  if (asprintf(&data, "%s/data", server->folder) < 0) return ENOMEM;
  int reason = make_cluster(programs, server->folder, data);
  if (!reason) reason = start_server(programs, server->folder, data, &server->pid);
  if (!reason) reason = wait_until_ready(server, programs);
  if (!reason && asprintf(&server->url, "postgresql://fleet@/postgres?host=%s", server->folder) < 0)
    reason = ENOMEM;
  free(data);
  return reason;
}

int demo_server_start(struct demo_server *server) {
  char *programs = find_programs();
  if (!programs) {
    fprintf(stderr,
            "hostsim demo: there is no PostgreSQL %d or newer in /usr/lib/postgresql to start a "
            "server of; install it, or name a database with --store URL\n",
            OLDEST);
    return -1;
  }
  int reason = start_in(server, programs);
  if (reason && reason != EINTR)
    fprintf(stderr, "hostsim demo: the server of %s does not start: %s\n", programs,
            strerror(reason));
  free(programs);
  return reason ? -1 : 0;
}

void demo_server_stop(struct demo_server *server) {
  int status = 0;
  if (server->pid) {
    (void)kill(server->pid, SIGINT);
    if (!spawn_wait(server->pid, DEMO_TIMEOUT_MS, &status)) (void)spawn_kill(server->pid);
  }
  if (server->folder) (void)folder_remove_all(server->folder);
  free(server->folder);
  free(server->url);
  *server = (struct demo_server){.pid = 0};
}
