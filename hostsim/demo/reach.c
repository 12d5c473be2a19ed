/* SPDX-License-Identifier: MIT
 *
 * demo/reach.c: events from elsewhere reach the agent: a webhook wakes the idle session, and a
 * session that starts later takes over what waits in a mailbox.
 */
#include "demo/host.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "command/mailbox.h"
#include "command/paths.h"
#include "common/clock.h"
#include "common/file.h"
#include "host/process.h"

static const char outage[] = "Production answers 502 since deployment 77.";
static const char backup[] = "The nightly backup failed: the disk of the archive is full.";
static const char token[] = "the demo's example of a secret";

static _Noreturn void fail_reach(const char *problem) {
  fflush(stdout);
  fprintf(stderr, "hostsim: the demo's webhook: %s\n", problem);
  exit(EXIT_FAILURE);
}

static char *in_folder(const struct demo_host *host, const char *name) {
  char *path = paths_join(host->folder.dir, name);
  if (!path) fail_reach("out of memory");
  return path;
}

static void note_pushed(const struct demo_host *host, const char *text) {
  if (journal_append(host->folder.ledger, json_pack("{s:s}", LEDGER_PUSHED, text)))
    fail_reach("the ledger cannot be written");
}

static void write_secret(const struct demo_host *host, const char *name, const char *text) {
  char *path = in_folder(host, name);
  if (file_write_whole(path, text, strlen(text)) || chmod(path, 0600))
    fail_reach("its files cannot be written");
  free(path);
}

/* Starts the command `tidings`, which lies beside this program, on the demo's store. Returns its
 * process. */
static pid_t start_tidings(const struct demo_host *host, const char *const words[]) {
  enum { MOST_WORDS = 12 };
  char *program = paths_beside_program("tidings", "tidings");
  const char *arguments[MOST_WORDS + 3] = {program};
  size_t count = 1;
  pid_t pid = 0;
  for (; *words && count < MOST_WORDS; words++) arguments[count++] = *words;
  arguments[count++] = "-S";
  arguments[count] = host->folder.store;
  const struct spawn spawn = {.program = program,
                              .argv = arguments,
                              .in = SPAWN_NULL,
                              .out = SPAWN_NULL,
                              .err = SPAWN_NULL};
  if (!program || setenv("TIDINGS_PLUGIN", host->plugin, 1) ||
      setenv("XDG_CONFIG_HOME", host->folder.dir, 1) || spawn_start(&spawn, &pid))
    fail_reach("tidings, which belongs beside hostsim, could not be started");
  free(program);
  return pid;
}

/* -- the webhook ------------------------------------------------------------------------------- */

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

/* Waits until the server accepts a connection. -1: it has ended, because a library is missing. */
static int wait_for_server(const char *path, pid_t pid) {
  enum { PAUSE_MS = 10 };
  int64_t until_ms = clock_mono_ms() + DEMO_TIMEOUT_MS;
  int fd = -1, status;
  while ((fd = connect_to(path)) < 0 && clock_mono_ms() < until_ms)
    if (spawn_wait(pid, PAUSE_MS, &status)) return -1;
  return fd;
}

/* Posts a webhook like any sender. Returns whether it was accepted. */
static bool post(int fd, const char *body) {
  char request[1024], answer[256] = "";
  size_t got = 0;
  int len = snprintf(request, sizeof request,
                     "POST /hooks/monitor HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                     "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     token, strlen(body), body);
  if (send(fd, request, (size_t)len, MSG_NOSIGNAL) != len) return false;
  for (ssize_t more;
       got + 1 < sizeof answer && (more = read(fd, answer + got, sizeof answer - got - 1)) > 0;)
    got += (size_t)more;
  return strncmp(answer, "HTTP/1.1 200", strlen("HTTP/1.1 200")) == 0;
}

