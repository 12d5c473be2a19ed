/* SPDX-License-Identifier: MIT
 *
 * queue.c: `tidings queue`: the waiting messages, and the verbs that change them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/event_message.h"
#include "cli/verbs.h"
#include "command/ask.h"
#include "command/kit.h"
#include "command/message_change.h"
#include "command/print.h"
#include "command/session.h"
#include "command/show.h"
#include "command/terminal.h"

enum { MOST_SHOWN = 10000 }; /* the query's limit */

/* -- list -------------------------------------------------------------------------------------- */

/* `id_len`: how much of the id is shown. */
static void print_message(const json_t *message, size_t id_len) {
  printf("%llu  ", (unsigned long long)json_value_count(message, "place"));
  terminal_bytes(stdout, json_value_text(message, "id"), id_len);
  printf("  %s%s", json_value_text(message, "state"),
         json_is_object(json_object_get(message, "trigger")) ? ", triggered" : "");
  int64_t due_ms = show_time_ms(json_value_text(message, "due_at"));
  if (due_ms) fputs(", for ", stdout);
  if (due_ms) show_moment(due_ms);
  fputs("\n    ", stdout);
  terminal_lines(stdout, json_value_text(message, "content"), 4);
  putchar('\n');
}

static int print_messages(const struct cli *cli, const json_t *answer) {
  const json_t *messages = json_object_get(answer, "messages"), *message = NULL;
  uint64_t count = json_value_count(answer, "count");
  size_t i = 0, *id_lens = message_change_short(messages);
  if (!id_lens) return cli_fail(cli, "out of memory");
  if (!count) puts("No message waits.");
  json_array_foreach(messages, i, message) print_message(message, id_lens[i]);
  free(id_lens);
  if (count > json_array_size(messages))
    printf("and %llu more\n", (unsigned long long)(count - json_array_size(messages)));
  return 0;
}

static json_t *make_question(void) {
  return json_pack("{s:s, s:i}", "name", "queue", "limit", (int)MOST_SHOWN);
}

static int list_messages(struct cli *cli) {
  json_t *answer = NULL;
  int code = ask_about_session(cli, make_question(), &answer);
  if (code) return code;
  if (cli->json) code = print_json(cli, answer);
  else code = print_messages(cli, answer);
  json_decref(answer);
  return code;
}

/* -- clear ------------------------------------------------------------------------------------- */

struct clearing {
  unsigned cancelled, gone; /* gone: the host has started it since the list was made */
};

/* Cancels from the last message to the first: after the first one was cancelled, the next would be
 * offered. */
static int cancel_all(const struct cli *cli, struct hostkit *kit, const char *session,
                      const json_t *messages, struct clearing *clearing) {
  for (size_t i = json_array_size(messages); i > 0; i--) {
    const json_t *message = json_array_get(messages, i - 1);
    struct tidings_error error = {.size = sizeof error};
    if (strcmp(json_value_text(message, "state"), "leased") == 0) continue;
    struct message_change change = message_change_cancel(json_value_text(message, "id"));
    int32_t refused =
        kit_event(kit, kit_new_event(change.type, session, change.data), NULL, &error);
    if (refused == TIDINGS_E_FIRED || refused == TIDINGS_E_NOT_FOUND) clearing->gone++;
    else if (refused) return cli_fail_with(cli, refused, &error);
    else clearing->cancelled++;
  }
  return 0;
}

static int print_clearing(const struct cli *cli, const struct clearing *clearing) {
  if (!cli->json) {
    printf("%u cancelled.\n", clearing->cancelled);
    if (clearing->gone) cli_warn(cli, "%u had started meanwhile", clearing->gone);
    return 0;
  }
  json_t *outcome =
      json_pack("{s:i, s:i}", "cancelled", (int)clearing->cancelled, "gone", (int)clearing->gone);
  int code = print_json(cli, outcome);
  json_decref(outcome);
  return code;
}

static int clear_messages(struct cli *cli) {
  struct clearing clearing = {0};
  struct hostkit *kit = NULL;
  char *session = NULL;
  json_t *answer = NULL, *question = NULL;
  int code = session_open(cli, &kit, &session);
  if (code) return code;
  question = make_question();
  if (question) json_object_set_new(question, "session", json_string(session));
  code = ask(cli, kit, question, &answer);
  if (!code) code = cancel_all(cli, kit, session, json_object_get(answer, "messages"), &clearing);
  if (!code) code = print_clearing(cli, &clearing);
  json_decref(answer);
  kit_close(kit);
  free(session);
  return code;
}

/* -- one message ------------------------------------------------------------------------------- */

