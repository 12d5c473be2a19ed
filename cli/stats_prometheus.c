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

/* Disk space of the store's folder, or of its tables. */
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

void stats_prometheus(const struct cli *cli, const json_t *totals) {
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
