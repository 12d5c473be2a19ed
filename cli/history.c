/* SPDX-License-Identifier: MIT
 *
 * history.c: `tidings history`, `tidings explain` and `tidings export`: what happened to
 * notifications and messages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"
#include "command/ask.h"
#include "command/kit.h"
#include "command/print.h"
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
  show_id(json_value_text(item, "id"));
  fputs("  ", stdout);
  if (json_object_get(item, "kind")) {
    print_kind(item);
    fputs(" (", stdout);
    show_level(json_value_text(item, "level"), 0);
    fputs("): ", stdout);
    terminal_lines(stdout, json_value_text(item, "message"), 6);
  }
  fputs("\n      ", stdout);
  terminal_lines(stdout, json_value_text(item, "reason"), 6);
  putchar('\n');
}

static void print_delivery(struct show_clock *clock, const json_t *delivery) {
  const json_t *items = json_object_get(delivery, "items"), *item = NULL;
  size_t i = 0;
  show_time(clock, json_value_text(delivery, "time"));
  fputs("  ", stdout);
  show_id(json_value_text(delivery, "id"));
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

static bool is_since(const json_t *row, int64_t since_ms) {
  return show_time_ms(json_value_text(row, "time")) >= since_ms;
}

static void print_history(const json_t *answer, int64_t since_ms) {
  const json_t *deliveries = json_object_get(answer, "deliveries"),
               *transitions = json_object_get(answer, "transitions"), *row = NULL;
  struct show_clock clock = {.day = ""};
  size_t i = 0;
  if (!json_array_size(deliveries)) fputs("Nothing was delivered yet.\n", stdout);
  json_array_foreach(deliveries, i, row) {
    if (is_since(row, since_ms)) print_delivery(&clock, row);
  }
  if (json_array_size(transitions)) fputs("Turns:\n", stdout);
  clock = (struct show_clock){.day = ""};
  json_array_foreach(transitions, i, row) {
    if (is_since(row, since_ms)) print_transition(&clock, row);
  }
  uint64_t total = json_value_count(answer, "total");
  if (total > json_array_size(deliveries))
    printf("There are %llu deliveries; --limit shows more.\n", (unsigned long long)total);
}

enum { OPTION_SINCE = CLI_LONG_ONLY, MOST_LISTED = 10000 };

static int run_history(struct cli *cli) {
  uint64_t limit = 0;
  int64_t since_ms = INT64_MIN;
  const char *since = NULL;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key == CLI_STOP) return cli->exit_code;
    if (key == OPTION_SINCE) since = cli->value;
    else if (cli_number(cli->value, 1, MOST_LISTED, &limit))
      return cli_usage(cli, "--limit: '%s' is not a number from 1 to 10000", cli->value);
  }
  json_t *answer = NULL;
  int code = cli_take_words(cli, 0, 0, "");
  if (!code && since) code = print_since(cli, since, &since_ms);
  if (!limit) limit = since ? MOST_LISTED : 20;
  if (!code)
    code = ask_about_session(
        cli, json_pack("{s:s, s:I}", "name", "history", "limit", (json_int_t)limit), &answer);
  if (code) return code;
  if (cli->json) code = print_json(cli, answer);
  else print_history(answer, since_ms);
  json_decref(answer);
  return code;
}

const struct cli_verb verb_history = {
    .name = "history",
    .usage = "[OPTION]...",
    .summary = "show what was delivered, and how each notification ended",
    .help = "Lists a session's newest deliveries, the oldest of them first. For "
            "each, prints the tool result or chat request that carried it, how it was "
            "settled, and the outcome of each notification with its reason.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON | ONLY_READS | FOR_PEOPLE,
    .options = (const struct cli_option[]){{.key = 'n',
                                            .name = "limit",
                                            .argument = "N",
                                            .help = "List the newest N; 20 if not given."},
                                           SINCE_OPTION("delivered"),
                                           {.name = NULL}},
    .run = run_history,
    .examples =
        (const struct cli_example[]){{"tidings history -n 5", "List the five newest deliveries."},
                                     {NULL, NULL}},
};

/* -- explain ----------------------------------------------------------------------------------- */

