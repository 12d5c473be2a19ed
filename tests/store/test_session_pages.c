/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_session_pages.c: the query `sessions` in pages: each session is in one page,
 * also if others begin between two pages.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit.h"

TestSuite(session_pages, .init = kit_begin, .fini = kit_end);

enum { MANY = 23 };

struct walk {
  struct tidings_plugin *plugin;
  unsigned seen[MANY], pages, others;
};

/* Counts the sessions of an answer. */
static size_t note(struct walk *walk, const char *answer) {
  static const char member[] = "\"session\":\"";
  size_t count = 0;
  for (const char *at = answer; (at = strstr(at, member)); count++) {
    at += sizeof member - 1;
    if (strncmp(at, "many-", 5) == 0) walk->seen[strtoul(at + 5, NULL, 10)]++;
    else walk->others++;
  }
  return count;
}

/* Reads a page and the place of the next one. Returns false at the end. */
static bool read_page(struct walk *walk, unsigned limit, char place[32]) {
  char request[128];
  (void)snprintf(request, sizeof request,
                 "{\"name\": \"sessions\", \"limit\": %u, \"after\": \"%s\"}", limit, place);
  char *answer = ask(walk->plugin, request);
  cr_assert_leq(note(walk, answer), limit, "%s", answer);
  cr_assert_null(strstr(answer, "\"total\""), "%s", answer);
  const char *next = strstr(answer, "\"next\":");
  cr_assert_not_null(next, "%s", answer);
  bool goes_on = sscanf(next, "\"next\":\"%31[^\"]\"", place) == 1;
  free(answer);
  walk->pages++;
  return goes_on;
}

static struct walk walk_begin(void) {
  struct walk walk = {.plugin = plugin_at(kit_store, (struct plugin_words){.role = 0})};
  char name[32];
  for (unsigned i = 0; i < MANY; i++) {
    (void)snprintf(name, sizeof name, "many-%u", i);
    push(walk.plugin, name, "x");
  }
  return walk;
}

Test(session_pages, each_is_in_one) {
  static const unsigned limits[] = {1, 2, 7, MANY - 1, MANY, MANY + 1};
  struct walk walk = walk_begin();
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    char place[32] = "";
    memset(walk.seen, 0, sizeof walk.seen);
    walk.pages = 0;
    while (read_page(&walk, limits[i], place)) cr_assert_lt(walk.pages, 2 * MANY);
    for (unsigned session = 0; session < MANY; session++)
      cr_expect_eq(walk.seen[session], 1, "limit %u: session %u is in %u pages", limits[i], session,
                   walk.seen[session]);
    cr_expect_geq(walk.pages, (MANY + limits[i] - 1) / limits[i]);
  }
  cr_expect_eq(walk.others, 0);
  plugin_end(walk.plugin);
}

Test(session_pages, others_begin_meanwhile) {
  struct walk walk = walk_begin();
  char place[32] = "", name[32];
  while (read_page(&walk, 3, place)) {
    cr_assert_lt(walk.pages, 4 * MANY);
    if (walk.pages > MANY) continue;
    (void)snprintf(name, sizeof name, "late-%u", walk.pages);
    push(walk.plugin, name, "x");
  }
  for (unsigned session = 0; session < MANY; session++)
    cr_expect_eq(walk.seen[session], 1, "session %u is in %u pages", session, walk.seen[session]);
  cr_expect_leq(walk.others, walk.pages);
  plugin_end(walk.plugin);
}
