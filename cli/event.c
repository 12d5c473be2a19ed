/* SPDX-License-Identifier: MIT
 *
 * event.c: `tidings event`: sends any event, and prints the reply.
 */
#include <stdlib.h>

#include "cli/event_text.h"
#include "cli/verbs.h"
#include "command/host.h"
#include "command/print.h"
#include "command/session.h"

enum { OPTION_AS_HOST = CLI_LONG_ONLY, OPTION_ACTIONS };

static int event_verb(struct cli *cli) {
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  struct hostkit *kit = NULL;
  char *text = NULL, *session = NULL;
  uint32_t owner = 0;
  bool as_host = false, actions = false;
  int code = 0;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case OPTION_AS_HOST: as_host = true; break;
    case OPTION_ACTIONS: actions = true; break;
    case OPTION_OWNER:
      as_host = true;
      if ((code = host_read_owner(cli, &owner))) return code;
      break;
    default: return cli->exit_code;
    }
  }
  if (cli->print_session) return session_print(cli);
  code = cli_take_words(cli, 0, 0, "");
  if (!code && actions && cli->json)
    code = cli_usage(cli, "--actions and --json exclude each other");
  if (!code) code = event_text_read(cli, &text, &session);
  if (!code) code = event_text_open(cli, as_host, owner, &text, session, &kit);
  if (!code) {
    int32_t refused = event_text_send(kit, text, &reply, &error);
    if (refused) code = cli_fail_with(cli, refused, &error);
    else if (actions) print_actions(reply);
    else code = print_reply(cli, reply);
    if (refused == TIDINGS_E_UNSUPPORTED && !as_host)
      (void)cli_fail(cli, "if this script is the session's host, add --as-host");
  }
  hostkit_reply_free(reply);
  kit_close(kit);
  free(text);
  free(session);
  return code;
}

const struct cli_verb verb_event = {
    .name = "event",
    .usage = "[OPTION]... < EVENT",
    .summary = "send any event and print the reply",
    .help = "Reads one CloudEvents object from stdin, sends it and prints the reply "
            "as JSON: the session's status, the actions, and when to wake. If the "
            "event names no session, the session is added.\n\n"
            "Any process may push, submit, report, and ask with turn.stop that a turn ends. "
            "Only the session's host may send other events of turns, of streams and of the "
            "session itself. With "
            "--as-host the calling script is the host, and it owns the session as "
            "long as it runs.",
    .with = WITH_SESSION | WITH_CREATE | WITH_STORE | WITH_CONFIG | WITH_JSON,
    .options =
        (const struct cli_option[]){
            {.key = OPTION_AS_HOST, .name = "as-host", .help = "Send it as the session's host."},
            {.key = OPTION_ACTIONS,
             .name = "actions",
             .help = "Print only the actions that are due, as 'tidings wait' does; print "
                     "nothing if there are none."},
            HOST_OWNER_OPTION,
            {.name = NULL},
        },
    .run = event_verb,
    .examples =
        (const struct cli_example[]){
            {"echo '{\"type\": \"session.opened\", \"session\": \"s\", \"data\": {\"cwd\": "
             "\"'\"$PWD\"'\"}}' | tidings event --as-host",
             "A script opens a session."},
            {"echo '{\"type\": \"handle.polled\", \"data\": {\"handle\": \"make-3f9a2c\"}}' | "
             "tidings event",
             "The model polled this handle itself, so it needs no notification."},
            {NULL, NULL}},
};
