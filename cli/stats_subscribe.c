/* SPDX-License-Identifier: MIT
 *
 * stats_subscribe.c: `tidings stats --subscribe`: what came of the events of each subscription.
 */
#include <stdio.h>

#include "cli/stats.h"
#include "command/json_value.h"
#include "command/print.h"
#include "command/subscriptions.h"
#include "command/terminal.h"

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

int stats_of_subscriptions(const struct cli *cli) {
  json_t *all = subscriptions_list(cli);
  const json_t *one = NULL;
  size_t i = 0;
  int code = 0;
  if (!all) return cli_fail(cli, "out of memory");
  if (cli->json) code = print_json(cli, all);
  else if (!json_array_size(all)) puts("This store has no subscription.");
  else json_array_foreach(all, i, one) print_subscription(one);
  json_decref(all);
  return code;
}
