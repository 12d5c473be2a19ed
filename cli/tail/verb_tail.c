/* SPDX-License-Identifier: MIT
 *
 * tail/verb_tail.c: `tidings tail`: prints what happens in a session, line by line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tail/lines.h"
#include "cli/tail/tail.h"
#include "command/follow.h"
#include "command/interrupt.h"
#include "command/kit.h"
#include "command/patience.h"
#include "command/print.h"
#include "command/session.h"
#include "command/terminal.h"

enum { OPTION_SINCE = CLI_LONG_ONLY };

struct tailing {
  const struct cli *cli;
  struct hostkit *kit;
  const char *session;
  struct tail tail;
  struct show_clock clock;
  struct patience patience;
  int64_t since_ms;
};

/* -- one line for each event ------------------------------------------------------------------- */

static void print_member(const char *before, const json_t *event, const char *name) {
  const char *text = json_value_text(event, name);
  if (!text[0]) return;
  fputs(before, stdout);
  terminal_text(stdout, text);
}

/* Prints the first line, and a mark if there are more. */
static void print_message(const json_t *event) {
  const char *message = json_value_text(event, "message");
  size_t len = strcspn(message, "\n");
  fputs(": ", stdout);
  terminal_bytes(stdout, message, len);
  if (message[len]) fputs(" \xe2\x80\xa6", stdout);
}

static void print_id(const json_t *event) { show_id(json_value_text(event, "id"), 0); }

static void print_what(const json_t *event) {
  putchar(' ');
  print_kind(event);
  fputs(" (", stdout);
  show_level(json_value_text(event, "level"), 0);
  putchar(')');
  print_message(event);
}

static void print_item(const json_t *event) {
  print_id(event);
  print_what(event);
}

static void print_reason(const char *reason) {
  char *text = show_text(reason);
  if (text && text[0]) {
    show_start(SHOW_DIM);
    fputs(" [", stdout);
    terminal_text(stdout, text);
    putchar(']');
    show_end();
  }
  free(text);
}

static void print_outcome(const json_t *event) {
  print_id(event);
  putchar(' ');
  show_outcome(json_value_text(event, "outcome"), 0);
  print_what(event);
  print_reason(json_value_text(event, "reason"));
}

static void print_delivery(const json_t *event) {
  print_id(event);
  print_member(" on ", event, "carrier");
  print_member(" of ", event, "tool");
  print_member(", call ", event, "call_id");
}

static void print_settled(const json_t *event) {
  print_id(event);
  putchar(' ');
  show_outcome(json_value_text(event, "outcome"), 0);
  print_member(" by ", event, "settled_by");
}

static void print_rewound(const json_t *event) {
  print_id(event);
  fputs(" is no longer in the transcript; what only it showed is pending again", stdout);
}

static void print_turn(const json_t *event) {
  const json_t *message = NULL;
  size_t i = 0;
  print_member("", event, "step");
  print_member(": ", event, "from");
  print_member(" to ", event, "to");
  json_array_foreach(json_object_get(event, "messages"), i, message) {
    print_member(i ? ", " : "; ", message, "id");
    print_member(" ", message, "state");
  }
}

static void print_event(struct show_clock *clock, const json_t *event) {
  static const struct {
    const char *name;
    void (*print)(const json_t *event);
  } kinds[] = {{"push", print_item},       {"delivery", print_delivery}, {"settled", print_settled},
               {"outcome", print_outcome}, {"rewound", print_rewound},   {"turn", print_turn}};
  const char *name = json_value_text(event, "event");
  show_time(clock, json_value_text(event, "time"));
  printf("  %-8s  ", name);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(name, kinds[i].name) == 0) kinds[i].print(event);
  putchar('\n');
}

static int print_events(struct tailing *tailing, const json_t *events, size_t first) {
  const struct cli *cli = tailing->cli;
  for (size_t i = first; i < json_array_size(events); i++) {
    const json_t *event = json_array_get(events, i);
    if (show_time_ms(json_value_text(event, "time")) < tailing->since_ms) continue;
    char *line = cli->json ? json_dumps(event, JSON_COMPACT) : NULL;
    if (cli->json && !line) return cli_fail(cli, "out of memory");
    if (line) {
      print_json_text(stdout, line);
      putchar('\n');
      free(line);
    } else print_event(&tailing->clock, event);
  }
  if (!fflush(stdout)) return 0;
  return errno == EPIPE ? EXIT_PIPE : cli_fail(cli, "cannot print it: %s", strerror(errno));
}

