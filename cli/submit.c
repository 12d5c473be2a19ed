/* SPDX-License-Identifier: MIT
 *
 * submit.c: `tidings submit`: submits a message that starts a turn; cancels, edits or moves one
 * that still waits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/wait/wakes.h"
#include "cli/event_message.h"
#include "cli/verbs.h"
#include "command/destination.h"
#include "command/due.h"
#include "command/json_value.h"
#include "command/message_change.h"
#include "command/print.h"
#include "command/session.h"
#include "command/terminal.h"
#include "common/random.h"

enum {
  OPTION_ID = CLI_LONG_ONLY,
  OPTION_STEER,
  OPTION_QUEUE,
  OPTION_RESUME,
  OPTION_TRIGGER,
  OPTION_CANCEL,
  OPTION_EDIT,
  OPTION_MOVE,
  OPTION_BEFORE,
  OPTION_IN,
  OPTION_AT
};

struct submission {
  const char *type; /* the event's type; NULL: none of --cancel, --edit, --move */
  const char *id, *trigger, *before, *in, *at;
  int64_t due_ms; /* 0: at once */
  bool steer, queue, resume;
};

static int choose_type(const struct cli *cli, struct submission *submission, const char *type) {
  if (submission->type) return cli_usage(cli, "--cancel, --edit and --move exclude each other");
  submission->type = type;
  submission->id = cli->value;
  return 0;
}

static int read_submit_option(const struct cli *cli, int key, struct submission *submission,
                              const char **id) {
  switch (key) {
  case OPTION_ID: *id = cli->value; return 0;
  case OPTION_STEER: submission->steer = true; return 0;
  case OPTION_QUEUE: submission->queue = true; return 0;
  case OPTION_RESUME: submission->resume = true; return 0;
  case OPTION_TRIGGER: submission->trigger = cli->value; return 0;
  case OPTION_BEFORE: submission->before = cli->value; return 0;
  case OPTION_IN: submission->in = cli->value; return 0;
  case OPTION_AT: submission->at = cli->value; return 0;
  case OPTION_CANCEL: return choose_type(cli, submission, "message.cancelled");
  case OPTION_EDIT: return choose_type(cli, submission, "message.edited");
  case OPTION_MOVE: return choose_type(cli, submission, "message.moved");
  default: return cli->exit_code;
  }
}

static int check_submission(const struct cli *cli, const struct submission *submission,
                            const char *id) {
  bool submits = !submission->type,
       moves = !submits && strcmp(submission->type, "message.moved") == 0;
  bool describes = submission->steer || submission->queue || submission->resume;
  bool later = submission->in || submission->at;
  if (submission->steer && submission->queue)
    return cli_usage(cli, "--steer and --queue exclude each other");
  if (submission->steer && later)
    return cli_usage(cli, "--steer is for the turn that runs now: it excludes --in and --at");
  if (!submits && (id || describes || later || submission->trigger))
    return cli_usage(cli, "--id, --steer, --queue, --resume, --in, --at and --trigger are for a "
                          "new message");
  if (moves != (submission->before != NULL))
    return cli_usage(cli, "--move and --before=ID|last need each other");
  bool takes_content = submits || strcmp(submission->type, "message.edited") == 0;
  return cli_take_words(cli, takes_content, takes_content, "the message is");
}

static int make_id(const struct cli *cli, char id[24]) {
  uint64_t bits = 0;
  if (random_fill(&bits, sizeof bits))
    return cli_fail(cli, "no random id can be made; give one with --id");
  snprintf(id, 24, "m-%016llx", (unsigned long long)bits);
  return 0;
}

static int make_data(const struct cli *cli, const struct submission *submission,
                     json_t **ret_data) {
  json_t *data = json_pack("{s:s}", "id", submission->id);
  char *content = NULL;
  int code = data ? 0 : cli_fail(cli, "the message's id is not UTF-8");
  if (!code && cli->word_count) code = event_message_read(cli, cli->words[0], &content);
  if (content) json_object_set_new(data, "content", json_string(content));
  free(content);
  if (submission->steer || submission->queue)
    json_object_set_new(data, "delivery", json_string(submission->steer ? "steer" : "queue"));
  if (submission->resume) json_object_set_new(data, "resume", json_true());
  if (submission->due_ms)
    json_object_set_new(data, "due_at", json_integer((json_int_t)submission->due_ms));
  if (submission->before)
    json_object_set_new(data, "before",
                        strcmp(submission->before, "last") == 0 ? json_null()
                                                                : json_string(submission->before));
  if (!code && submission->trigger) {
    static const struct json_rules rules = {.max_depth = 64};
    struct tidings_error error = {.size = sizeof error};
    json_t *trigger = NULL;
    if (json_value_read(&rules, span_text(submission->trigger), "--trigger", &trigger, &error))
      code = cli_usage(cli, "%s", error.text);
    else if (!json_is_object(trigger))
      code = cli_usage(cli, "--trigger: '%s' is not a JSON object", submission->trigger);
    json_object_set_new(data, "trigger", trigger);
  }
  if (code) json_decref(data);
  else *ret_data = data;
  return code;
}

