/* SPDX-License-Identifier: MIT
 *
 * pending.c: `tidings pending`: the notifications that are not delivered yet.
 */
#include <stdio.h>
#include <string.h>

#include "cli/verbs.h"
#include "command/ask.h"
#include "command/print.h"
#include "command/terminal.h"

enum { OPTION_PREVIEW = CLI_LONG_ONLY, OPTION_SINCE };

static void print_pending(const json_t *answer, bool since) {
  struct show_clock clock = {.day = ""};
  const json_t *items = json_object_get(answer, "items"), *item = NULL;
  uint64_t count = json_value_count(answer, "count"), leased = json_value_count(answer, "leased");
  size_t i = 0;
  if (!count) fputs("Nothing is pending", stdout);
  else printf("%llu pending", (unsigned long long)count);
  if (leased) printf(", %llu being delivered", (unsigned long long)leased);
  fputs(".\n", stdout);
  json_array_foreach(items, i, item) print_notification(&clock, item);
  if (since && count > json_array_size(items))
    printf("%llu of them were pushed before that.\n",
           (unsigned long long)(count - json_array_size(items)));
  else if (count > json_array_size(items))
    printf("and %llu more; --limit shows them\n",
           (unsigned long long)(count - json_array_size(items)));
}

static void print_preview(const json_t *answer) {
  const json_t *messages = json_object_get(answer, "messages"), *message = NULL;
  size_t i = 0;
  json_array_foreach(messages, i, message) {
    terminal_lines(stdout, json_value_text(message, "text"), 0);
    putchar('\n');
  }
  if (!json_array_size(messages)) fputs("Nothing would be sent.\n", stdout);
  uint64_t deferred = json_value_count(answer, "deferred");
  if (deferred) printf("%llu would stay pending.\n", (unsigned long long)deferred);
}

static int pending_verb(struct cli *cli) {
  static const char *const carriers[] = {"tool-result", "chat-request", NULL};
  static const char *const names[] = {"tool_result", "chat_request"};
  uint64_t limit = 0;
  int64_t since_ms = INT64_MIN;
  const char *since = NULL;
  int carrier = -1;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case 'n':
      if (cli_number(cli->value, 1, 10000, &limit))
        return cli_usage(cli, "--limit: '%s' is not a number from 1 to 10000", cli->value);
      break;
    case OPTION_SINCE: since = cli->value; break;
    case OPTION_PREVIEW:
      if ((carrier = cli_word(cli->value, carriers)) < 0)
        return cli_usage(cli, "--preview: '%s' is not one of tool-result, chat-request",
                         cli->value);
      break;
    default: return cli->exit_code;
    }
  }
  int code = cli_take_words(cli, 0, 0, "");
  if (!code && since) code = print_since(cli, since, &since_ms);
  if (since && !limit && carrier < 0) limit = 10000;
  if (!code && limit && carrier >= 0)
    code = cli_usage(cli, "--limit and --preview exclude each other");
  if (code) return code;
  json_t *request = json_pack("{s:s}", "name", carrier < 0 ? "pending" : "preview"), *answer = NULL;
  if (limit) (void)json_object_set_new(request, "limit", json_integer((json_int_t)limit));
  if (carrier >= 0) (void)json_object_set_new(request, "carrier", json_string(names[carrier]));
  code = ask_about_session(cli, request, &answer);
  if (code) return code;
  print_drop_older(json_object_get(answer, "items"), "time", since_ms);
  if (cli->json) code = print_json(cli, answer);
  else if (carrier < 0) print_pending(answer, since != NULL);
  else print_preview(answer);
  json_decref(answer);
  return code;
}

const struct cli_verb verb_pending = {
    .name = "pending",
    .usage = "[OPTION]...",
    .summary = "list the notifications that are not delivered yet",
    .help = "Lists the pending notifications of a session, the oldest first. With "
            "--preview, prints what the next carrier would get, in the configured "
            "format. This command changes nothing.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON | ONLY_READS | FOR_PEOPLE,
    .options =
        (const struct cli_option[]){
            {.key = 'n',
             .name = "limit",
             .argument = "N",
             .help = "List at most N; 100 if not given."},
            SINCE_OPTION("pushed"),
            {.key = OPTION_PREVIEW,
             .name = "preview",
             .argument = "CARRIER",
             .help = "Print what a tool-result or a chat-request would carry now.",
             .completion = COMPLETE_WORDS,
             .words = "tool-result chat-request"},
            {.name = NULL},
        },
    .run = pending_verb,
    .examples =
        (const struct cli_example[]){
            {"tidings pending", "List what the agent in this folder has not received yet."},
            {"tidings pending --preview=tool-result", "Show how the notifications would look."},
            {NULL, NULL}},
};
