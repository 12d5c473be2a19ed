/* SPDX-License-Identifier: MIT
 *
 * stop.c: `tidings stop`: asks the session's host to end the running turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/hosts/hosts.h"
#include "cli/verbs.h"
#include "command/ask.h"
#include "command/kit.h"
#include "command/print.h"
#include "command/session.h"
#include "host_lists.h"

static bool turn_is_there(const json_t *status) {
  const char *state = json_value_text(status, "state");
  return strcmp(state, "idle") != 0 && strcmp(state, "error") != 0;
}

/* Names the turn that the status showed, so that no newer one is stopped. */
static json_t *stop_data(const json_t *status) {
  json_t *messages = json_object_get(status, "messages");
  json_t *data = json_object();
  if (data && json_array_size(messages)) json_object_set(data, "messages", messages);
  return data;
}

static void say_asked(const struct cli *cli, const json_t *status) {
  const json_t *owner = json_object_get(status, "attachment");
  const char *host = json_value_text(owner, "host");
  bool offered = strcmp(json_value_text(status, "state"), "starting") == 0;
  cli_warn(cli, "%s (pid %llu) is asked to end the turn%s", host[0] ? host : "the host",
           (unsigned long long)json_value_count(owner, "pid"),
           offered ? " when it begins; 'tidings queue cancel ID' takes its message back" : "");
}

static const char *unable_host(const json_t *status) {
  const char *name = json_value_text(json_object_get(status, "attachment"), "host");
  for (size_t i = 0; i < host_count; i++) {
    if (strcmp(hosts[i]->title, name) == 0 && hosts[i]->kind == HOST_HOOKS && !hosts[i]->stops)
      return hosts[i]->title;
  }
  return NULL;
}

static int send_stop(const struct cli *cli, struct hostkit *kit, const char *session,
                     const json_t *status) {
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  bool alive = json_is_true(json_object_get(json_object_get(status, "attachment"), "alive"));
  if (!alive && turn_is_there(status))
    return cli_fail(cli, "no running host has session '%s': nothing of it runs", session);
  if (unable_host(status) && turn_is_there(status))
    return cli_fail(cli, "%s has no way to end its turn for tidings; a person can, with Escape",
                    unable_host(status));
  int32_t refused =
      kit_event(kit, kit_new_event("turn.stop", session, stop_data(status)), &reply, &error);
  if (refused) return cli_fail_with(cli, refused, &error);
  int code = cli->json ? print_reply_of(cli, session, NULL, reply) : 0;
  hostkit_reply_free(reply);
  if (cli->json) return code;
  if (turn_is_there(status)) say_asked(cli, status);
  else cli_warn(cli, "no turn runs in session '%s'", session);
  return 0;
}

static int stop_verb(struct cli *cli) {
  struct hostkit *kit = NULL;
  char *session = NULL;
  json_t *status = NULL;
  if (cli_next(cli) != CLI_END) return cli->exit_code;
  int code = cli_take_words(cli, 0, 0, "");
  if (!code) code = session_open(cli, &kit, &session);
  if (code) return code;
  code = ask(cli, kit, json_pack("{s:s, s:s}", "name", "status", "session", session), &status);
  if (!code) code = send_stop(cli, kit, session, status);
  json_decref(status);
  kit_close(kit);
  free(session);
  return code;
}

const struct cli_verb verb_stop = {
    .name = "stop",
    .usage = "[OPTION]...",
    .summary = "ask the agent to end its turn",
    .help =
        "Asks the host of a session to end the turn that runs: the model's answer and the tools "
        "that run are stopped. Only the turn ends: a message that waits starts the next one, "
        "and a message that is submitted after this command is among those. To end "
        "everything, clear the queue first ('tidings queue clear').\n\n"
        "The host does it as soon as it can; 'tidings status' shows whether it "
        "has. " HOSTS_THAT_STOP " end the turn after the tool that runs. For " HOSTS_UNSTOPPED
        ", which have no way to do it, this is an error. If no turn runs, nothing happens, and the "
        "exit code is 0.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON | NEEDS_STORE,
    .run = stop_verb,
    .examples =
        (const struct cli_example[]){{"tidings stop", "End the turn of this folder's agent."},
                                     {"tidings stop && tidings submit 'Use the other "
                                      "branch.'",
                                      "End it, and start a turn with this."},
                                     {NULL, NULL}},
};
