/* SPDX-License-Identifier: MIT
 *
 * wait.c: `tidings wait`: sleeps until the session must act, and prints its actions.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/alert/look_on.h"
#include "cli/verbs.h"
#include "command/host.h"
#include "command/interrupt.h"
#include "command/patience.h"
#include "command/print.h"
#include "common/clock.h"

enum { OPTION_TIMEOUT = CLI_LONG_ONLY, OPTION_ALERT };
enum { LONGEST_SLEEP_MS = 60000, RETRY_MS = 100, EXIT_TIMED_OUT = EXIT_REFUSED };

struct waiting {
  const struct cli *cli;
  struct hostkit *kit;
  const char *session;
  uint32_t owner;           /* the process that waits: the script */
  int fd;                   /* the wake descriptor; -1: there is none, and only wake_at counts */
  int alarm;                /* readable at wake_at_ms; -1: there is none */
  bool limited;             /* is there a timeout? */
  int64_t until_ms;         /* end of the timeout, monotonic clock */
  int64_t wake_at_ms;       /* wall clock; 0: none */
  struct patience patience; /* for a lost store */
  bool opened;
  bool done;  /* there was an action */
  int status; /* the exit code of printing the action */
};

/* -- asking and sleeping ----------------------------------------------------------------------- */

/* Takes all sessions that rang, so that the descriptor is not readable until a session rings again.
 */
static int32_t drain(const struct waiting *waiting, struct tidings_error *error) {
  char session[256];
  size_t len = 0;
  do {
    int32_t code = hostkit_next_session(waiting->kit, session, sizeof session, &len, error);
    if (code) return code == TIDINGS_E_UNSUPPORTED ? TIDINGS_OK : code;
  } while (len);
  return TIDINGS_OK;
}

/* Sends the session an event and prints its actions. *ret_reported: false when the store is busy.
 */
static int32_t report_to_store(struct waiting *waiting, const char *type, json_t *data,
                               bool *ret_reported, struct tidings_error *error) {
  struct tidings_reply *reply = NULL;
  int32_t code =
      kit_event(waiting->kit, kit_new_event(type, waiting->session, data), &reply, error);
  if (code == TIDINGS_E_BUSY) {
    waiting->wake_at_ms = clock_wall_ms() + RETRY_MS;
    *ret_reported = false;
    return TIDINGS_OK;
  }
  if (code) return code;
  waiting->wake_at_ms = reply ? reply->wake_at_ms : 0;
  *ret_reported = true;
  if (reply && reply->action_count) {
    if (waiting->cli->json) waiting->status = print_reply(waiting->cli, reply);
    else print_actions(reply);
    waiting->done = true;
  }
  hostkit_reply_free(reply);
  return TIDINGS_OK;
}

/* Makes the event that opens the session again, with its current folder and host. */
static int32_t opening(const struct waiting *waiting, json_t **ret_data,
                       struct tidings_error *error) {
  json_t *status = NULL;
  int32_t code = kit_query(waiting->kit,
                           json_pack("{s:s, s:s}", "name", "status", "session", waiting->session),
                           &status, error);
  if (code) return code;
  const json_t *owner = json_object_get(status, "attachment");
  json_t *data = json_object();
  if (data && json_value_text(owner, "cwd")[0])
    json_object_set(data, "cwd", json_object_get(owner, "cwd"));
  if (data && json_value_text(owner, "host")[0])
    json_object_set(data, "host", json_object_get(owner, "host"));
  json_decref(status);
  if (!data) return kit_no_memory(error);
  *ret_data = data;
  return TIDINGS_OK;
}

/* Asks the session for a turn after a wake signal. A message that was queued before sends no
 * signal; it is offered when a host opens the session. */
static int32_t ask_for_turn(struct waiting *waiting, struct tidings_error *error) {
  json_t *data = NULL;
  bool reported = false;
  int32_t code = report_to_store(waiting, "wake", json_object(), &reported, error);
  if (code || waiting->done || !reported || waiting->opened) return code;
  code = opening(waiting, &data, error);
  if (!code) code = report_to_store(waiting, "session.opened", data, &waiting->opened, error);
  return code;
}

static int sleep_ms(const struct waiting *waiting) {
  int64_t sleep = LONGEST_SLEEP_MS;
  if (waiting->wake_at_ms) {
    int64_t left = waiting->wake_at_ms - clock_wall_ms();
    sleep = left < sleep ? left : sleep;
  }
  if (waiting->limited) {
    int64_t left = waiting->until_ms - clock_mono_ms();
    sleep = left < sleep ? left : sleep;
  }
  return sleep > 0 ? (int)sleep : 0;
}

