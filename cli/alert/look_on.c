/* SPDX-License-Identifier: MIT
 *
 * alert/look_on.c: it sleeps like `tidings tail -f` and only queries, so the session and its agent
 * do not notice it.
 */
#include "cli/alert/look_on.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/alert/changes.h"
#include "cli/alert/text.h"
#include "command/follow.h"
#include "command/interrupt.h"
#include "command/kit.h"
#include "command/paths.h"
#include "command/patience.h"
#include "command/print.h"
#include "command/session.h"
#include "command/terminal.h"
#include "common/clock.h"
#include "common/fnv.h"
#include "common/spawn.h"

/* -- showing it -------------------------------------------------------------------------------- */

enum { PATIENCE_MS = 5000 };

/* Shows the alert on the desktop. False: there is no desktop. */
static bool send_to_desktop(const char *summary, const char *body, bool urgent) {
  char *markup = alert_markup(body), printed[64];
  size_t len = 0;
  int status = 0;
  const char *const argv[] = {"notify-send",
                              "--app-name=tidings",
                              urgent ? "--urgency=critical" : "--urgency=normal",
                              "--",
                              summary,
                              markup,
                              NULL};
  bool sent = markup && !spawn_capture(argv, PATIENCE_MS, printed, sizeof printed, &len, &status) &&
              WIFEXITED(status) && WEXITSTATUS(status) == 0;
  free(markup);
  return sent;
}

/* Returns the descriptor of a terminal; -1: the path is no terminal. It does not wait for a stopped
 * terminal.
 */
static int open_terminal(const char *path) {
  int fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 || isatty(fd)) return fd;
  close(fd);
  return -1;
}

static int find_terminal(uint32_t owner) {
  static const char *const own[] = {"/proc/self/fd/2", "/proc/self/fd/1", "/dev/tty"};
  char path[64];
  int fd = -1;
  for (size_t i = 0; i < sizeof own / sizeof *own && fd < 0; i++) fd = open_terminal(own[i]);
  for (unsigned i = 1; owner && i <= 3 && fd < 0; i++) {
    (void)snprintf(path, sizeof path, "/proc/%u/fd/%u", owner, i % 3);
    fd = open_terminal(path);
  }
  return fd;
}

static bool send_to_terminal(const char *summary, const char *body, uint32_t owner) {
  char *sequence = alert_sequence(summary, body);
  int fd = sequence ? find_terminal(owner) : -1;
  void (*before)(int) = signal(SIGTTOU, SIG_IGN); /* otherwise the terminal may stop a process in
                                                     the background */
  bool sent = fd >= 0 && write(fd, sequence, strlen(sequence)) == (ssize_t)strlen(sequence);
  (void)signal(SIGTTOU, before);
  if (fd >= 0) close(fd);
  free(sequence);
  return sent;
}

/* Sends an alert, with `summary` and `body` from alert/text.h, to the desktop or to a terminal:
 * this process's terminal, or else the one to which the process `owner` prints. Returns whether it
 * was shown. */
static bool alert_send(const char *summary, const char *body, bool urgent, uint32_t owner) {
  return send_to_desktop(summary, body, urgent) || send_to_terminal(summary, body, owner);
}

/* -- one process alerts ------------------------------------------------------------------------ */

static uint64_t mix(uint64_t hash, const char *text) {
  return fnv_byte(fnv_span(hash, span_text(text)), 0xff);
}

/* Returns a session's place, which is one byte of a file. These bytes are only locked, never read
 * or written, so no place has to be removed. */
static struct flock place_of(const struct cli *cli, const char *session, uint32_t owner) {
  char *store = kit_store_path(cli);
  uint64_t hash = mix(mix(FNV_START ^ owner, store ? store : ""), session);
  free(store);
  return (struct flock){
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)(hash >> 2), .l_len = 1};
}

/* Opens the file of places, which other users cannot open. Returns a descriptor; -1: it cannot be
 * made. */
static int open_places(void) {
  char *folder = paths_in_home("XDG_STATE_HOME", ".local/state", "tidings/logs");
  char *path = folder && !paths_make_folders(folder) ? paths_join(folder, "alerts.lock") : NULL;
  int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
  free(path);
  free(folder);
  return fd;
}

/* Returns false if another process of this user has the place. *ret_fd holds the place until it is
 * closed; -1: it is not known who has it, but two alerts are better than none. */
static bool alert_take_place(const struct cli *cli, const char *session, uint32_t owner,
                             int *ret_fd) {
  struct flock place = place_of(cli, session, owner);
  int fd = open_places();
  bool free_or_unknown = fd < 0 || !fcntl(fd, F_OFD_SETLK, &place) || errno != EWOULDBLOCK;
  if (free_or_unknown) *ret_fd = fd;
  else close(fd);
  return free_or_unknown;
}

enum { LOOK_GAP_MS = 200, BLIND_MS = 60000 };
enum { EXIT_TIMED_OUT = EXIT_REFUSED };

