/* SPDX-License-Identifier: MIT
 *
 * dead_letters.c: `tidings history --dead`: notifications that expired, were dropped or closed with
 * their session, and pushes that ended in a database's inbox.
 */
#include "cli/dead_letters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/ask.h"
#include "command/kit.h"
#include "command/print.h"
#include "command/session.h"
#include "command/terminal.h"

enum { MOST_ASKED = 10000 };

/* Has the notification ended for good? If another session took it over, it lives on there. */
static bool is_dead(const json_t *item) {
  const char *outcome = json_value_text(item, "outcome");
  return strcmp(outcome, "expired") == 0 || strcmp(outcome, "dropped") == 0 ||
         (strcmp(outcome, "closed") == 0 && !json_is_true(json_object_get(item, "moved")));
}

static int by_end(const void *a, const void *b) {
  return strcmp(json_value_text(*(json_t *const *)a, "ended_at"),
                json_value_text(*(json_t *const *)b, "ended_at"));
}

static json_t *sorted(json_t *list) {
  size_t count = json_array_size(list);
  json_t **rows = calloc(count + 1, sizeof *rows), *ordered = rows ? json_array() : NULL;
  for (size_t i = 0; rows && i < count; i++) rows[i] = json_array_get(list, i);
  if (rows) qsort(rows, count, sizeof(json_t *), by_end);
  for (size_t i = 0; ordered && i < count; i++) (void)json_array_append(ordered, rows[i]);
  free(rows);
  return ordered;
}

/* Collects the dead letters of an answer of `history`. NULL: out of memory. */
static json_t *collect_dead(const json_t *answer) {
  const json_t *delivery = NULL;
  json_t *list = json_array(), *item = NULL;
  size_t i = 0, j = 0;
  if (list) (void)json_array_extend(list, json_object_get(answer, "dead_letters"));
  json_array_foreach(json_object_get(answer, "deliveries"), i, delivery) {
    const char *outcome = json_value_text(delivery, "outcome");
    bool over = strcmp(outcome, "committed") == 0 || strcmp(outcome, "rewound") == 0;
    const char *settled = json_value_text(delivery, "settled_at");
    json_array_foreach(json_object_get(delivery, "items"), j, item) {
      if (!list || !over || !is_dead(item)) continue;
      (void)json_object_set_new(
          item, "ended_at", json_string(settled[0] ? settled : json_value_text(delivery, "time")));
      (void)json_array_append(list, item);
    }
  }
  json_t *ordered = list ? sorted(list) : NULL;
  json_decref(list);
  return ordered;
}

void verb_history_print_ended(const json_t *item, int indent) {
  fputs("  ", stdout);
  if (json_object_get(item, "kind")) {
    print_kind(item);
    fputs(" (", stdout);
    show_level(json_value_text(item, "level"), 0);
    fputs("): ", stdout);
    terminal_lines(stdout, json_value_text(item, "message"), indent);
  }
  printf("\n%*s", indent, "");
  char *reason = show_text(json_value_text(item, "reason"));
  terminal_lines(stdout, reason ? reason : json_value_text(item, "reason"), indent);
  free(reason);
  putchar('\n');
}

static void print_dead(struct show_clock *clock, const json_t *item) {
  show_time(clock, json_value_text(item, "ended_at"));
  fputs("  ", stdout);
  show_outcome(json_value_text(item, "outcome"), 8);
  if (json_value_text(item, "id")[0]) {
    fputs("  ", stdout);
    show_id(json_value_text(item, "id"), 0);
  }
  verb_history_print_ended(item, 2);
}

static int print_letters(const struct cli *cli, json_t *list, uint64_t limit) {
  struct show_clock clock = {.day = ""};
  const json_t *item = NULL;
  size_t i = 0, total = json_array_size(list);
  while (json_array_size(list) > limit) (void)json_array_remove(list, 0);
  if (cli->json) {
    json_t *answer = json_pack("{s:I, s:O}", "total", (json_int_t)total, "dead_letters", list);
    int code = answer ? print_json(cli, answer) : cli_fail(cli, "out of memory");
    json_decref(answer);
    return code;
  }
  if (!total) puts("No notification ended without being shown.");
  json_array_foreach(list, i, item) print_dead(&clock, item);
  if (total > i) printf("There are %zu; --limit shows more.\n", total);
  return 0;
}

static bool is_cut(const json_t *list, uint64_t limit, int64_t since_ms) {
  const char *oldest = json_value_text(json_array_get(list, 0), "time");
  return json_array_size(list) >= limit && show_time_ms(oldest) >= since_ms;
}

/* The answer says how many deliveries there are, but not how many transitions. */
void verb_history_warn_if_cut(const struct cli *cli, const json_t *answer, uint64_t limit,
                              int64_t since_ms) {
  if ((json_value_count(answer, "total") > limit &&
       is_cut(json_object_get(answer, "deliveries"), limit, since_ms)) ||
      is_cut(json_object_get(answer, "transitions"), limit, since_ms))
    cli_warn(cli, "older ones of that time are left out; --limit is %llu",
             (unsigned long long)limit);
}

/* Asks without looking for the session: a database also has dead letters of sessions that no host
 * has ever opened. */
static int ask_unchecked(const struct cli *cli, int64_t since_ms, json_t **ret_list) {
  struct hostkit *kit = NULL;
  json_t *answer = NULL;
  int code = kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &kit);
  if (!code)
    code = ask(cli, kit,
               json_pack("{s:s, s:s, s:i}", "name", "history", "session", session_named(cli),
                         "limit", (int)MOST_ASKED),
               &answer);
  if (!code && !(*ret_list = collect_dead(answer))) code = cli_fail(cli, "out of memory");
  if (!code && json_array_size(*ret_list)) /* else the caller asks again */
    verb_history_warn_if_cut(cli, answer, MOST_ASKED, since_ms);
  json_decref(answer);
  kit_close(kit);
  return code;
}

int verb_history_dead(const struct cli *cli, uint64_t limit, int64_t since_ms) {
  json_t *list = NULL, *answer = NULL;
  int code = session_named(cli) ? ask_unchecked(cli, since_ms, &list) : 0;
  if (!code && !json_array_size(list)) {
    json_decref(list);
    list = NULL;
    code = ask_about_session(
        cli, json_pack("{s:s, s:i}", "name", "history", "limit", (int)MOST_ASKED), &answer);
    if (!code) verb_history_warn_if_cut(cli, answer, MOST_ASKED, since_ms);
    if (!code && !(list = collect_dead(answer))) code = cli_fail(cli, "out of memory");
  }
  if (!code) {
    print_drop_older(list, "ended_at", since_ms);
    code = print_letters(cli, list, limit);
  }
  json_decref(list);
  json_decref(answer);
  return code;
}
