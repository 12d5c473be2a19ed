/* SPDX-License-Identifier: MIT
 *
 * stats.c: `tidings stats`: counts, for people, programs and Prometheus.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/verbs.h"
#include "command/ask.h"
#include "command/json_value.h"
#include "command/kit.h"
#include "command/listeners.h"
#include "command/print.h"
#include "command/session.h"
#include "command/session_list.h"
#include "command/show.h"
#include "command/subscriptions.h"
#include "command/terminal.h"
#include "common/clock.h"
#include "common/store_url.h"
#include "common/utf8.h"
#include <jansson.h>

/* -- for Prometheus ---------------------------------------------------------------------------- */

/* Prints a label's value. Prometheus's text format escapes only these three characters. Control and
 * invisible characters are shown as {U+009B}. */
static void print_label(const char *value) {
  struct tidings_span text = span_text(value);
  for (size_t at = 0; at < text.len;) {
    struct utf8_shown shown = utf8_show(text, at);
    if (value[at] == '\n') fputs("\\n", stdout);
    else if (value[at] == '"' || value[at] == '\\') printf("\\%c", value[at]);
    else fwrite(shown.text, 1, shown.len, stdout);
    at += shown.taken;
  }
}

static void print_head(const char *name, const char *type, const char *help) {
  printf("# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_number(const char *name, const char *help, double value) {
  print_head(name, "gauge", help);
  printf("%s %.15g\n", name, value);
}

static void print_by(const char *name, const char *help, const char *label, const json_t *counts) {
  const json_t *count = NULL;
  const char *value = NULL;
  print_head(name, "gauge", help);
  json_object_foreach((json_t *)(uintptr_t)counts, value, count) {
    printf("%s{%s=\"", name, label);
    print_label(value);
    printf("\"} %lld\n", (long long)json_integer_value(count));
  }
}

static void print_latency(const json_t *latency) {
  static const char name[] = "tidings_delivery_latency_seconds";
  const json_t *bucket = NULL;
  size_t i = 0;
  print_head(name, "histogram",
             "From push to delivery, of what was delivered in the last hour; in a database, of the "
             "newest of each session.");
  json_array_foreach(json_object_get(latency, "buckets"), i, bucket) {
    printf("%s_bucket{le=\"%g\"} %llu\n", name,
           (double)json_value_count(bucket, "most_ms") / 1000.0,
           (unsigned long long)json_value_count(bucket, "count"));
  }
  printf("%s_bucket{le=\"+Inf\"} %llu\n", name,
         (unsigned long long)json_value_count(latency, "count"));
  printf("%s_sum %.15g\n%s_count %llu\n", name,
         (double)json_value_count(latency, "sum_ms") / 1000.0, name,
         (unsigned long long)json_value_count(latency, "count"));
}

/* Prints the disk space of the store's folder or tables. */
static void print_store_size(const struct cli *cli, const json_t *database) {
  char *store = kit_store_path(cli), path[4096];
  struct stat info;
  double bytes = (double)json_value_count(database, "bytes");
  if (store && !store_url_is(store) &&
      snprintf(path, sizeof path, "%s/data.mdb", store) < (int)sizeof path && !stat(path, &info))
    bytes = (double)info.st_blocks * 512;
  if (bytes > 0) print_number("tidings_store_bytes", "Disk space of the store.", bytes);
  free(store);
}

static void print_database(const json_t *database) {
  print_number("tidings_inbox", "Pushes that no host has read yet; they are pending.",
               (double)json_value_count(database, "inbox"));
  print_by("tidings_dead_letters", "Pushes that ended because nobody took them.", "reason",
           json_object_get(database, "dead_letters"));
  print_by("tidings_connections", "Connections of roles that may use the store.", "role",
           json_object_get(database, "connections"));
  print_number("tidings_standby_waits",
               "Processes of the server that wait for a standby; a call that was given up may have "
               "left them.",
               (double)json_value_count(database, "standby_waits"));
}

/* Prints the answer of the query `totals`. It has sums only, because sessions are many, and come
 * and go. */
static void stats_prometheus(const struct cli *cli, const json_t *totals) {
  const json_t *database = json_object_get(totals, "database");
  int64_t oldest_ms = show_time_ms(json_value_text(totals, "oldest_pending"));
  double age = oldest_ms ? (double)(clock_wall_ms() - oldest_ms) / 1000.0 : 0;
  print_number("tidings_pushed",
               "Notifications that were pushed, to the sessions that the store has.",
               (double)json_value_count(totals, "pushed"));
  print_number("tidings_pending", "Notifications that are pending.",
               (double)json_value_count(totals, "pending"));
  print_number("tidings_leased", "Notifications that were handed out and are not settled yet.",
               (double)json_value_count(totals, "leased"));
  print_number("tidings_oldest_pending_seconds",
               "Age of the oldest pending notification; 0: nothing is pending.", age < 0 ? 0 : age);
  print_number("tidings_queued_messages", "Messages that are not over.",
               (double)json_value_count(totals, "queued"));
  print_by("tidings_sessions", "Sessions, by state.", "state", json_object_get(totals, "sessions"));
  print_by("tidings_ended",
           "Notifications that ended, by outcome, in the sessions that the store has.", "outcome",
           json_object_get(totals, "outcomes"));
  print_by("tidings_pending_by_level", "Pending notifications, by level.", "level",
           json_object_get(totals, "by_level"));
  print_by("tidings_pending_by_source",
           "Pending notifications, by source, without those that no host has read yet.", "source",
           json_object_get(totals, "by_source"));
  print_latency(json_object_get(totals, "latency"));
  print_store_size(cli, database);
  if (database) print_database(database);
}

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

/* -- of other programs ------------------------------------------------------------------------- */

static void print_route(const char *path, const json_t *counts) {
  const char *status = NULL;
  const json_t *count = NULL;
  fputs("  ", stdout);
  terminal_text(stdout, path);
  printf("  accepted %llu, repeated %llu, overtaken %llu, ignored %llu, without an address %llu",
         (unsigned long long)json_value_count(counts, "accepted"),
         (unsigned long long)json_value_count(counts, "repeated"),
         (unsigned long long)json_value_count(counts, "overtaken"),
         (unsigned long long)json_value_count(counts, "ignored"),
         (unsigned long long)json_value_count(counts, "unaddressed"));
  json_object_foreach(json_object_get(counts, "refused"), status, count)
      printf(", %s: %lld", status, (long long)json_integer_value(count));
  putchar('\n');
}

static void print_listener(const json_t *listener) {
  const json_t *routes = json_object_get(listener, "routes"), *route = NULL;
  size_t i = 0;
  fputs("listening on ", stdout);
  terminal_text(stdout, json_value_text(listener, "address"));
  printf(", process %llu\n", (unsigned long long)json_value_count(listener, "pid"));
  json_array_foreach(routes, i, route) print_route(json_value_text(route, "path"), route);
  print_route("elsewhere", json_object_get(listener, "elsewhere"));
}

static void print_subscription(const json_t *one) {
  const json_t *counts = json_object_get(one, "counts");
  int64_t last_ms = json_integer_value(json_object_get(one, "event_ms"));
  const char *event = json_value_text(one, "event");
  terminal_text(stdout, event);
  fputs(event[0] ? " of " : "", stdout);
  terminal_text(stdout, json_value_text(one, "server"));
  fputs(" for ", stdout);
  terminal_text(stdout, json_value_text(one, "to"));
  if (json_is_true(json_object_get(one, "alive")))
    printf(", process %llu\n  ", (unsigned long long)json_value_count(one, "pid"));
  else fputs(", not running\n  ", stdout);
  terminal_text(stdout, json_value_text(one, "state"));
  printf("; pushed %llu, known %llu, not of interest %llu, refused %llu; ",
         (unsigned long long)json_value_count(counts, "pushed"),
         (unsigned long long)json_value_count(counts, "known"),
         (unsigned long long)json_value_count(counts, "ignored"),
         (unsigned long long)json_value_count(counts, "refused"));
  fputs(last_ms ? "last event " : "no event yet", stdout);
  if (last_ms) show_moment(last_ms);
  putchar('\n');
}

/* `list`: what each program reports about itself; taken over. */
static int print_programs(const struct cli *cli, json_t *list, const char *none,
                          void (*print)(const json_t *)) {
  const json_t *one = NULL;
  size_t i = 0;
  int code = 0;
  if (!list) return cli_fail(cli, "out of memory");
  if (cli->json) code = print_json(cli, list);
  else if (!json_array_size(list)) puts(none);
  else json_array_foreach(list, i, one) print(one);
  json_decref(list);
  return code;
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

/* `only`: the only session; NULL: all. */
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

/* Prints the sums over all sessions, or those of the named one. */
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
  if (listeners)
    return print_programs(cli, listeners_list(cli), "No 'tidings listen' runs on this store.",
                          print_listener);
  if (subscriptions)
    return print_programs(cli, subscriptions_list(cli), "This store has no subscription.",
                          print_subscription);
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
