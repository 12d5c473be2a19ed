/* SPDX-License-Identifier: MIT
 *
 * remind.c: `tidings remind`: a notification for later, which starts a turn if the session is idle
 * then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/wait/wakes.h"
#include "cli/event_message.h"
#include "cli/verbs.h"
#include "command/destination.h"
#include "command/due.h"
#include "command/print.h"
#include "command/session.h"
#include "command/show.h"

enum { OPTION_IN = CLI_LONG_ONLY, OPTION_AT, OPTION_KEY };

struct reminder {
  const char *in, *at, *key;
  int64_t due_ms;
};

static json_t *make_reminder(const char *session, const struct reminder *reminder,
                             const char *message) {
  json_t *data = json_pack("{s:s, s:s, s:s, s:s*}", "kind", "timer.reminder", "message", message,
                           "activation", "idle", "key", reminder->key);
  if (data && reminder->due_ms)
    json_object_set_new(data, "due_at", json_integer((json_int_t)reminder->due_ms));
  return kit_new_event("notification", session, data);
}

static void print_when(const struct reminder *reminder) {
  if (!reminder->due_ms) return;
  fputs("reminds at ", stdout);
  show_moment(reminder->due_ms);
  putchar('\n');
}

static int send_reminder(const struct cli *cli, const struct reminder *reminder,
                         const struct destination *destination, const char *message) {
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  const char *session = destination->session;
  char *asleep = hook_wakes_ask(cli, destination->kit, session);
  int32_t refused =
      kit_event(destination->kit, make_reminder(session, reminder, message), &reply, &error);
  if (refused) {
    free(asleep);
    return cli_fail_with(cli, refused, &error);
  }
  hook_wakes_say(cli, asleep, "if it idles then, it reads this with the next prompt");
  int code = cli->json ? print_reply_of(cli, session, NULL, reply) : 0;
  if (!cli->json) print_when(reminder);
  hostkit_reply_free(reply);
  return code;
}

static int remind_verb(struct cli *cli) {
  struct destination destination = {.kit = NULL};
  struct reminder reminder = {.in = NULL};
  char *message = NULL;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case OPTION_IN: reminder.in = cli->value; break;
    case OPTION_AT: reminder.at = cli->value; break;
    case OPTION_KEY: reminder.key = cli->value; break;
    default: return cli->exit_code;
    }
  }
  if (cli->print_session) return session_print(cli);
  if (!reminder.in && !reminder.at)
    return cli_usage(cli, "--in=DURATION or --at=TIME is missing: when?");
  int code = due_read(cli, reminder.in, reminder.at, &reminder.due_ms);
  if (!code) code = cli_take_words(cli, 1, 1, "what to be reminded of is");
  if (!code) code = event_message_read(cli, cli->words[0], &message);
  if (!code) code = destination_open(cli, &destination);
  if (!code) code = send_reminder(cli, &reminder, &destination, message);
  if (!code) code = destination_sent(cli, &destination);
  destination_close(&destination);
  free(message);
  return code;
}

const struct cli_verb verb_remind = {
    .name = "remind",
    .usage = "--in=DURATION|--at=TIME [OPTION]... TEXT|-",
    .summary = "notify a session later",
    .help = "Stores a notification that the model does not see before its time. If the session "
            "is idle then, and its agent can be woken, it starts a turn; else it goes with the "
            "next tool result or prompt. Nothing has to run in between: the time is kept in the "
            "store, and whoever waits for the session sees it. 'tidings pending' lists what "
            "waits.",
    .with = WITH_SESSION | WITH_CREATE | WITH_STORE | WITH_CONFIG | WITH_JSON,
    .options =
        (const struct cli_option[]){
            DUE_IN_OPTION("Remind"),
            DUE_AT_OPTION("Remind"),
            {.key = OPTION_KEY,
             .name = "key",
             .argument = "KEY",
             .help = "Replaces an older reminder with this key that was not delivered yet, "
                     "also one that is not due."},
            {.name = NULL},
        },
    .run = remind_verb,
    .examples =
        (const struct cli_example[]){
            {"tidings remind --in 20m 'Look at the CI of #41.'",
             "Come back to something that takes a while."},
            {"tidings remind --at 17:00 --to folder:. 'Stop the test servers.'",
             "Remind whoever works in this folder at five."},
            {NULL, NULL}},
};