/* Waits for an action. While the store is lost, nothing shortens the pause. */
static int wait_for_it(struct waiting *waiting) {
  for (;;) {
    struct tidings_error error = {.size = sizeof error};
    int32_t refused = drain(waiting, &error);
    if (!refused) refused = ask_for_turn(waiting, &error);
    int code = patience_store(waiting->cli, &waiting->patience, refused, &error);
    if (code || waiting->done) return code ? code : waiting->status;
    if (refused) waiting->wake_at_ms = clock_wall_ms() + waiting->patience.pause_ms;
    if (waiting->limited && clock_mono_ms() >= waiting->until_ms) return EXIT_TIMED_OUT;
    struct pollfd rings[] = {{.fd = refused ? -1 : waiting->fd, .events = POLLIN},
                             {.fd = waiting->alarm, .events = POLLIN}};
    clock_alarm_set(waiting->alarm, waiting->wake_at_ms);
    if (interrupt_poll(rings, 2, sleep_ms(waiting)) < 0 && errno != EINTR)
      return cli_fail(waiting->cli, "cannot wait: %s", strerror(errno));
    if (interrupt_seen()) return 128 + interrupt_seen();
  }
}

static int start(struct waiting *waiting) {
  struct tidings_error error = {.size = sizeof error};
  int32_t fd = -1;
  interrupt_begin();
  int32_t code = hostkit_wake_descriptor(waiting->kit, &fd, &error);
  if (code == TIDINGS_E_FULL)
    cli_warn(waiting->cli, "%s", error.text); /* without the descriptor it is slower, but works */
  else if (code) return cli_fail_with(waiting->cli, code, &error);
  waiting->fd = code ? -1 : fd;
  waiting->alarm = clock_alarm_open();
  int status = wait_for_it(waiting);
  if (waiting->alarm >= 0) close(waiting->alarm);
  if (waiting->fd >= 0) close(waiting->fd);
  return status;
}

static int wait_verb(struct cli *cli) {
  struct waiting waiting = {.cli = cli, .fd = -1, .alarm = -1};
  uint64_t timeout_ms = 0;
  bool alerts = false, goes_on = false;
  char *session = NULL;
  int code = 0;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case OPTION_TIMEOUT:
      if (cli_duration(cli->value, &timeout_ms))
        return cli_usage(cli, "--timeout: '%s' is not a duration; expected one such as 30s or 10m",
                         cli->value);
      waiting.limited = true;
      waiting.until_ms = clock_mono_ms() + (int64_t)timeout_ms;
      break;
    case OPTION_ALERT: alerts = true; break;
    case 'f': goes_on = true; break;
    case OPTION_OWNER:
      if ((code = host_read_owner(cli, &waiting.owner))) return code;
      break;
    default: return cli->exit_code;
    }
  }
  code = cli_take_words(cli, 0, 0, "");
  if (!code && goes_on && !alerts) code = cli_usage(cli, "--follow: goes with --alert only");
  const struct look_on look_on = {goes_on, waiting.owner, waiting.limited, waiting.until_ms};
  if (!code && alerts) return alert_look_on(cli, &look_on);
  if (!code) code = host_open(cli, NULL, &waiting.owner, &waiting.kit, &session);
  if (code) return code;
  waiting.session = session;
  code = start(&waiting);
  kit_close(waiting.kit);
  free(session);
  return code;
}

const struct cli_verb verb_wait = {
    .name = "wait",
    .usage = "[OPTION]...",
    .summary = "sleep until the session has to act, and print the action",
    .help = "For scripted agents. Sleeps until a session of the calling script has "
            "to start a turn or stop a stream, prints the action and exits with 0. "
            "It prints 'start_turn ID' for each message of the turn, "
            "'abort_stream' or 'stop_turn'. The message's content follows for people: "
            "indented, and with control characters made visible. With --json it prints the whole "
            "reply, which has the content as it is: a script takes it from there. "
            "After the timeout, the exit code is 1.\n\n"
            "The script that gets a start_turn has to start it: 'tidings deliver "
            "--at chat-request --message ID' delivers the message and the pending "
            "notifications. If a later event leads to an action, the reply to that "
            "event has it: 'tidings event --actions' prints it in the same form. A "
            "turn that was declined is offered again to the next wait.\n\n"
            "A session that another running program owns is refused, because that "
            "program gets the actions itself.\n\n"
            "With --alert it is for people, and looks on at a session of any agent: it sleeps "
            "until the session is idle, waits for a person, or gets a critical notification, "
            "alerts on the desktop by notify-send, or else on the terminal by the sequence OSC 9, "
            "prints 'idle', 'waiting' or 'critical N: MESSAGE', and exits with 0. If the "
            "configuration has alerts, it waits for those only. With --follow it goes on until "
            "the agent has ended.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON,
    .options =
        (const struct cli_option[]){
            {.key = OPTION_TIMEOUT,
             .name = "timeout",
             .argument = "DURATION",
             .help = "Give up after 30s, 10m, ...; 0 checks once without waiting."},
            {.key = OPTION_ALERT,
             .name = "alert",
             .help = "Alert a person when the session is idle, waits for a person, or gets a "
                     "critical notification."},
            {.key = 'f',
             .name = "follow",
             .help = "With --alert: go on, and alert of each change, until the agent has ended. "
                     "With --owner too it is the only such process of the session, and ends at "
                     "once if there is one."},
            HOST_OWNER_OPTION,
            {.name = NULL},
        },
    .run = wait_verb,
    .examples =
        (const struct cli_example[]){
            {"tidings wait -s my-session --timeout 10m", "Wait for the next action."},
            {"tidings wait --alert", "Tell me when the agent in this folder is done or "
                                     "needs me."},
            {NULL, NULL}},
};