/* -- asking again and again -------------------------------------------------------------------- */

/* Prints new events, of the first answer only the newest `most`. With `watch`, a lost store is
 * asked again after a pause; without it (NULL), that is an error. */
static int look(struct tailing *tailing, struct follow *watch, size_t most) {
  struct tidings_error error = {.size = sizeof error};
  const struct cli *cli = tailing->cli;
  const char *after = tailing->tail.end[0] ? tailing->tail.end : NULL;
  json_t *answer = NULL;
  int32_t refused = kit_query(tailing->kit,
                              json_pack("{s:s, s:s, s:s*}", "name", "timeline", "session",
                                        tailing->session, "after", after),
                              &answer, &error);
  if (refused && !watch) return cli_fail_with(cli, refused, &error);
  if (watch) {
    int code = patience_store(cli, &tailing->patience, refused, &error);
    watch->pace_ms = tailing->patience.pause_ms;
    if (refused) follow_look_again(watch);
    if (refused) return code;
  }
  json_t *events = tail_take(&tailing->tail, answer);
  size_t count = json_array_size(events);
  int code = events ? print_events(tailing, events, after || count < most ? 0 : count - most)
                    : cli_fail(cli, "out of memory");
  json_decref(events);
  json_decref(answer);
  return code;
}

static int tail_session(struct tailing *tailing, size_t most, bool follow) {
  struct follow watch;
  unsigned woke = 0;
  if (!follow) return look(tailing, NULL, most);
  int code = follow_begin(tailing->cli, &watch);
  if (code) return code;
  code = look(tailing, &watch, most);
  while (!code && !(woke & FOLLOW_OVER)) {
    int wrong = follow_sleep(&watch, -1, -1, &woke);
    if (wrong) code = cli_fail(tailing->cli, "cannot wait: %s", strerror(wrong));
    else if (woke & FOLLOW_GONE) code = follow_say_gone(&watch);
    else if (woke == FOLLOW_LOOK) code = look(tailing, &watch, most);
  }
  follow_end(&watch);
  return code ? code : interrupt_exit_code();
}

static int run_tail(struct cli *cli) {
  struct tailing tailing = {.cli = cli, .since_ms = INT64_MIN};
  uint64_t lines = 0;
  const char *since = NULL;
  bool follow = false, given = false;
  char *session = NULL;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case 'f': follow = true; break;
    case OPTION_SINCE: since = cli->value; break;
    case 'n':
      given = true;
      if (cli_number(cli->value, 0, 1000000, &lines))
        return cli_usage(cli, "--lines: '%s' is not a number from 0 to 1000000", cli->value);
      break;
    default: return cli->exit_code;
    }
  }
  int code = cli_take_words(cli, 0, 0, "");
  if (!given) lines = since ? SIZE_MAX : 20;
  if (!code && since) code = print_since(cli, since, &tailing.since_ms);
  if (!code) code = session_open(cli, &tailing.kit, &session);
  if (code) return code;
  tailing.session = session;
  code = tail_session(&tailing, (size_t)lines, follow);
  tail_finish(&tailing.tail);
  kit_close(tailing.kit);
  free(session);
  return code;
}

const struct cli_verb verb_tail = {
    .name = "tail",
    .usage = "[OPTION]...",
    .summary = "print what happens in a session, line by line",
    .help = "Prints the newest events of a session: pushes, deliveries, how they were settled, the "
            "outcome of each notification, deliveries that were taken back because the transcript "
            "was rewound, and the steps of turns. With --follow, goes on with "
            "what happens next, until it is interrupted. With --json, each line is one JSON "
            "object.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON | ONLY_READS | FOR_PEOPLE,
    .options =
        (const struct cli_option[]){
            {.key = 'f', .name = "follow", .help = "Go on with what happens next."},
            {.key = 'n',
             .name = "lines",
             .argument = "N",
             .help = "Begin with the newest N lines; 20 if not given."},
            SINCE_OPTION("recorded"),
            {.name = NULL}},
    .run = run_tail,
    .examples =
        (const struct cli_example[]){
            {"tidings tail -f", "Watch what the agent in this folder gets."},
            {"tidings tail -f -n 0 --json | jq 'select(.event == \"outcome\")'",
             "Only how notifications end from now on."},
            {NULL, NULL}},
};