enum { OPTION_MESSAGE = CLI_LONG_ONLY };

enum { MOST_SESSIONS = 16 };

/* Of what another session took over: what happened there, below. */
static int explain_on(const struct cli *cli, const char *member, json_t **answer) {
  struct hostkit *kit = NULL;
  int code = 0;
  for (int i = 0; !code && i < MOST_SESSIONS; i++) {
    const char *next = json_value_text(*answer, "moved_to");
    json_t *more = NULL;
    if (!next[0]) break;
    if (!kit) code = kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &kit);
    if (!code)
      code = ask(
          cli, kit,
          json_pack("{s:s, s:s, s:s}", "name", "explain", "session", next, member, cli->words[0]),
          &more);
    if (code) break;
    fputs("\nIn session ", stdout);
    terminal_text(stdout, next);
    fputs(": ", stdout);
    terminal_lines(stdout, json_value_text(more, "text"), 0);
    json_decref(*answer);
    *answer = more;
  }
  kit_close(kit);
  return code;
}

static int run_explain(struct cli *cli) {
  uint64_t id = 0;
  bool message = false;
  json_t *answer = NULL;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key != OPTION_MESSAGE) return cli->exit_code;
    message = true;
  }
  int code = cli_take_words(cli, 1, 1, "the id of a notification or of a message is");
  if (!code && !message && cli_number(cli->words[0], 1, UINT64_MAX, &id))
    code = cli_usage(cli, "'%s' is not an id; expected digits, or --message", cli->words[0]);
  if (!code)
    code = ask_about_session(
        cli, json_pack("{s:s, s:s}", "name", "explain", message ? "message" : "id", cli->words[0]),
        &answer);
  if (code) return code;
  if (cli->json) code = print_json(cli, answer);
  else terminal_lines(stdout, json_value_text(answer, "text"), 0);
  if (!cli->json) code = explain_on(cli, message ? "message" : "id", &answer);
  if (!cli->json) putchar('\n');
  json_decref(answer);
  return code;
}

const struct cli_verb verb_explain = {
    .name = "explain",
    .usage = "[OPTION]... ID",
    .summary = "explain what happened to one notification or message",
    .help = "Explains what happened to a notification, and why; or to a message. 'tidings pending' "
            "and 'tidings history' print the ids of notifications, 'tidings queue' those of "
            "messages.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON | ONLY_READS,
    .options =
        (const struct cli_option[]){
            {.key = OPTION_MESSAGE, .name = "message", .help = "ID is that of a message."},
            {.name = NULL}},
    .run = run_explain,
    .examples =
        (const struct cli_example[]){
            {"tidings explain 4294967297", "Find out why the agent did not receive it."},
            {"tidings explain --message m-5fd2a1c09b7e4433", "Find out what became of it."},
            {NULL, NULL}},
};

/* -- export ------------------------------------------------------------------------------------ */

enum { OPTION_LINES = CLI_LONG_ONLY };

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
  json_t *answer = NULL;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key != OPTION_LINES) return cli->exit_code;
    lines = true;
  }
  int code = cli_take_words(cli, 0, 0, "");
  if (!code) code = ask_about_session(cli, json_pack("{s:s}", "name", "stream"), &answer);
  if (code) return code;
  const json_t *events = json_object_get(answer, "events");
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
                                           {.name = NULL}},
    .run = run_export,
    .examples = (const struct cli_example[]){{"tidings export -s my-session > events.json",
                                              "Save the session's events."},
                                             {"tidings export --lines | grep tool_call_response",
                                              "Find the tool results that carried notifications."},
                                             {NULL, NULL}},
};
