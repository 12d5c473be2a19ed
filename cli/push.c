/* SPDX-License-Identifier: MIT
 *
 * push.c: `tidings push`: one notification.
 */
#include <stdlib.h>
#include <string.h>

#include "agents/wait/wakes.h"
#include "cli/event_message.h"
#include "cli/event_text.h"
#include "cli/verbs.h"
#include "command/destination.h"
#include "command/due.h"
#include "command/json_value.h"
#include "command/print.h"
#include "command/session.h"
#include "common/utf8.h"

enum {
  OPTION_KEY = CLI_LONG_ONLY,
  OPTION_TTL,
  OPTION_TOOL,
  OPTION_ACTIVATE,
  OPTION_EVENT,
  OPTION_DATA,
  OPTION_ID,
  OPTION_IN,
  OPTION_AT
};

static const char *const levels[] = {"info", "warning", "error", "critical", NULL};
static const char *const activations[] = {"passive", "idle", "interrupt", "silent", NULL};

struct request {
  const char *kind, *level, *key, *tool, *activation, *id, *data, *in, *at;
  uint64_t ttl_ms; /* 0: not given */
  int64_t due_ms;  /* 0: not given */
  bool event, any; /* any: an option was given that --event excludes */
};

static int read_push_option(struct cli *cli, int key, struct request *request) {
  request->any = request->any || key != OPTION_EVENT;
  switch (key) {
  case 'k': request->kind = cli->value; return 0;
  case 'l':
    request->level = cli->value;
    if (cli_word(cli->value, levels) >= 0) return 0;
    return cli_usage(cli, "--level: '%s' is not one of info, warning, error, critical", cli->value);
  case OPTION_KEY: request->key = cli->value; return 0;
  case OPTION_TOOL: request->tool = cli->value; return 0;
  case OPTION_ID: request->id = cli->value; return 0;
  case OPTION_DATA: request->data = cli->value; return 0;
  case OPTION_EVENT: request->event = true; return 0;
  case OPTION_IN: request->in = cli->value; return 0;
  case OPTION_AT: request->at = cli->value; return 0;
  case OPTION_ACTIVATE:
    request->activation = cli->value;
    if (cli_word(cli->value, activations) >= 0) return 0;
    return cli_usage(cli, "--activate: '%s' is not one of passive, idle, interrupt, silent",
                     cli->value);
  case OPTION_TTL:
    if (!cli_duration(cli->value, &request->ttl_ms) && request->ttl_ms) return 0;
    return cli_usage(cli, "--ttl: '%s' is not a duration; expected one such as 30s, 10m or 2h",
                     cli->value);
  default: return cli->exit_code;
  }
}

/* `text` NULL: the option was not given. Returns 0, or the exit code. */
static int set(const struct cli *cli, json_t *object, const char *name, const char *option,
               const char *text) {
  if (!text) return 0;
  if (!utf8_valid(span_text(text)))
    return cli_usage(cli, "%s: '%s' is not UTF-8; expected text", option, text);
  return json_object_set_new(object, name, json_string(text)) ? cli_fail(cli, "out of memory") : 0;
}

static int set_texts(const struct cli *cli, const struct request *request, const char *message,
                     json_t *data) {
  int code = set(cli, data, "kind", "--kind", request->kind ? request->kind : "cli.note");
  if (!code) code = set(cli, data, "message", "the message", message);
  if (!code) code = set(cli, data, "level", "--level", request->level);
  if (!code) code = set(cli, data, "key", "--key", request->key);
  if (!code) code = set(cli, data, "tool", "--tool", request->tool);
  return code ? code : set(cli, data, "activation", "--activate", request->activation);
}

static int make_event(const struct cli *cli, const struct request *request, const char *session,
                      const char *message, json_t **ret_event) {
  static const struct json_rules rules = {.max_depth = 64};
  struct tidings_error error = {.size = sizeof error};
  json_t *extra = NULL;
  if (request->data && json_value_read(&rules, span_text(request->data), "--data", &extra, &error))
    return cli_usage(cli, "%s", error.text);
  if (request->data && !json_is_object(extra)) {
    json_decref(extra);
    return cli_usage(cli, "--data: '%s' is not a JSON object", request->data);
  }
  json_t *data = json_object(), *event = NULL;
  int code = set_texts(cli, request, message, data);
  if (!code && request->ttl_ms)
    json_object_set_new(data, "ttl_ms", json_integer((json_int_t)request->ttl_ms));
  if (!code && request->due_ms)
    json_object_set_new(data, "due_at", json_integer((json_int_t)request->due_ms));
  if (extra) json_object_set_new(data, "data", extra);
  if (code) json_decref(data);
  else if (!(event = kit_new_event("notification", session, data)))
    code = cli_fail(cli, "out of memory");
  if (!code) code = set(cli, event, "id", "--id", request->id);
  if (code) {
    json_decref(event);
    return code;
  }
  *ret_event = event;
  return 0;
}

/* Does the notification ask for a turn of its own? */
static bool is_urgent(const struct request *request) {
  if (request->activation && strcmp(request->activation, "silent") == 0) return false;
  return (request->level && strcmp(request->level, "critical") == 0) ||
         (request->activation && strcmp(request->activation, "passive") != 0);
}

