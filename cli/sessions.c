/* SPDX-License-Identifier: MIT
 *
 * sessions.c: `tidings sessions`: lists the sessions and the one that is meant in this folder.
 */
#include "cli/sessions.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verbs.h"
#include "command/kit.h"
#include "command/print.h"
#include "command/session.h"
#include "command/session_choice.h"
#include "command/session_list.h"
#include "command/terminal.h"

static int ask_for_sessions(const struct cli *cli, json_t **ret_answer) {
  struct hostkit *kit = NULL;
  int code = kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &kit);
  struct tidings_error error = {.size = sizeof error};
  int32_t refused =
      code ? 0 : session_list(kit, json_pack("{s:b}", "mailboxes", 0), ret_answer, &error);
  kit_close(kit);
  return refused ? cli_fail_with(cli, refused, &error) : code;
}

static void print_session(const json_t *session) {
  bool alive = json_is_true(json_object_get(session, "alive"));
  show_start(alive ? SHOW_GOOD : SHOW_DIM);
  printf("%-11s", session_life(session));
  show_end();
  printf(" %6llu pending  ", (unsigned long long)json_value_count(session, "pending"));
  fputs("session:", stdout);
  terminal_text(stdout, json_value_text(session, "session"));
  if (json_value_text(session, "host")[0]) fputs("  of ", stdout);
  terminal_text(stdout, json_value_text(session, "host"));
  if (json_value_text(session, "machine")[0]) fputs("  on machine ", stdout);
  terminal_text(stdout, json_value_text(session, "machine"));
  if (json_value_text(session, "cwd")[0]) fputs("  in ", stdout);
  terminal_text(stdout, json_value_text(session, "cwd"));
  if (json_value_text(session, "used")[0]) {
    fputs("  used ", stdout);
    show_moment(show_time_ms(json_value_text(session, "used")));
  }
  putchar('\n');
}

static void print_sessions(const json_t *sessions, bool since) {
  const json_t *session = NULL;
  size_t i = 0;
  if (!json_array_size(sessions))
    puts(since ? "No session was used since then." : "The store has no sessions yet.");
  json_array_foreach(sessions, i, session) print_session(session);
  if (i) puts("'tidings push --to session:ID TEXT' writes to one of them; '-s ID' names it.");
}

static void print_name(const json_t *session) {
  terminal_text(stdout, json_value_text(session, "session"));
  putchar('\n');
}

/* Drops sessions that were not used since then: their last turn, prompt or tool result counts, or
 * else their attachment. */
static void drop_unused(json_t *sessions, int64_t since_ms) {
  for (size_t i = json_array_size(sessions); since_ms != INT64_MIN && i-- > 0;) {
    const json_t *session = json_array_get(sessions, i);
    const char *used = json_value_text(session, "used");
    if (show_time_ms(used[0] ? used : json_value_text(session, "since")) < since_ms)
      (void)json_array_remove(sessions, i);
  }
}

int sessions_list(const struct cli *cli, bool names) {
  json_t *answer = NULL;
  int code = ask_for_sessions(cli, &answer);
  const json_t *sessions = json_object_get(answer, "sessions"), *session = NULL;
  size_t i = 0;
  if (!code && cli->json) code = print_json(cli, answer);
  else if (!code && !names) print_sessions(sessions, false);
  else json_array_foreach(sessions, i, session) print_name(session);
  json_decref(answer);
  return code;
}

/* `why` has room for 128 bytes. NULL: no session is chosen here. */
static const char *find_meant(const struct cli *cli, const json_t *sessions, char *why) {
  char folder[PATH_MAX];
  const char *named = session_named(cli);
  (void)snprintf(why, 128, "$TIDINGS_SESSION names it");
  if (named || !getcwd(folder, sizeof folder)) return named;
  struct session_choice choice = session_choice_by_folder(sessions, folder);
  if (choice.session) session_choice_why(&choice, why, 128);
  return choice.session ? json_value_text(choice.session, "session") : NULL;
}

static void print_meant(const char *meant, const char *why) {
  if (!meant) {
    puts("No running session works in this folder.");
    return;
  }
  fputs("Here, without -s: ", stdout);
  terminal_text(stdout, meant);
  printf("; %s.\n", why);
}

void sessions_overview(const struct cli *cli) {
  enum { MOST_RUNNING = 5 };
  struct tidings_error error = {.size = sizeof error};
  struct hostkit *kit = NULL;
  json_t *answer = NULL;
  const json_t *session = NULL;
  char why[128];
  size_t i = 0, running = 0;
  int32_t refused = kit_open(cli, TIDINGS_ROLE_PRODUCER, 0, &kit, &error);
  if (!refused) refused = session_list(kit, json_pack("{s:b}", "mailboxes", 0), &answer, &error);
  const json_t *sessions = json_object_get(answer, "sessions");
  if (refused) puts("There is no store yet that can be read: no agent has used tidings here.");
  json_array_foreach(sessions, i, session) {
    if (!json_is_true(json_object_get(session, "alive"))) continue;
    if (running++ < MOST_RUNNING) print_session(session);
  }
  if (running > MOST_RUNNING) printf("and %zu more that run\n", running - MOST_RUNNING);
  if (!refused && !running)
    printf("No agent runs; the store has %zu session%s.\n", json_array_size(sessions),
           json_array_size(sessions) == 1 ? "" : "s");
  if (running) print_meant(find_meant(cli, sessions, why), why);
  json_decref(answer);
  kit_close(kit);
}

enum { OPTION_SINCE = CLI_LONG_ONLY };

static int sessions_verb(struct cli *cli) {
  char why[128];
  const char *since = NULL;
  int64_t since_ms = INT64_MIN;
  json_t *answer = NULL;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key == CLI_STOP) return cli->exit_code;
    since = cli->value;
  }
  int code = cli_take_words(cli, 0, 0, "");
  if (!code && since) code = print_since(cli, since, &since_ms);
  if (!code) code = ask_for_sessions(cli, &answer);
  if (code) return code;
  json_t *sessions = json_object_get(answer, "sessions"), *all = json_copy(sessions);
  const char *meant = find_meant(cli, all, why);
  drop_unused(sessions, since_ms);
  if (cli->json) {
    json_t *here = meant ? json_pack("{s:s, s:s}", "session", meant, "why", why) : json_null();
    json_object_set_new(answer, "here", here);
    code = print_json(cli, answer);
  } else {
    print_sessions(sessions, since != NULL);
    if (json_array_size(sessions)) print_meant(meant, why);
  }
  json_decref(all);
  json_decref(answer);
  return code;
}

const struct cli_verb verb_sessions = {
    .name = "sessions",
    .usage = "[OPTION]...",
    .summary = "list the sessions, and show which one is meant in this folder",
    .help = "Lists the sessions of the store, those of running hosts first, with the time at "
            "which each was used last: its newest turn, prompt or tool result. Then prints the "
            "session that commands in this folder mean without -s, and why. The address of each "
            "for --to is session:ID. Mailboxes are listed by 'tidings box'. This command changes "
            "nothing.",
    .with = WITH_STORE | WITH_CONFIG | WITH_JSON | ONLY_READS | FOR_PEOPLE,
    .options = (const struct cli_option[]){SINCE_OPTION("used"), {.name = NULL}},
    .run = sessions_verb,
    .examples = (const struct cli_example[]){{"tidings sessions", "Which agent gets what I push "
                                                                  "here?"},
                                             {NULL, NULL}},
};