/* If no turn runs, says that a steered message waits like any other. */
static int say_if_it_waits(const struct cli *cli, struct hostkit *kit, const char *session,
                           const char *id) {
  json_t *question = make_question(), *answer = NULL;
  const json_t *message = NULL;
  size_t i = 0;
  if (question) json_object_set_new(question, "session", json_string(session));
  int code = ask(cli, kit, question, &answer);
  json_array_foreach(json_object_get(answer, "messages"), i, message) {
    if (strcmp(json_value_text(message, "id"), id) == 0 &&
        strcmp(json_value_text(message, "state"), "queued") == 0)
      cli_warn(cli, "no turn runs into which '%s' could go; it waits for a turn of its own", id);
  }
  json_decref(answer);
  return code;
}

static int send_change(const struct cli *cli, struct message_change change) {
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  struct hostkit *kit = NULL;
  char *session = NULL;
  int code = change.data ? session_open(cli, &kit, &session)
                         : cli_fail(cli, "an id or a text is not UTF-8, or there is no memory");
  if (!code) code = message_change_complete(cli, kit, session, change.data);
  if (!code) {
    int32_t refused = kit_event(kit, kit_new_event(change.type, session, json_incref(change.data)),
                                &reply, &error);
    if (refused) code = cli_fail_with(cli, refused, &error);
    else if (cli->json) code = print_reply(cli, reply);
    if (!code && strcmp(cli->words[0], "steer") == 0)
      code = say_if_it_waits(cli, kit, session, json_value_text(change.data, "id"));
  }
  json_decref(change.data);
  hostkit_reply_free(reply);
  kit_close(kit);
  free(session);
  return code;
}

static int edit_message(struct cli *cli) {
  char *content = NULL;
  int code = event_message_read(cli, cli->words[2], &content);
  if (!code) code = send_change(cli, message_change_edit(cli->words[1], span_text(content)));
  free(content);
  return code;
}

static int cancel_message(struct cli *cli) {
  return send_change(cli, message_change_cancel(cli->words[1]));
}

static int move_message(struct cli *cli) {
  const char *before = cli->word_count > 2 ? cli->words[2] : NULL;
  return send_change(cli, message_change_move(cli->words[1], before));
}

static int redirect_message(struct cli *cli) { /* the action has the name of the delivery */
  return send_change(cli, message_change_redirect(cli->words[1], cli->words[0]));
}

/* -- the verb ---------------------------------------------------------------------------------- */

static const struct {
  const char *name, *takes;
  int least, most; /* how many words follow the action's name */
  int (*run)(struct cli *cli);
} actions[] = {
    {"list", "", 0, 0, list_messages},
    {"edit", "an id and a text are", 2, 2, edit_message},
    {"cancel", "the id of a message is", 1, 1, cancel_message},
    {"move", "the id of a message is", 1, 2, move_message},
    {"steer", "the id of a message is", 1, 1, redirect_message},
    {"queue", "the id of a message is", 1, 1, redirect_message},
    {"clear", "", 0, 0, clear_messages},
};

static int queue_verb(struct cli *cli) {
  static const char *const names[] = {"list",  "edit",  "cancel", "move",
                                      "steer", "queue", "clear",  NULL};
  if (cli_next(cli) != CLI_END) return cli->exit_code;
  if (!cli->word_count) return list_messages(cli);
  int chosen = cli_word(cli->words[0], names);
  if (chosen < 0)
    return cli_usage(cli, "'%s' is not one of list, edit, cancel, move, steer, queue, clear",
                     cli->words[0]);
  int code = cli_take_words(cli, 1 + actions[chosen].least, 1 + actions[chosen].most,
                            actions[chosen].takes);
  cli->changes = actions[chosen].run != list_messages;
  return code ? code : actions[chosen].run(cli);
}

const struct cli_verb verb_queue = {
    .name = "queue",
    .usage = "[OPTION]... [list | edit ID TEXT|- | cancel ID | move ID [BEFORE] | steer ID | queue "
             "ID | clear]",
    .summary = "show the messages that wait, and change them",
    .help =
        "Lists the messages that wait for a turn, in the order of the queue, with the words of "
        "each. 'edit' gives a message other words (with '-' those of stdin), 'cancel' takes it "
        "back, 'move' puts it before "
        "another one or last.\n\n"
        "'steer' sends a message into the running turn, with its next tool result; 'queue' makes "
        "it wait for a turn of its own again. 'clear' cancels every message that waits. What a "
        "host has started cannot be changed any more.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON | ONLY_READS,
    .completion = COMPLETE_WORDS,
    .words = "list edit cancel move steer queue clear",
    .run = queue_verb,
    .examples =
        (const struct cli_example[]){
            {"tidings queue", "What waits?"},
            {"tidings queue edit m-0b7e44335fd2a1c0 'Run the slow tests too.'", "Other words."},
            {"tidings queue steer m-0b7e44335fd2a1c0", "Now, not after this turn."},
            {"tidings queue clear", "Take back all that waits."},
            {NULL, NULL}},
};
