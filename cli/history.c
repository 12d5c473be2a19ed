/* SPDX-License-Identifier: MIT
 *
 * history.c: `tidings history`, `tidings explain` and `tidings export`: the history of
 * notifications and messages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/dead_letters.h"
#include "cli/verbs.h"
#include "command/ask.h"
#include "command/kit.h"
#include "command/message_change.h"
#include "command/print.h"
#include "command/session.h"
#include "command/terminal.h"

/* -- history ----------------------------------------------------------------------------------- */

static void print_part(const char *before, const char *text, const char *behind) {
  if (!text[0]) return;
  fputs(before, stdout);
  terminal_text(stdout, text);
  fputs(behind, stdout);
}

static void print_ended(const json_t *item) {
  fputs("    ", stdout);
  show_outcome(json_value_text(item, "outcome"), 11);
  putchar(' ');
  show_id(json_value_text(item, "id"), 0);
  verb_history_print_ended(item, 6);
}

static void print_delivery(struct show_clock *clock, const json_t *delivery) {
  const json_t *items = json_object_get(delivery, "items"), *item = NULL;
  size_t i = 0;
  show_time(clock, json_value_text(delivery, "time"));
  fputs("  ", stdout);
  show_id(json_value_text(delivery, "id"), 0);
  fputs("  ", stdout);
  show_outcome(json_value_text(delivery, "outcome"), 0);
  printf(" on %s", json_value_text(delivery, "carrier"));
  print_part(" of ", json_value_text(delivery, "tool"), "");
  print_part(", call ", json_value_text(delivery, "call_id"), "");
  putchar('\n');
  json_array_foreach(items, i, item) print_ended(item);
}

static void print_transition(struct show_clock *clock, const json_t *transition) {
  const json_t *messages = json_object_get(transition, "messages"), *message = NULL;
  size_t i = 0;
  show_time(clock, json_value_text(transition, "time"));
  printf("  %s: %s to %s", json_value_text(transition, "event"),
         json_value_text(transition, "from"), json_value_text(transition, "to"));
  json_array_foreach(messages, i, message) {
    print_part(i ? ", " : "; ", json_value_text(message, "id"), "");
    print_part(" ", json_value_text(message, "state"), "");
  }
  putchar('\n');
}

static void print_history(const json_t *answer, bool since) {
  const json_t *deliveries = json_object_get(answer, "deliveries"),
               *transitions = json_object_get(answer, "transitions"), *row = NULL;
  struct show_clock clock = {.day = ""};
  size_t i = 0;
  if (!json_array_size(deliveries))
    fputs(since ? "Nothing was delivered since then.\n" : "Nothing was delivered yet.\n", stdout);
  json_array_foreach(deliveries, i, row) print_delivery(&clock, row);
  if (json_array_size(transitions)) fputs("Turns:\n", stdout);
  clock = (struct show_clock){.day = ""};
  json_array_foreach(transitions, i, row) print_transition(&clock, row);
  uint64_t total = json_value_count(answer, "total");
  if (!since && total > json_array_size(deliveries))
    printf("There are %llu deliveries; --limit shows more.\n", (unsigned long long)total);
}

/* Keeps only the delivery with this id or with this lower half of an id, and removes the turns. */
static int choose_delivery(const struct cli *cli, json_t *answer, uint64_t limit, uint64_t id) {
  json_t *deliveries = json_object_get(answer, "deliveries");
  for (size_t i = json_array_size(deliveries); i-- > 0;) {
    uint64_t one = strtoull(json_value_text(json_array_get(deliveries, i), "id"), NULL, 10);
    if (one != id && (one & UINT32_MAX) != id) (void)json_array_remove(deliveries, i);
  }
  (void)json_object_set_new(answer, "transitions", json_array());
  if (json_array_size(deliveries)) return 0;
  if (json_value_count(answer, "total") > limit)
    return cli_fail(cli, "delivery %s is not among the newest %llu deliveries", cli->words[0],
                    (unsigned long long)limit);
  return cli_fail(cli, "the session has no delivery %s, or has forgotten it", cli->words[0]);
}

enum { OPTION_SINCE = CLI_LONG_ONLY, OPTION_DEAD = CLI_LONG_ONLY + 16, MOST_LISTED = 10000 };

