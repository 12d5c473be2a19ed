/* SPDX-License-Identifier: MIT
 *
 * stats.c: `tidings stats`: counts, for people, programs and Prometheus.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stats.h"
#include "cli/verbs.h"
#include "command/ask.h"
#include "command/kit.h"
#include "command/print.h"
#include "command/session.h"
#include "command/terminal.h"
#include "common/utf8.h"

enum { OPTION_PROMETHEUS = CLI_LONG_ONLY, OPTION_LISTEN };

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

/* -- for Prometheus ---------------------------------------------------------------------------- */

/* The text format escapes these three in a label's value, and nothing else. What a terminal obeys
 * or hides is shown as {U+009B}. */
static void label_value(const char *value) {
  struct tidings_span text = span_text(value);
  for (size_t at = 0; at < text.len;) {
    struct utf8_shown shown = utf8_show(text, at);
    if (value[at] == '\n') fputs("\\n", stdout);
    else if (value[at] == '"' || value[at] == '\\') printf("\\%c", value[at]);
    else fwrite(shown.text, 1, shown.len, stdout);
    at += shown.taken;
  }
}

static void sample(const char *metric, const char *session, const char *label, const char *value,
                   json_int_t count) {
  printf("%s{session=\"", metric);
  label_value(session);
  putchar('"');
  if (label) {
    printf(",%s=\"", label);
    label_value(value);
    putchar('"');
  }
  printf("} %lld\n", (long long)count);
}

static const struct metric {
  const char *name, *member, *label, *type, *help;
} metrics[] = {
    {"tidings_pushed_total", "pushed", NULL, "counter", "Notifications that were pushed."},
    {"tidings_pending", "pending", NULL, "gauge", "Notifications that are pending."},
    {"tidings_leased", "leased", NULL, "gauge",
     "Notifications that were handed out and are not settled yet."},
    {"tidings_ended_total", "outcomes", "outcome", "counter",
     "Notifications that ended, by outcome."},
    {"tidings_stored_by_source", "by_source", "source", "gauge",
     "Notifications that the store holds, by source."},
    {"tidings_stored_by_level", "by_level", "level", "gauge",
     "Notifications that the store holds, by level."},
};

/* All samples of a metric stand together. */
static void print_metrics(const json_t *all) {
  for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
    const struct metric *metric = &metrics[i];
    const json_t *stats = NULL, *count = NULL;
    const char *session = NULL, *value = NULL;
    printf("# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help, metric->name, metric->type);
    json_object_foreach((json_t *)(uintptr_t)all, session, stats) {
      json_t *member = json_object_get(stats, metric->member);
      if (!metric->label) sample(metric->name, session, NULL, NULL, json_integer_value(member));
      else
        json_object_foreach(member, value, count)
            sample(metric->name, session, metric->label, value, json_integer_value(count));
    }
  }
}

/* -- the verb ---------------------------------------------------------------------------------- */

static int add_stats(const struct cli *cli, struct hostkit *kit, const char *session, json_t *all) {
  json_t *stats = NULL;
  int code = ask(cli, kit, json_pack("{s:s, s:s}", "name", "stats", "session", session), &stats);
  if (!code && json_object_set_new(all, session, stats)) code = cli_fail(cli, "out of memory");
  return code;
}

static int add_every(const struct cli *cli, struct hostkit *kit, json_t *all) {
  const json_t *session = NULL;
  json_t *answer = NULL;
  size_t i = 0;
  int code = ask(cli, kit, json_pack("{s:s, s:i}", "name", "sessions", "limit", 10000), &answer);
  json_array_foreach(json_object_get(answer, "sessions"), i, session) {
    if (!code) code = add_stats(cli, kit, json_value_text(session, "session"), all);
  }
  json_decref(answer);
  return code;
}

static int collect(const struct cli *cli, bool every, json_t *all) {
  struct hostkit *kit = NULL;
  char *session = NULL;
  int code = every ? kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &kit)
                   : session_open(cli, &kit, &session);
  if (!code) code = every ? add_every(cli, kit, all) : add_stats(cli, kit, session, all);
  kit_close(kit);
  free(session);
  return code;
}

static int stats_verb(struct cli *cli) {
  bool every = false, prometheus = false, listeners = false;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case 'a': every = true; break;
    case OPTION_PROMETHEUS: prometheus = true; break;
    case OPTION_LISTEN: listeners = true; break;
    default: return cli->exit_code;
    }
  }
  int code = cli_take_words(cli, 0, 0, "");
  if (code) return code;
  if (prometheus && cli->json) return cli_usage(cli, "--prometheus and --json exclude each other");
  if (every && cli->session) return cli_usage(cli, "--all and -s exclude each other");
  if (listeners && (every || prometheus || cli->session))
    return cli_usage(cli, "--listen excludes --all, --prometheus and -s");
  if (listeners) return stats_of_listeners(cli);
  json_t *all = json_object();
  const json_t *stats = NULL;
  const char *session = NULL;
  code = collect(cli, every || (prometheus && !cli->session), all);
  if (!code && prometheus) print_metrics(all);
  else if (!code && cli->json) code = print_json(cli, all);
  else if (!code) json_object_foreach(all, session, stats) print_stats(session, stats);
  json_decref(all);
  return code;
}

const struct cli_verb verb_stats = {
    .name = "stats",
    .usage = "[OPTION]...",
    .summary = "count pushed and pending notifications and their outcomes",
    .help = "Prints the counts of a session. With --prometheus, prints the counts of "
            "all sessions (or of the one that -s names) in the Prometheus text "
            "format, for the node exporter's textfile collector or a small web "
            "server.",
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
            {.name = NULL},
        },
    .run = stats_verb,
    .examples = (const struct cli_example[]){{"tidings stats --all", "All sessions."},
                                             {"tidings stats --prometheus > tidings.prom",
                                              "Write a file for the textfile collector."},
                                             {NULL, NULL}},
};
