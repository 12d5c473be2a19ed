/* SPDX-License-Identifier: MIT
 *
 * status.c: `tidings status`: the state of a session, or the list of sessions.
 */
#include <stdio.h>
#include <stdlib.h>

#include "agents/wait/wakes.h"
#include "cli/sessions.h"
#include "cli/verbs.h"
#include "command/ask.h"
#include "command/kit.h"
#include "command/print.h"
#include "command/session.h"
#include "command/terminal.h"

enum { OPTION_NAMES = CLI_LONG_ONLY };

/* -- one session ------------------------------------------------------------------------------- */

static void print_line(const char *label, const char *text) {
  if (!text[0]) return;
  printf("%-9s ", label);
  terminal_text(stdout, text);
  putchar('\n');
}

static void print_list(const char *label, const json_t *list) {
  const json_t *text = NULL;
  size_t i = 0;
  if (!json_array_size(list)) return;
  printf("%-9s ", label);
  json_array_foreach(list, i, text) {
    if (i) fputs(", ", stdout);
    terminal_text(stdout, json_is_string(text) ? json_string_value(text) : "?");
  }
  putchar('\n');
}

/* Milliseconds since 1970. */
static void print_time(const char *label, const json_t *time) {
  if (!json_is_integer(time)) return;
  printf("%-9s ", label);
  show_moment(json_integer_value(time));
  putchar('\n');
}

static void print_queue(const json_t *messages) {
  enum { MOST_NAMED = 20 };
  const json_t *message = NULL;
  size_t i = 0, count = json_array_size(messages);
  if (!count) return;
  fputs("messages  ", stdout);
  json_array_foreach(messages, i, message) {
    if (i == MOST_NAMED) break;
    if (i) fputs(", ", stdout);
    terminal_text(stdout, json_value_text(message, "id"));
    printf(" (%s)", json_value_text(message, "state"));
  }
  if (count > MOST_NAMED) printf(" and %zu more", count - MOST_NAMED);
  putchar('\n');
}

static void print_no_owner(int64_t closed_ms) {
  fputs(closed_ms ? "host      none since the session was closed, " : "host      none yet", stdout);
  if (closed_ms) show_moment(closed_ms);
  putchar('\n');
}

static void print_owner(const json_t *owner) {
  fputs("host      ", stdout);
  terminal_text(stdout,
                json_value_text(owner, "host")[0] ? json_value_text(owner, "host") : "unnamed");
  printf(", pid %llu", (unsigned long long)json_value_count(owner, "pid"));
  if (json_value_text(owner, "machine")[0]) fputs(" on machine ", stdout);
  terminal_text(stdout, json_value_text(owner, "machine"));
  printf(", %s since ", json_is_true(json_object_get(owner, "alive"))
                            ? "running, attached"
                            : "not running, was attached");
  show_moment(show_time_ms(json_value_text(owner, "since")));
  putchar('\n');
  print_line("folder", json_value_text(owner, "cwd"));
}

/* Takes `asleep` over. */
static int print_status(const struct cli *cli, const char *session, const json_t *status,
                        const json_t *pending, char *asleep) {
  json_t *whole = json_deep_copy(status);
  json_t *counts = json_pack("{s:I, s:I}", "count", (json_int_t)json_value_count(pending, "count"),
                             "leased", (json_int_t)json_value_count(pending, "leased"));
  if (json_object_set_new(whole, "session", json_string(session)) ||
      json_object_set_new(whole, "pending", counts) ||
      json_object_set_new(whole, "not_woken", asleep ? json_string(asleep) : json_null())) {
    free(asleep);
    json_decref(whole);
    return cli_fail(cli, "out of memory");
  }
  int code = 0;
  if (cli->json) {
    code = print_json(cli, whole);
  } else {
    print_line("session", session);
    print_line("state", json_value_text(status, "state"));
    print_line("phase", json_value_text(status, "phase"));
    print_time("since", json_object_get(status, "started_at"));
    print_line("message", json_value_text(status, "message"));
    print_list("turn", json_object_get(status, "messages"));
    print_queue(json_object_get(status, "queued"));
    print_list("orphaned", json_object_get(status, "orphaned"));
    printf("pending   %llu", (unsigned long long)json_value_count(pending, "count"));
    if (json_value_count(pending, "leased"))
      printf(", %llu being delivered", (unsigned long long)json_value_count(pending, "leased"));
    putchar('\n');
    if (json_is_true(json_object_get(status, "held")) && json_value_count(pending, "count"))
      print_line("waits",
                 "urgent notifications too, for the next prompt or message: the last turns "
                 "were all started for notifications (turns.max_auto_turns)");
    const json_t *owner = json_object_get(status, "attachment");
    if (json_is_object(owner)) print_owner(owner);
    else print_no_owner(show_time_ms(json_value_text(status, "closed")));
    if (asleep) printf("asleep    %s; the next prompt is the next turn\n", asleep);
  }
  free(asleep);
  json_decref(whole);
  return code;
}

static int one(const struct cli *cli) {
  struct hostkit *kit = NULL;
  char *session = NULL;
  json_t *status = NULL, *pending = NULL;
  int code = session_open(cli, &kit, &session);
  if (!code)
    code = ask(cli, kit, json_pack("{s:s, s:s}", "name", "status", "session", session), &status);
  if (!code)
    code = ask(cli, kit,
               json_pack("{s:s, s:s, s:i}", "name", "pending", "session", session, "limit", 1),
               &pending);
  if (!code)
    code = print_status(cli, session, status, pending, hook_wakes_not(cli, session, status));
  json_decref(status);
  json_decref(pending);
  kit_close(kit);
  free(session);
  return code;
}

static int status_verb(struct cli *cli) {
  bool every = false, names = false;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case 'a': every = true; break;
    case OPTION_NAMES: names = true; break;
    default: return cli->exit_code;
    }
  }
  int code = cli_take_words(cli, 0, 0, "");
  if (code) return code;
  if (names && cli->json) return cli_usage(cli, "--names and --json exclude each other");
  if ((every || names) && cli->session)
    return cli_usage(cli, "--all and --names list all sessions and exclude -s");
  return every || names ? sessions_list(cli, names) : one(cli);
}

const struct cli_verb verb_status = {
    .name = "status",
    .usage = "[OPTION]...",
    .summary = "show the state of a session, or list the sessions",
    .help = "Prints the state of a session's turns, its queued messages, the number "
            "of pending notifications and the session's owner. With --all, lists the "
            "sessions of the store, those of running hosts first. This command "
            "changes nothing. 'tidings sessions' lists them too, and says which one is meant here.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON | ONLY_READS | FOR_PEOPLE,
    .options =
        (const struct cli_option[]){
            {.key = 'a', .name = "all", .help = "List all sessions."},
            {.key = OPTION_NAMES,
             .name = "names",
             .help = "Print the ids of all sessions, one per line."},
            {.name = NULL},
        },
    .run = status_verb,
    .examples = (const struct cli_example[]){{"tidings status",
                                              "Show the session of the agent in this folder."},
                                             {"tidings status --all", "All sessions."},
                                             {NULL, NULL}},
};