static int run_history(struct cli *cli) {
  uint64_t limit = 0, id = 0;
  int64_t since_ms = INT64_MIN;
  const char *since = NULL;
  bool dead = false;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key == CLI_STOP) return cli->exit_code;
    if (key == OPTION_SINCE) since = cli->value;
    else if (key == OPTION_DEAD) dead = true;
    else if (cli_number(cli->value, 1, MOST_LISTED, &limit))
      return cli_usage(cli, "--limit: '%s' is not a number from 1 to 10000", cli->value);
  }
  json_t *answer = NULL;
  int code = cli_take_words(cli, 0, 1, "");
  if (!code && cli->word_count && cli_number(cli->words[0], 1, UINT64_MAX, &id))
    code = cli_usage(cli, "'%s' is not the id of a delivery", cli->words[0]);
  if (!code && dead && id) code = cli_usage(cli, "--dead and DELIVERY exclude each other");
  if (!code && since) code = print_since(cli, since, &since_ms);
  if (!limit) limit = since || id ? MOST_LISTED : 20;
  if (!code && dead) return verb_history_dead(cli, limit, since_ms);
  if (!code)
    code = ask_about_session(
        cli, json_pack("{s:s, s:I}", "name", "history", "limit", (json_int_t)limit), &answer);
  if (code) return code;
  if (since) verb_history_warn_if_cut(cli, answer, limit, since_ms);
  print_drop_older(json_object_get(answer, "deliveries"), "time", since_ms);
  print_drop_older(json_object_get(answer, "transitions"), "time", since_ms);
  if (id) code = choose_delivery(cli, answer, limit, id);
  if (!code && cli->json) code = print_json(cli, answer);
  else if (!code) print_history(answer, since || id);
  json_decref(answer);
  return code;
}

const struct cli_verb verb_history = {
    .name = "history",
    .usage = "[OPTION]... [DELIVERY]",
    .summary = "show what was delivered, and how each notification ended",
    .help = "Lists a session's newest deliveries, the oldest of them first, or the one whose id is "
            "given. For each, prints the tool result or chat request that carried it, how it was "
            "settled, and the outcome of each notification with its reason.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON | ONLY_READS | FOR_PEOPLE,
    .options = (const struct cli_option[]){{.key = 'n',
                                            .name = "limit",
                                            .argument = "N",
                                            .help = "List the newest N; 20 if not given."},
                                           SINCE_OPTION("delivered"),
                                           {.key = OPTION_DEAD,
                                            .name = "dead",
                                            .help = "List the dead letters: notifications that "
                                                    "expired, were dropped or ended with their "
                                                    "session, and so were never shown."},
                                           {.name = NULL}},
    .run = run_history,
    .examples =
        (const struct cli_example[]){{"tidings history -n 5", "List the five newest deliveries."},
                                     {"tidings history 2817163442",
                                      "What was in the delivery that is listed as 2817163442?"},
                                     {NULL, NULL}},
};

/* -- explain ----------------------------------------------------------------------------------- */

enum { OPTION_MESSAGE = CLI_LONG_ONLY };

enum { MOST_SESSIONS = 16 };

static int print_explanation(const struct cli *cli, const json_t *answer) {
  char *text = show_text(json_value_text(answer, "text"));
  if (!text) return cli_fail(cli, "out of memory");
  terminal_lines(stdout, text, 0);
  free(text);
  return 0;
}

static json_t *explain_request(const char *session, bool message, const char *id) {
  return json_pack("{s:s, s:s, s:s}", "name", "explain", "session", session,
                   message ? "message" : "id", id);
}

/* If another session took the item over, prints that session's explanations below. */
static int explain_on(const struct cli *cli, struct hostkit *kit, bool message, const char *id,
                      json_t **answer) {
  int code = 0;
  for (int i = 0; !code && i < MOST_SESSIONS; i++) {
    const char *next = json_value_text(*answer, "moved_to");
    json_t *more = NULL;
    if (!next[0]) break;
    code = ask(cli, kit, explain_request(next, message, id), &more);
    if (code) break;
    fputs("\nIn session ", stdout);
    terminal_text(stdout, next);
    fputs(": ", stdout);
    code = print_explanation(cli, more);
    json_decref(*answer);
    *answer = more;
  }
  return code;
}

/* Completes the id of a message that waits, or that has ended and is not forgotten. */
static int find_message(const struct cli *cli, struct hostkit *kit, const char *session,
                        json_t *data) {
  json_t *answer = NULL;
  const json_t *known = NULL;
  int code = message_change_complete(cli, kit, session, data);
  const char *id = json_value_text(data, "id");
  if (code || strcmp(id, cli->words[0]) != 0) return code;
  code = ask(cli, kit, json_pack("{s:s, s:s}", "name", "timeline", "session", session), &answer);
  known = json_object_get(answer, "messages");
  if (!code) code = message_change_find(cli, known, data, "id");
  json_decref(answer);
  return code;
}

/* An exact id comes first; only if no message has it, the typed text is taken as the beginning of
 * an id. */
static int find_id(const struct cli *cli, struct hostkit *kit, const char *session, bool message,
                   json_t *data) {
  struct tidings_error error = {.size = sizeof error};
  json_t *answer = NULL;
  if (!message) return 0;
  int32_t refused = kit_query(kit, explain_request(session, true, cli->words[0]), &answer, &error);
  json_decref(answer);
  return refused == TIDINGS_E_NOT_FOUND ? find_message(cli, kit, session, data) : 0;
}