struct looking {
  const struct cli *cli;
  const struct look_on *options;
  struct hostkit *kit;
  const char *session;
  uint32_t agent;
  int agent_fd; /* the agent's pidfd: readable when the agent has ended; -1: none */
  struct alert_watch watch;
  bool has_settings;
  json_t *status; /* the newest status */
  struct patience patience;
  int64_t look_again_ms; /* when to look again, after a failed look or without agent_fd; -1: neither
                            applies */
};

/* -- looking ----------------------------------------------------------------------------------- */

/* Reads which states the configuration names; without a configuration all count, except for a
 * process beside an agent, which only a configuration asks for. */
static int32_t read_settings(struct looking *looking, struct tidings_error *error) {
  json_t *answer = NULL;
  struct alert_settings *settings = &looking->watch.settings;
  int32_t code = kit_query(looking->kit, json_pack("{s:s}", "name", "configure"), &answer, error);
  if (code && looking->options->owner) return code;
  if (!code) {
    const json_t *alerts = json_object_get(json_object_get(answer, "config"), "alerts");
    *settings = (struct alert_settings){json_is_true(json_object_get(alerts, "idle")),
                                        json_is_true(json_object_get(alerts, "waiting")),
                                        json_is_true(json_object_get(alerts, "critical"))};
  }
  json_decref(answer);
  if (!settings->idle && !settings->waiting && !settings->critical)
    *settings = (struct alert_settings){true, true, true};
  looking->has_settings = true;
  return 0;
}

static const json_t *attachment(const struct looking *looking) {
  return json_object_get(looking->status, "attachment");
}

static uint32_t agent_of(const struct looking *looking) {
  return (uint32_t)json_value_count(attachment(looking), "pid");
}

/* *ret_gone: the session has lost its agent, or has another one. */
static int32_t look_at_session(struct looking *looking, bool *ret_gone,
                               struct tidings_error *error) {
  json_t *timeline = NULL, *status = NULL;
  int32_t code = kit_query(looking->kit,
                           json_pack("{s:s, s:s, s:s}", "name", "timeline", "session",
                                     looking->session, "after", alert_after(&looking->watch)),
                           &timeline, error);
  if (!code)
    code = kit_query(looking->kit,
                     json_pack("{s:s, s:s}", "name", "status", "session", looking->session),
                     &status, error);
  if (!code) {
    alert_look(&looking->watch, timeline, status, clock_mono_ms());
    json_decref(looking->status);
    looking->status = json_incref(status);
    uint32_t owner = looking->options->owner;
    *ret_gone = !json_is_true(json_object_get(attachment(looking), "alive")) ||
                (owner && agent_of(looking) != owner);
  }
  json_decref(timeline);
  json_decref(status);
  return code;
}

/* -- alerting ---------------------------------------------------------------------------------- */

static int print_as_json(const struct looking *looking, const struct alert *alert) {
  json_t *line = json_pack("{s:s, s:b, s:b, s:I}", "session", looking->session, "idle", alert->idle,
                           "waiting", alert->waiting, "critical", (json_int_t)alert->criticals);
  if (line && alert->first) json_object_set(line, "first", alert->first);
  char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
  json_decref(line);
  if (!text) return cli_fail(looking->cli, "out of memory");
  print_json_text(stdout, text);
  putchar('\n');
  free(text);
  return 0;
}

static void print_in_words(const struct alert *alert) {
  if (alert->waiting) puts("waiting");
  if (alert->idle) puts("idle");
  if (!alert->criticals) return;
  printf("critical %llu: ", (unsigned long long)alert->criticals);
  const char *message = json_value_text(alert->first, "message");
  terminal_bytes(stdout, message, strcspn(message, "\n"));
  putchar('\n');
}

static int alert_person(struct looking *looking, const struct alert *alert) {
  const struct cli *cli = looking->cli;
  char *body = alert_body(alert, looking->session, looking->status);
  int code = body ? 0 : cli_fail(cli, "out of memory");
  uint32_t owner = looking->options->owner ? looking->options->owner : agent_of(looking);
  bool urgent = alert->criticals || alert->waiting;
  if (!code && !alert_send(alert_summary(alert), body, urgent, owner) && !looking->options->goes_on)
    cli_warn(cli, "nobody was alerted: notify-send does not work, and there is no terminal");
  free(body);
  if (!code && cli->json) code = print_as_json(looking, alert);
  else if (!code) print_in_words(alert);
  if (!code && fflush(stdout))
    code = errno == EPIPE ? EXIT_PIPE : cli_fail(cli, "cannot print it: %s", strerror(errno));
  return code;
}

/* -- sleeping ---------------------------------------------------------------------------------- */

/* The earlier of two times; -1 stands for no time. */
static int64_t earlier(int64_t a, int64_t b) { return a < 0 || (b >= 0 && b < a) ? b : a; }

