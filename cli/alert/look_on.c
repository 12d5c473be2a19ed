/* SPDX-License-Identifier: MIT
 *
 * alert/look_on.c: see the header. It sleeps as `tidings tail -f` does, and asks queries: the
 * session and its agent do not notice it.
 */
#include "cli/alert/look_on.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/alert/changes.h"
#include "cli/alert/send.h"
#include "cli/alert/text.h"
#include "command/follow.h"
#include "command/interrupt.h"
#include "command/kit.h"
#include "command/print.h"
#include "command/session.h"
#include "command/terminal.h"
#include "common/clock.h"

enum { LOOK_GAP_MS = 200, TRY_AGAIN_MS = 5000 };
enum { EXIT_TIMED_OUT = EXIT_REFUSED };

struct looking {
  const struct cli *cli;
  const struct look_on *options;
  struct hostkit *kit;
  const char *session;
  int agent_fd; /* a pidfd: readable when the agent has ended; -1: none */
  struct alert_watch watch;
  json_t *status;        /* of the newest look */
  int64_t next_look_ms;  /* not before */
  int64_t look_again_ms; /* a look failed; 0: it did not */
};

/* -- one process a session --------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const char *text) { /* FNV-1a */
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
  return (hash ^ 0xff) * 0x100000001b3u;
}

/* A name in the kernel that goes with the process. Returns the descriptor; -1: another has it. */
static int take_place(const struct looking *looking) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  char *store = kit_store_path(looking->cli);
  uint64_t hash = mix(mix(0xcbf29ce484222325u, store ? store : ""), looking->session);
  free(store);
  int len = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "tidings-alert-%u-%u-%016llx",
                     (unsigned)getuid(), looking->options->owner, (unsigned long long)hash);
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
  if (fd >= 0 && bind(fd, (struct sockaddr *)&name, size) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

/* -- looking ----------------------------------------------------------------------------------- */

/* What the configuration names, or everything. */
static void read_wishes(struct looking *looking) {
  json_t *answer = NULL;
  struct alert_wishes *wishes = &looking->watch.wishes;
  if (!kit_query(looking->kit, json_pack("{s:s}", "name", "configure"), &answer, NULL)) {
    const json_t *alerts = json_object_get(json_object_get(answer, "config"), "alerts");
    *wishes = (struct alert_wishes){json_is_true(json_object_get(alerts, "idle")),
                                    json_is_true(json_object_get(alerts, "waiting")),
                                    json_is_true(json_object_get(alerts, "critical"))};
  }
  json_decref(answer);
  if (!wishes->idle && !wishes->waiting && !wishes->critical)
    *wishes = (struct alert_wishes){true, true, true};
}

static uint32_t agent_of(const struct looking *looking) {
  return (uint32_t)json_value_count(json_object_get(looking->status, "attachment"), "pid");
}

/* *ret_gone: the session has no agent, or another one. */
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
    *ret_gone = !json_is_true(json_object_get(json_object_get(status, "attachment"), "alive")) ||
                (owner && agent_of(looking) != owner);
  }
  json_decref(timeline);
  json_decref(status);
  return code;
}

/* -- alerting -----------------------------------------------------------------------------------
 */

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
  if (!code && fflush(stdout)) code = cli_fail(cli, "cannot print it: %s", strerror(errno));
  return code;
}

/* -- sleeping ---------------------------------------------------------------------------------- */

static int how_long(const struct looking *looking) {
  int64_t now_ms = clock_mono_ms(), until_ms = alert_due_ms(&looking->watch);
  if (looking->look_again_ms) until_ms = looking->look_again_ms;
  if (looking->options->limited && (until_ms < 0 || looking->options->until_ms < until_ms))
    until_ms = looking->options->until_ms;
  if (until_ms < 0) return -1;
  return until_ms > now_ms ? (int)(until_ms - now_ms) : 0;
}

/* Of many writes, few are looked at. */
static void keep_pace(struct looking *looking) {
  int64_t now_ms = clock_mono_ms();
  if (looking->next_look_ms > now_ms)
    (void)interrupt_poll(NULL, 0, (int)(looking->next_look_ms - now_ms));
  looking->next_look_ms = clock_mono_ms() + LOOK_GAP_MS;
}

static bool has_agent_ended(const struct looking *looking) {
  struct pollfd ended = {.fd = looking->agent_fd, .events = POLLIN};
  return looking->agent_fd >= 0 && poll(&ended, 1, 0) > 0;
}

static int without_agent(const struct looking *looking) {
  if (looking->options->goes_on) return EXIT_DONE;
  return cli_fail(looking->cli, "no agent runs session '%s'; nothing will happen in it",
                  looking->session);
}

/* Who goes on outlives a store that cannot be asked for a while. */
static int look_once(struct looking *looking, bool *ret_gone) {
  struct tidings_error error = {.size = sizeof error};
  int32_t code = look_at_session(looking, ret_gone, &error);
  looking->look_again_ms = code ? clock_mono_ms() + TRY_AGAIN_MS : 0;
  return code && !looking->options->goes_on ? cli_fail_with(looking->cli, code, &error) : 0;
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
    int wrong = follow_sleep(follow, looking->agent_fd, how_long(looking), &woke);
    if (wrong) return cli_fail(looking->cli, "cannot wait: %s", strerror(wrong));
    if (woke & FOLLOW_OVER) return interrupt_exit_code();
    keep_pace(looking);
  }
}

static int begin(struct looking *looking) {
  struct follow follow;
  int place = -1, code = follow_begin(looking->cli, &follow);
  if (code) return code;
  uint32_t owner = looking->options->owner;
  if (owner && (place = take_place(looking)) < 0) goto out; /* there is one already */
  if (owner) looking->agent_fd = (int)syscall(SYS_pidfd_open, owner, 0);
  read_wishes(looking);
  code = look_and_alert(looking, &follow);
out:
  follow_end(&follow);
  if (place >= 0) close(place);
  if (looking->agent_fd >= 0) close(looking->agent_fd);
  return code;
}

int alert_look_on(struct cli *cli, const struct look_on *look_on) {
  struct looking looking = {.cli = cli, .options = look_on, .agent_fd = -1};
  char *session = NULL;
  looking.watch.goes_on = look_on->goes_on;
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