static int explain(const struct cli *cli, struct hostkit *kit, const char *session, bool message) {
  json_t *answer = NULL, *data = json_pack("{s:s}", "id", cli->words[0]);
  int code =
      data ? find_id(cli, kit, session, message, data) : cli_fail(cli, "the id is not UTF-8");
  const char *id = json_value_text(data, "id");
  if (!code) code = ask(cli, kit, explain_request(session, message, id), &answer);
  if (!code && cli->json) code = print_json(cli, answer);
  else if (!code) code = print_explanation(cli, answer);
  /* The typed id may be short, and may then name another item in another session. */
  json_t *whole = json_incref(json_object_get(answer, "id"));
  if (whole) id = json_string_value(whole);
  if (!code && !cli->json) code = explain_on(cli, kit, message, id, &answer);
  if (!code && !cli->json) putchar('\n');
  json_decref(whole);
  json_decref(answer);
  json_decref(data);
  return code;
}

/* A word of digits is the id of a notification; any other word is that of a message. */
static int run_explain(struct cli *cli) {
  uint64_t id = 0;
  bool message = false;
  struct hostkit *kit = NULL;
  char *session = NULL;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key != OPTION_MESSAGE) return cli->exit_code;
    message = true;
  }
  int code = cli_take_words(cli, 1, 1, "the id of a notification or of a message is");
  if (!code && !message) message = cli_number(cli->words[0], 1, UINT64_MAX, &id) != 0;
  if (!code) code = session_open(cli, &kit, &session);
  if (!code) code = explain(cli, kit, session, message);
  kit_close(kit);
  free(session);
  return code;
}

const struct cli_verb verb_explain = {
    .name = "explain",
    .usage = "[OPTION]... ID",
    .summary = "explain what happened to one notification or message",
    .help = "Explains what happened to a notification, and why; or to a message. 'tidings pending' "
            "and 'tidings history' print the ids of notifications, 'tidings queue' those of "
            "messages; the beginning of a message's id is enough.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON | ONLY_READS | FOR_PEOPLE,
    .options =
        (const struct cli_option[]){
            {.key = OPTION_MESSAGE,
             .name = "message",
             .help = "ID is that of a message, even if it has digits only."},
            {.name = NULL}},
    .run = run_explain,
    .examples =
        (const struct cli_example[]){
            {"tidings explain 17", "Find out why the agent did not receive it."},
            {"tidings explain m-5fd2a1", "Find out what became of this message."},
            {NULL, NULL}},
};

/* -- export ------------------------------------------------------------------------------------ */

enum { OPTION_LINES = OPTION_SINCE + 1 };

static int print_lines(const struct cli *cli, const json_t *events) {
  const json_t *event = NULL;
  size_t i = 0;
  json_array_foreach(events, i, event) {
    char *line = json_dumps(event, JSON_COMPACT);
    if (!line) return cli_fail(cli, "out of memory");
    print_json_text(stdout, line);
    putchar('\n');
    free(line);
  }
  return 0;
}

static int run_export(struct cli *cli) {
  bool lines = false;
  int64_t since_ms = INT64_MIN;
  const char *since = NULL;
  json_t *answer = NULL;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key == CLI_STOP) return cli->exit_code;
    if (key == OPTION_SINCE) since = cli->value;
    else lines = true;
  }
  int code = cli_take_words(cli, 0, 0, "");
  if (!code && since) code = print_since(cli, since, &since_ms);
  if (!code) code = ask_about_session(cli, json_pack("{s:s}", "name", "stream"), &answer);
  if (code) return code;
  json_t *events = json_object_get(answer, "events");
  print_drop_older(events, "timestamp", since_ms);
  code = lines ? print_lines(cli, events) : print_json(cli, events);
  json_decref(answer);
  return code;
}

const struct cli_verb verb_export = {
    .name = "export",
    .usage = "[OPTION]...",
    .summary = "print a session as the events of a conversation stream",
    .help = "Prints a JSON list of what happened, in order: "
            "system_notification_queued for each notification, and chat_request or "
            "tool_call_response for each message that was sent, with the "
            "notifications that it carried.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON | ONLY_READS,
    .options = (const struct cli_option[]){{.key = OPTION_LINES,
                                            .name = "lines",
                                            .help = "Print one event per line instead of a list."},
                                           SINCE_OPTION("recorded"),
                                           {.name = NULL}},
    .run = run_export,
    .examples = (const struct cli_example[]){{"tidings export -s my-session > events.json",
                                              "Save the session's events."},
                                             {"tidings export --lines | grep tool_call_response",
                                              "Find the tool results that carried notifications."},
                                             {NULL, NULL}},
};