static void receive_webhook(const struct demo_host *host) {
  char *path = in_folder(host, "hooks.sock"), *routes = in_folder(host, "listen.json");
  char body[512];
  write_secret(host, "hooks.secret", token);
  write_secret(
      host, "listen.json",
      "{\"listen\": {\"routes\": [{\"path\": \"/hooks/monitor\", \"recipe\": \"alertmanager\", "
      "\"secret_file\": \"hooks.secret\", \"to\": \"session:" DEMO_SESSION "\", "
      "\"level\": \"critical\"}]}}\n");
  char parent[24]; /* this process, with which the server ends */
  snprintf(parent, sizeof parent, "%d", (int)getpid());
  const char *const words[] = {"mcp-child", parent,   "tidings", "listen", "-c",
                               routes,      "--unix", path,      NULL};
  pid_t server = start_tidings(host, words);
  int fd = wait_for_server(path, server);
  snprintf(body, sizeof body,
           "{\"version\": \"4\", \"alerts\": [{\"status\": \"firing\", \"fingerprint\": \"f1\", "
           "\"startsAt\": \"2026-11-27T17:00:00Z\", \"labels\": {\"alertname\": \"Down\", "
           "\"severity\": \"critical\"}, \"annotations\": {\"summary\": \"%s\"}}]}",
           outage);
  if (fd < 0) {
    screen_note(&host->screen, "tidings-listen does not start on this machine: the message comes "
                               "by a push instead");
    if (demo_push_from_elsewhere(&host->folder, host->plugin, "alert.firing", "critical", outage))
      fail_reach("the push from another process failed");
  } else {
    if (!post(fd, body)) fail_reach("it was not answered with 200");
    close(fd);
    spawn_kill(server);
    note_pushed(host, outage);
  }
  free(routes);
  free(path);
}

static void webhook(struct demo_host *host) {
  screen_headline(&host->screen,
                  "reach: the session is idle; a webhook of the monitoring wakes it");
  screen_note(&host->screen, "tidings listen receives POST /hooks/monitor, with its secret, and "
                             "answers 200 when it is stored");
  receive_webhook(host);
  host_start_turn(host, host_sleep(host));
  host_assistant(host, "→ roll back: deployment 77");
  host_tool_result(host, "deploy", "Deployment 76 is live again.", ENDING_SETTLED);
  host_assistant(host, "Deployment 77 is rolled back; production answers.");
  hostkit_reply_free(host_event(host, "turn.finished", NULL));
}

/* -- the mailbox ------------------------------------------------------------------------------- */

static void push_to_box(const struct demo_host *host) {
  const char *const words[] = {"push", "--to",  "box:nightly", "-k", "backup.failed",
                               "-l",   "error", backup,        NULL};
  int status = 0;
  if (!spawn_wait(start_tidings(host, words), DEMO_TIMEOUT_MS, &status) || status)
    fail_reach("tidings push --to box:nightly failed");
  note_pushed(host, backup);
}

static void join_box(const struct demo_host *host) {
  struct tidings_error error = {.size = sizeof error};
  struct mailbox_moved moved = {0};
  struct address box = {.name = NULL};
  char *session = NULL;
  int32_t code = address_parse("box:nightly", "/", &box, &error);
  if (!code) code = mailbox_set_member(host->hostkit, &box, host->session, &error);
  if (!code) code = mailbox_forward(host->hostkit, &box, &session, &moved, &error);
  if (code) fail_reach(error.text);
  if (!session || moved.notifications != 1) fail_reach("the session has not collected the box");
  free(session);
  address_finish(&box);
}

static void mailbox(struct demo_host *host) {
  struct demo_host night = *host;
  screen_headline(&host->screen, "reach: what nobody can receive yet waits in a mailbox, and a "
                                 "session that starts later takes it over");
  screen_note(&host->screen, "the cron job pushes to box:nightly, which no session has joined");
  push_to_box(host);
  night.session = DEMO_LATER_SESSION;
  screen_note(&host->screen, "another session starts and joins box:nightly");
  hostkit_reply_free(
      host_event(&night, "session.opened",
                 json_pack("{s:s, s:s}", "cwd", host->folder.workspace, "host", "hostsim demo")));
  join_box(&night);
  host_chat_request(&night, "How was the night?");
  host_assistant(&night, "The backup failed for want of room. I look at the archive.");
}

void script_reach(struct demo_host *host) {
  webhook(host);
  mailbox(host);
}