static int64_t how_long(const struct looking *looking) {
  int64_t now_ms = clock_mono_ms(), until_ms = alert_due_ms(&looking->watch);
  until_ms = earlier(until_ms, looking->look_again_ms);
  if (looking->options->limited) until_ms = earlier(until_ms, looking->options->until_ms);
  if (until_ms < 0) return -1;
  return until_ms > now_ms ? until_ms - now_ms : 0;
}

static bool has_agent_ended(const struct looking *looking) {
  struct pollfd ended = {.fd = looking->agent_fd, .events = POLLIN};
  return looking->agent_fd >= 0 && poll(&ended, 1, 0) > 0;
}

/* Watches the agent's process, because a killed agent writes nothing to the store. *ret_new: it is
 * a new process, which may have ended already. */
static void watch_agent(struct looking *looking, bool *ret_new) {
  uint32_t owner = looking->options->owner, agent = owner ? owner : agent_of(looking);
  bool is_here = agent && !json_value_text(attachment(looking), "machine")[0];
  *ret_new = false;
  if (looking->agent_fd >= 0 && looking->agent == agent) return;
  if (looking->agent_fd >= 0) close(looking->agent_fd);
  looking->agent_fd = is_here ? (int)syscall(SYS_pidfd_open, agent, 0) : -1;
  looking->agent = agent;
  *ret_new = looking->agent_fd >= 0;
}

static int without_agent(const struct looking *looking) {
  if (looking->options->goes_on) return EXIT_DONE;
  return cli_fail(looking->cli, "no agent runs session '%s'; nothing will happen in it",
                  looking->session);
}

/* Looks once. With `goes_on`, every error is treated as temporary. */
static int look_once(struct looking *looking, bool *ret_gone) {
  struct tidings_error error = {.size = sizeof error};
  int32_t code = looking->has_settings ? 0 : read_settings(looking, &error);
  bool is_new = false;
  do {
    if (!code) code = look_at_session(looking, ret_gone, &error);
    watch_agent(looking, &is_new);
  } while (!code && is_new);
  looking->look_again_ms = -1;
  if (code && looking->options->goes_on) code = TIDINGS_E_BUSY;
  int status = patience_store(looking->cli, &looking->patience, code, &error);
  if (code) looking->look_again_ms = looking->patience.due_ms;
  else if (looking->agent_fd < 0) looking->look_again_ms = clock_mono_ms() + BLIND_MS;
  return status;
}

/* Sleeps. Returns 0 or an errno. Does not return only because the pause after many writes has
 * ended. */
static int sleep_on(const struct looking *looking, struct follow *follow, unsigned *ret_woke) {
  int wrong = 0;
  do {
    wrong = follow_sleep(follow, looking->agent_fd, how_long(looking), ret_woke);
  } while (!wrong && !*ret_woke && how_long(looking) != 0);
  return wrong;
}

static int look_and_alert(struct looking *looking, struct follow *follow) {
  for (unsigned woke = 0;;) {
    struct alert alert;
    bool gone = false;
    int code = look_once(looking, &gone);
    if (code) return code;
    if (gone || has_agent_ended(looking)) return without_agent(looking);
    bool said = alert_take(&looking->watch, clock_mono_ms(), &alert);
    if (said) {
      code = alert_person(looking, &alert);
      alert_finish(&alert);
    }
    if (code || (said && !looking->options->goes_on)) return code;
    if (looking->options->limited && clock_mono_ms() >= looking->options->until_ms)
      return EXIT_TIMED_OUT;
    follow->pace_ms = LOOK_GAP_MS + looking->patience.pause_ms;
    int wrong = sleep_on(looking, follow, &woke);
    if (wrong) return cli_fail(looking->cli, "cannot wait: %s", strerror(wrong));
    if (woke & FOLLOW_OVER) return interrupt_exit_code();
    if (woke & FOLLOW_GONE) return follow_say_gone(follow);
  }
}

static int begin(struct looking *looking) {
  struct follow follow;
  int place = -1, code = follow_begin(looking->cli, &follow);
  uint32_t owner = looking->options->owner;
  if (code) return code;
  if (!owner || alert_take_place(looking->cli, looking->session, owner, &place))
    code = look_and_alert(looking, &follow);
  follow_end(&follow);
  if (place >= 0) close(place);
  if (looking->agent_fd >= 0) close(looking->agent_fd);
  return code;
}

int alert_look_on(struct cli *cli, const struct look_on *look_on) {
  struct looking looking = {.cli = cli, .options = look_on, .agent_fd = -1};
  char *session = NULL;
  looking.watch.goes_on = look_on->goes_on;
  if (look_on->owner) cli->create = true; /* the session may not be stored yet */
  int code = session_open(cli, &looking.kit, &session);
  if (code) return code;
  looking.session = session;
  code = begin(&looking);
  alert_finish(&looking.watch.next);
  json_decref(looking.status);
  kit_close(looking.kit);
  free(session);
  return code;
}