static int send_notification(const struct cli *cli, const struct request *request,
                             struct hostkit *kit, const char *session, const char *message) {
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  json_t *event = NULL;
  int code = make_event(cli, request, session, message, &event);
  if (code) return code;
  char *asleep = is_urgent(request) ? hook_wakes_ask(cli, kit, session) : NULL;
  int32_t refused = kit_event(kit, event, &reply, &error);
  hook_wakes_say(cli, refused ? NULL : asleep, "this waits for the next prompt");
  if (refused) {
    free(asleep);
    return cli_fail_with(cli, refused, &error);
  }
  code = cli->json ? print_reply_of(cli, session, NULL, reply) : 0;
  hostkit_reply_free(reply);
  return code;
}

static int push_message(const struct cli *cli, const struct request *request) {
  struct destination destination = {.kit = NULL};
  char *message = NULL;
  int code = event_message_read(cli, cli->words[0], &message);
  if (!code) code = destination_open(cli, &destination);
  if (!code) code = send_notification(cli, request, destination.kit, destination.session, message);
  if (!code) code = destination_sent(cli, &destination);
  destination_close(&destination);
  free(message);
  return code;
}

static int push_event(const struct cli *cli) {
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  struct hostkit *kit = NULL;
  char *text = NULL, *session = NULL;
  int code = event_text_read(cli, &text, &session);
  if (!code) code = event_text_open(cli, false, 0, &text, session, &kit);
  if (!code) {
    int32_t refused = event_text_send(kit, text, &reply, &error);
    code = refused ? cli_fail_with(cli, refused, &error) : cli->json ? print_reply(cli, reply) : 0;
  }
  hostkit_reply_free(reply);
  kit_close(kit);
  free(text);
  free(session);
  return code;
}

static int push_verb(struct cli *cli) {
  struct request request = {.kind = NULL};
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key == CLI_STOP) return cli->exit_code;
    int code = read_push_option(cli, key, &request);
    if (code) return code;
  }
  if (cli->print_session) return session_print(cli);
  int unread = due_read(cli, request.in, request.at, &request.due_ms);
  if (unread) return unread;
  if (request.event && request.any)
    return cli_usage(cli, "--event reads everything from stdin and excludes the other options");
  if (request.event && cli->to) return cli_usage(cli, "--event and --to exclude each other");
  int code = cli_take_words(cli, request.event ? 0 : 1, request.event ? 0 : 1, "the message is");
  if (code) return code;
  return request.event ? push_event(cli) : push_message(cli, &request);
}

const struct cli_verb verb_push = {
    .name = "push",
    .usage = "[OPTION]... MESSAGE|-  or  --event",
    .summary = "push one notification",
    .help = "Stores a notification for a session. It is delivered with the next message "
            "that the session's agent sends to its model. With '-' the message is read "
            "from stdin. When this command exits with 0, the notification is stored "
            "durably.\n\n"
            "With --event, stdin is one CloudEvents object (type notification, "
            "handle.state, file.changed, ...), which is pushed unchanged. If it names no "
            "session, the session is added.",
    .with = WITH_SESSION | WITH_CREATE | WITH_STORE | WITH_CONFIG | WITH_JSON,
    .options =
        (const struct cli_option[]){
            {.key = 'k',
             .name = "kind",
             .argument = "SOURCE.NAME",
             .help = "The notification's kind, for filters and grouping; cli.note if "
                     "not given."},
            {.key = 'l',
             .name = "level",
             .argument = "LEVEL",
             .help = "info (default), warning, error or critical. A critical "
                     "notification starts a turn or stops a stream where the host "
                     "allows it.",
             .completion = COMPLETE_WORDS,
             .words = "info warning error critical"},
            {.key = OPTION_KEY,
             .name = "key",
             .argument = "KEY",
             .help = "A newer notification with the same key replaces one that is "
                     "still pending."},
            {.key = OPTION_TTL,
             .name = "ttl",
             .argument = "DURATION",
             .help = "The notification expires after 30s, 10m, 2h, ... if it was not "
                     "delivered; with --in or --at that counts from then."},
            DUE_IN_OPTION("Show it"),
            DUE_AT_OPTION("Show it"),
            {.key = OPTION_TOOL,
             .name = "tool",
             .argument = "TOOL",
             .help = "The tool that the notification is about; users can filter by it."},
            {.key = OPTION_ACTIVATE,
             .name = "activate",
             .argument = "WHEN",
             .help = "passive (default): wait for the next message. idle: start a "
                     "turn if the session is idle. interrupt: act like a critical "
                     "notification. silent: show nothing, and withdraw what is "
                     "pending with the same --key.",
             .completion = COMPLETE_WORDS,
             .words = "passive idle interrupt silent"},
            {.key = OPTION_DATA,
             .name = "data",
             .argument = "JSON",
             .help = "A JSON object that is stored with the notification, for programs: "
                     "queries show it, the model does not read it."},
            {.key = OPTION_ID,
             .name = "id",
             .argument = "ID",
             .help = "A second push with the same id within a day has no effect."},
            {.key = OPTION_EVENT,
             .name = "event",
             .help = "Read one CloudEvents object from stdin."},
            {.name = NULL},
        },
    .run = push_verb,
    .examples =
        (const struct cli_example[]){
            {"tidings push -k ci.failed -l error 'CI: the job lint failed on main'",
             "Notify the agent that works in this folder."},
            {"git log -1 --format=%s | tidings push -s my-session --ttl 10m -",
             "Push what a command prints."},
            {NULL, NULL}},
};
