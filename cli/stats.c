/* SPDX-License-Identifier: MIT
 *
 * stats.c: `tidings stats`: counts, for people, programs and Prometheus.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stats.h"
#include "cli/stats_prometheus.h"
#include "cli/verbs.h"
#include "command/ask.h"
#include "command/kit.h"
#include "command/print.h"
#include "command/session.h"
#include "command/session_list.h"
#include "command/terminal.h"

enum { OPTION_PROMETHEUS = CLI_LONG_ONLY, OPTION_LISTEN, OPTION_SUBSCRIBE };

/* -- for people -------------------------------------------------------------------------------- */

static void print_counts(const char *label, const json_t *counts) {
  const json_t *count = NULL;
  const char *name = NULL;
  bool any = false;
  json_object_foreach((json_t *)(uintptr_t)counts, name, count) {
    if (!json_integer_value(count)) continue;
    printf("%s%s", any ? ", " : label, any ? "" : " ");
    terminal_text(stdout, name);
    printf(" %lld", (long long)json_integer_value(count));
    any = true;
  }
  if (any) putchar('\n');
}

static void print_stats(const char *session, const json_t *stats) {
  fputs("session   ", stdout);
  terminal_text(stdout, session);
  printf("\npushed    %llu\npending   %llu\nleased    %llu\n",
         (unsigned long long)json_value_count(stats, "pushed"),
         (unsigned long long)json_value_count(stats, "pending"),
         (unsigned long long)json_value_count(stats, "leased"));
  print_counts("ended    ", json_object_get(stats, "outcomes"));
  print_counts("sources  ", json_object_get(stats, "by_source"));
  print_counts("levels   ", json_object_get(stats, "by_level"));
}

/* -- the verb ---------------------------------------------------------------------------------- */

static int add_stats(const struct cli *cli, struct hostkit *kit, const char *session, bool alive,
                     json_t *all) {
  json_t *stats = NULL;
  int code = ask(cli, kit, json_pack("{s:s, s:s}", "name", "stats", "session", session), &stats);
  if (code) return code;
  if (json_object_set_new(stats, "alive", json_boolean(alive)) ||
      json_object_set(all, session, stats))
    code = cli_fail(cli, "out of memory");
  json_decref(stats);
  return code;
}

/* `only`: this session; NULL: all. */
static int add_sessions(const struct cli *cli, struct hostkit *kit, const char *only, json_t *all) {
  const json_t *session = NULL;
  json_t *answer = NULL;
  size_t i = 0;
  struct tidings_error error = {.size = sizeof error};
  int32_t refused = session_list(kit, json_object(), &answer, &error);
  int code = refused ? cli_fail_with(cli, refused, &error) : 0;
  json_array_foreach(json_object_get(answer, "sessions"), i, session) {
    const char *name = json_value_text(session, "session");
    bool alive = json_is_true(json_object_get(session, "alive"));
    if (!code && (!only || strcmp(name, only) == 0)) code = add_stats(cli, kit, name, alive, all);
  }
  if (!code && only && !json_object_size(all)) code = add_stats(cli, kit, only, false, all);
  json_decref(answer);
  return code;
}

static int collect(const struct cli *cli, bool every, json_t *all) {
  struct hostkit *kit = NULL;
  char *session = NULL;
  int code = every ? kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &kit)
                   : session_open(cli, &kit, &session);
  if (!code) code = add_sessions(cli, kit, every ? NULL : session, all);
  kit_close(kit);
  free(session);
  return code;
}

/* The sums over all sessions, or those of the one that was named. */
static int print_sums(const struct cli *cli) {
  struct hostkit *kit = NULL;
  json_t *totals = NULL;
  char *session = NULL;
  int code = cli->session ? session_open(cli, &kit, &session)
                          : kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &kit);
  if (!code)
    code = ask(cli, kit, json_pack("{s:s, s:s*}", "name", "totals", "session", session), &totals);
  if (!code) stats_prometheus(cli, totals);
  json_decref(totals);
  kit_close(kit);
  free(session);
  return code;
}

static int stats_verb(struct cli *cli) {
  bool every = false, prometheus = false, listeners = false, subscriptions = false;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case 'a': every = true; break;
    case OPTION_PROMETHEUS: prometheus = true; break;
    case OPTION_LISTEN: listeners = true; break;
    case OPTION_SUBSCRIBE: subscriptions = true; break;
    default: return cli->exit_code;
    }
  }
  int code = cli_take_words(cli, 0, 0, "");
  if (code) return code;
  if (prometheus && cli->json) return cli_usage(cli, "--prometheus and --json exclude each other");
  if (every && cli->session) return cli_usage(cli, "--all and -s exclude each other");
  if ((listeners || subscriptions) && (every || prometheus || cli->session))
    return cli_usage(cli, "--listen and --subscribe exclude --all, --prometheus and -s");
  if (listeners && subscriptions)
    return cli_usage(cli, "--listen and --subscribe exclude each other");
  if (listeners) return stats_of_listeners(cli);
  if (subscriptions) return stats_of_subscriptions(cli);
  json_t *all = json_object();
  const json_t *stats = NULL;
  const char *session = NULL;
  code = prometheus ? print_sums(cli) : collect(cli, every, all);
  if (!code && cli->json) code = print_json(cli, all);
  else if (!code) json_object_foreach(all, session, stats) print_stats(session, stats);
  json_decref(all);
  return code;
}

const struct cli_verb verb_stats = {
    .name = "stats",
    .usage = "[OPTION]...",
    .summary = "count pushed and pending notifications and their outcomes",
    .help = "Prints the counts of a session. With --prometheus, prints figures of "
            "all sessions together (or of the one that -s names) in the Prometheus text "
            "format, for the node exporter's textfile collector or a small web "
            "server. It names no session.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON | ONLY_READS,
    .options =
        (const struct cli_option[]){
            {.key = 'a', .name = "all", .help = "Count all sessions."},
            {.key = OPTION_PROMETHEUS,
             .name = "prometheus",
             .help = "Print the Prometheus text format."},
            {.key = OPTION_LISTEN,
             .name = "listen",
             .help = "Count how 'tidings listen' answered the requests of each route since it "
                     "started."},
            {.key = OPTION_SUBSCRIBE,
             .name = "subscribe",
             .help = "Count what came of the events of each 'tidings subscribe' since it began."},
            {.name = NULL},
        },
    .run = stats_verb,
    .examples = (const struct cli_example[]){{"tidings stats --all", "All sessions."},
                                             {"tidings stats --prometheus > tidings.prom",
                                              "Write a file for the textfile collector."},
                                             {NULL, NULL}},
};
