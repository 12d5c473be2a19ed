/* SPDX-License-Identifier: MIT
 *
 * stats_prometheus.c: the sums of all sessions, as Prometheus reads them. It names no session,
 * because there are many, and they come and go.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/stats_prometheus.h"
#include "command/json_value.h"
#include "command/kit.h"
#include "command/show.h"
#include "common/clock.h"
#include "common/store_url.h"
#include "common/utf8.h"

enum { MOST_SOURCES = 50 };

/* -- sums -------------------------------------------------------------------------------------- */

static int add_number(json_t *sums, const char *name, json_int_t more) {
  return json_object_set_new(sums, name,
                             json_integer(json_integer_value(json_object_get(sums, name)) + more));
}

/* {"delivered": 3}: member by member. Beyond `most` members they are "other". */
static int add_counts(json_t *sums, const json_t *counts, size_t most) {
  const json_t *count = NULL;
  const char *name = NULL;
  int failed = 0;
  json_object_foreach((json_t *)(uintptr_t)counts, name, count) {
    bool fits = json_object_get(sums, name) || json_object_size(sums) < most;
    failed |= add_number(sums, fits ? name : "other", json_integer_value(count));
  }
  return failed;
}

static int add_latency(json_t *sums, const json_t *latency) {
  const json_t *buckets = json_object_get(latency, "buckets"), *bucket = NULL;
  size_t i = 0;
  int failed = add_number(sums, "count", (json_int_t)json_value_count(latency, "count")) |
               add_number(sums, "sum_ms", (json_int_t)json_value_count(latency, "sum_ms"));
  json_array_foreach(buckets, i, bucket) {
    char bound[24];
    (void)snprintf(bound, sizeof bound, "%g", (double)json_value_count(bucket, "most_ms") / 1000.0);
    failed |= add_number(sums, bound, (json_int_t)json_value_count(bucket, "count"));
  }
  return failed;
}

static int add_session(json_t *sums, const json_t *stats) {
  static const char *const numbers[] = {"pushed", "pending", "leased", "queued"};
  const char *state = json_is_true(json_object_get(stats, "alive"))
                          ? json_value_text(stats, "state")
                          : "not_running";
  int64_t oldest_ms = show_time_ms(json_value_text(stats, "oldest_pending"));
  int64_t known_ms = json_integer_value(json_object_get(sums, "oldest_ms"));
  int failed = 0;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    failed |= add_number(sums, numbers[i], (json_int_t)json_value_count(stats, numbers[i]));
  if (oldest_ms && (!known_ms || oldest_ms < known_ms))
    failed |= json_object_set_new(sums, "oldest_ms", json_integer(oldest_ms));
  failed |= add_number(json_object_get(sums, "states"), state, 1);
  failed |= add_counts(json_object_get(sums, "outcomes"), json_object_get(stats, "outcomes"), 64);
  failed |= add_counts(json_object_get(sums, "by_level"), json_object_get(stats, "by_level"), 64);
  failed |= add_counts(json_object_get(sums, "by_source"), json_object_get(stats, "by_source"),
                       MOST_SOURCES);
  failed |= add_latency(json_object_get(sums, "latency"), json_object_get(stats, "latency"));
  return failed;
}

/* A state without a session is printed too, with 0. */
static json_t *sum_up(const json_t *all) {
  json_t *sums =
      json_pack("{s:{s:i,s:i,s:i,s:i,s:i,s:i,s:i}, s:{}, s:{}, s:{}, s:{}}", "states", "idle", 0,
                "starting", 0, "busy", 0, "retrying", 0, "waiting", 0, "error", 0, "not_running", 0,
                "outcomes", "by_level", "by_source", "latency");
  const json_t *stats = NULL;
  const char *session = NULL;
  int failed = !sums;
  json_object_foreach((json_t *)(uintptr_t)all, session, stats) {
    if (!failed) failed = add_session(sums, stats);
  }
  if (!failed) return sums;
  json_decref(sums);
  return NULL;
}

/* -- the text format --------------------------------------------------------------------------- */

/* In a label's value the text format escapes only these three. Control and invisible characters are
 * shown as {U+009B}. */
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
  const json_t *count = NULL;
  const char *bound = NULL;
  print_head(name, "histogram", "From push to delivery, of what was delivered in the last hour.");
  json_object_foreach((json_t *)(uintptr_t)latency, bound, count) {
    if (bound[0] >= '0' && bound[0] <= '9')
      printf("%s_bucket{le=\"%s\"} %lld\n", name, bound, (long long)json_integer_value(count));
  }
  printf("%s_bucket{le=\"+Inf\"} %llu\n", name,
         (unsigned long long)json_value_count(latency, "count"));
  printf("%s_sum %.15g\n%s_count %llu\n", name,
         (double)json_value_count(latency, "sum_ms") / 1000.0, name,
         (unsigned long long)json_value_count(latency, "count"));
}

/* Disk space of the store's folder; nothing is said of a store in a database. */
static void print_store_size(const struct cli *cli) {
  char *store = kit_store_path(cli), path[4096];
  struct stat info;
  bool folder = store && !store_url_is(store);
  if (folder && snprintf(path, sizeof path, "%s/data.mdb", store) < (int)sizeof path &&
      !stat(path, &info))
    print_number("tidings_store_bytes", "Disk space of the store.", (double)info.st_blocks * 512);
  free(store);
}

int stats_prometheus(const struct cli *cli, const json_t *all) {
  json_t *sums = sum_up(all);
  if (!sums) return cli_fail(cli, "out of memory");
  int64_t oldest_ms = json_integer_value(json_object_get(sums, "oldest_ms"));
  double age = oldest_ms ? (double)(clock_wall_ms() - oldest_ms) / 1000.0 : 0;
  print_number("tidings_pushed",
               "Notifications that were pushed, to the sessions that the store has.",
               (double)json_value_count(sums, "pushed"));
  print_number("tidings_pending", "Notifications that are pending.",
               (double)json_value_count(sums, "pending"));
  print_number("tidings_leased", "Notifications that were handed out and are not settled yet.",
               (double)json_value_count(sums, "leased"));
  print_number("tidings_oldest_pending_seconds",
               "Age of the oldest pending notification; 0: nothing is pending.", age < 0 ? 0 : age);
  print_number("tidings_queued_messages", "Messages that are not over.",
               (double)json_value_count(sums, "queued"));
  print_by("tidings_sessions", "Sessions, by state.", "state", json_object_get(sums, "states"));
  print_by("tidings_ended",
           "Notifications that ended, by outcome, in the sessions that the store has.", "outcome",
           json_object_get(sums, "outcomes"));
  print_by("tidings_stored_by_source", "Notifications that the store holds, by source.", "source",
           json_object_get(sums, "by_source"));
  print_by("tidings_stored_by_level", "Notifications that the store holds, by level.", "level",
           json_object_get(sums, "by_level"));
  print_latency(json_object_get(sums, "latency"));
  print_store_size(cli);
  json_decref(sums);
  return 0;
}
