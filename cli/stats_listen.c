/* SPDX-License-Identifier: MIT
 *
 * stats_listen.c: `tidings stats --listen`: how the requests of each route were answered.
 */
#include <stdio.h>

#include "cli/stats.h"
#include "cli/verbs.h"
#include "command/json_value.h"
#include "command/listeners.h"
#include "command/print.h"
#include "command/terminal.h"

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

int stats_of_listeners(const struct cli *cli) {
  json_t *listeners = listeners_list(cli);
  const json_t *listener = NULL;
  size_t i = 0;
  int code = 0;
  if (!listeners) return cli_fail(cli, "out of memory");
  if (cli->json) code = print_json(cli, listeners);
  else if (!json_array_size(listeners)) puts("No 'tidings listen' runs on this store.");
  else json_array_foreach(listeners, i, listener) print_listener(listener);
  json_decref(listeners);
  return code;
}