static int send_it(const struct cli *cli, const struct submission *submission) {
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  struct destination destination = {.kit = NULL};
  char *asleep = NULL;
  json_t *data = NULL;
  int code = make_data(cli, submission, &data);
  if (!code) code = destination_open(cli, &destination);
  if (!code && submission->type)
    code = message_change_complete(cli, destination.kit, destination.session, data);
  if (!code) {
    asleep = submission->type ? NULL : hook_wakes_ask(cli, destination.kit, destination.session);
    const char *type = submission->type ? submission->type : "message.submitted";
    int32_t refused =
        kit_event(destination.kit, kit_new_event(type, destination.session, json_incref(data)),
                  &reply, &error);
    if (refused) code = cli_fail_with(cli, refused, &error);
    else if (cli->json) code = print_reply_of(cli, destination.session, submission->id, reply);
    else if (!submission->type) puts(submission->id);
  }
  if (!code) code = destination_sent(cli, &destination);
  if (!code && !submission->type) hook_wakes_say_mcp(cli, destination.kit, destination.session);
  if (!code) hook_wakes_say(cli, asleep, "this starts after the next turn that a person begins");
  else free(asleep);
  json_decref(data);
  hostkit_reply_free(reply);
  destination_close(&destination);
  return code;
}

static int submit_verb(struct cli *cli) {
  struct submission submission = {.type = NULL};
  const char *id = NULL;
  char made[24];
  int code = 0;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key == CLI_STOP) return cli->exit_code;
    if ((code = read_submit_option(cli, key, &submission, &id))) return code;
  }
  if (cli->print_session) return session_print(cli);
  code = check_submission(cli, &submission, id);
  if (!code) code = due_read(cli, submission.in, submission.at, &submission.due_ms);
  if (!code && !submission.type) {
    code = id ? 0 : make_id(cli, made);
    submission.id = id ? id : made;
  }
  return code ? code : send_it(cli, &submission);
}

const struct cli_verb verb_submit = {
    .name = "submit",
    .usage = "[OPTION]... MESSAGE|-  or  --cancel=ID  or  --edit=ID MESSAGE|-  or  --move=ID "
             "--before=ID|last",
    .summary = "queue a message that starts a turn, or cancel one",
    .help = "Queues a message for a session. When its turn comes, the session's host "
            "starts a turn with it. Prints the message's id; with it, the message can be "
            "cancelled, edited or moved while it waits. With '-' the message is read "
            "from stdin.",
    .with = WITH_SESSION | WITH_CREATE | WITH_STORE | WITH_CONFIG | WITH_JSON,
    .options =
        (const struct cli_option[]){
            {.key = OPTION_STEER,
             .name = "steer",
             .help = "Deliver it during the running turn, with the next tool result; "
                     "if none comes, it is queued."},
            {.key = OPTION_QUEUE,
             .name = "queue",
             .help = "Let it wait for a turn of its own. Without either, "
                     "turns.default_delivery of the configuration decides."},
            DUE_IN_OPTION("Start a turn with it"),
            DUE_AT_OPTION("Start a turn with it"),
            {.key = OPTION_RESUME,
             .name = "resume",
             .help = "Start even if the session stopped at an error."},
            {.key = OPTION_TRIGGER,
             .name = "trigger",
             .argument = "JSON",
             .help = "A JSON object that is stored with the message: what triggered it."},
            {.key = OPTION_ID,
             .name = "id",
             .argument = "ID",
             .help = "The message's id. Default: a random id."},
            {.key = OPTION_CANCEL,
             .name = "cancel",
             .argument = "ID",
             .help = "Cancel a waiting message."},
            {.key = OPTION_EDIT,
             .name = "edit",
             .argument = "ID",
             .help = "Replace the text of a waiting message; it keeps its place."},
            {.key = OPTION_MOVE,
             .name = "move",
             .argument = "ID",
             .help = "Move a waiting message."},
            {.key = OPTION_BEFORE,
             .name = "before",
             .argument = "ID|last",
             .help = "Where to move it: before another message, or to the end."},
            {.name = NULL},
        },
    .run = submit_verb,
    .examples = (const struct cli_example[]){{"tidings submit 'Now run the tests.'",
                                              "Start the next turn with it, after this turn."},
                                             {"tidings submit --steer 'Leave src/legacy alone.'",
                                              "Correct the agent during its turn."},
                                             {"tidings submit --cancel m-5fd2a1c09b7e4433",
                                              "Cancel the message."},
                                             {NULL, NULL}},
};
