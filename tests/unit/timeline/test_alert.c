/* SPDX-License-Identifier: MIT
 *
 * test_alert.c: tests what alerts a person at each look, and that text from outside has no effect
 * on a desktop or a terminal.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cli/alert/changes.h"
#include "cli/alert/text.h"
#include "command/json_value.h"
#include "common/utf8.h"

enum { ALL_TIME = 1000000, LASTS = 1500, QUIET = 5000 };

static json_t *parse(const char *text) {
  char *copy = strdup(text);
  for (char *at = copy; *at; at++)
    if (*at == '\'') *at = '"';
  json_t *value = json_loads(copy, 0, NULL);
  cr_assert(value, "%s", copy);
  free(copy);
  return value;
}

static struct alert_watch watch_for(bool idle, bool waiting, bool critical, bool goes_on) {
  return (struct alert_watch){.settings = {idle, waiting, critical}, .goes_on = goes_on};
}

#define STEP(to) "{'time': 'T', 'event': 'e', 'from': 'x', 'to': '" to "'}"
#define CRITICAL(id) "{'id': '" id "', 'level': 'critical', 'message': 'm" id "'}"

static void look(struct alert_watch *watch, const char *state, const char *items,
                 const char *transitions, const char *end, int64_t now_ms) {
  char text[1024];
  (void)snprintf(text, sizeof text, "{'items': [%s], 'transitions': [%s], 'end': '%s'}", items,
                 transitions, end);
  json_t *timeline = parse(text), *status = json_pack("{s:s}", "state", state);
  alert_look(watch, timeline, status, now_ms);
  json_decref(timeline);
  json_decref(status);
}

/* "idle", "waiting", "critical 2", joined by blanks; empty: nothing. */
static void expect_said(struct alert_watch *watch, int64_t now_ms, const char *expected) {
  struct alert alert;
  char found[64] = "";
  if (alert_take(watch, now_ms, &alert)) {
    (void)snprintf(found, sizeof found, "%s%s", alert.idle ? "idle" : "",
                   alert.waiting ? "waiting" : "");
    size_t len = strlen(found);
    if (alert.criticals)
      (void)snprintf(found + len, sizeof found - len, "%scritical %d", len ? " " : "",
                     (int)alert.criticals);
    alert_finish(&alert);
  }
  cr_assert_str_eq(found, expected);
}

Test(alert, what_lasts_already_is_said_to_who_waits_once) {
  struct alert_watch watch = watch_for(true, true, true, false);
  cr_assert(strncmp(alert_after(&watch), "99999", 5) == 0);
  look(&watch, "idle", "", "", "3.1.4.7", ALL_TIME);
  cr_assert_str_eq(alert_after(&watch), "3.1.4.7");
  expect_said(&watch, ALL_TIME, "idle");
}

Test(alert, who_goes_on_is_alerted_of_changes) {
  struct alert_watch watch = watch_for(true, true, true, true);
  int64_t now = ALL_TIME;
  look(&watch, "idle", "", "", "0.0.0.1", now);
  expect_said(&watch, now, "");
  cr_assert_eq(alert_due_ms(&watch), -1);
  look(&watch, "busy", "", STEP("busy"), "0.0.1.1", now += 100);
  expect_said(&watch, now + ALL_TIME, "");
  look(&watch, "idle", "", STEP("idle"), "0.0.2.1", now += 100);
  cr_assert_eq(alert_due_ms(&watch), now + LASTS);
  expect_said(&watch, now + LASTS - 1, "");
  expect_said(&watch, now + LASTS, "idle");
  expect_said(&watch, now + ALL_TIME, "");
  cr_assert_eq(alert_due_ms(&watch), -1);
}

Test(alert, a_turns_steps_are_no_change) {
  struct alert_watch watch = watch_for(true, true, false, true);
  int64_t now = ALL_TIME;
  look(&watch, "busy", "", "", "0.0.0.1", now);
  for (int i = 0; i < 5; i++) { /* each tool asks for permission, and gets it at once */
    look(&watch, "waiting", "", STEP("waiting"), "0.0.1.1", now += LASTS - 1);
    expect_said(&watch, now + LASTS - 1, "");
    look(&watch, "busy", "", STEP("busy"), "0.0.2.1", now += LASTS - 1);
    expect_said(&watch, now + LASTS, "");
  }
  look(&watch, "waiting", "", STEP("waiting"), "0.0.3.1", now += 10);
  look(&watch, "waiting", "", "", "0.0.3.1", now += LASTS);
  expect_said(&watch, now, "waiting");
  look(&watch, "idle", "", STEP("busy") "," STEP("idle"), "0.0.5.1", now += QUIET);
  expect_said(&watch, now + LASTS, "idle");
}

Test(alert, an_offer_that_is_declined_is_no_turn) {
  struct alert_watch watch = watch_for(true, false, false, true);
  look(&watch, "idle", "", "", "0.0.0.1", ALL_TIME);
  look(&watch, "idle", "", STEP("starting") "," STEP("idle"), "0.0.2.1", ALL_TIME + 1);
  expect_said(&watch, (int64_t)2 * ALL_TIME, "");
  /* A turn that has run between two looks counts. */
  look(&watch, "idle", "", STEP("busy") "," STEP("idle"), "0.0.4.1", (int64_t)2 * ALL_TIME);
  expect_said(&watch, (int64_t)2 * ALL_TIME + LASTS, "idle");
}

Test(alert, criticals_come_together_and_not_too_often) {
  struct alert_watch watch = watch_for(false, false, true, true);
  int64_t now = ALL_TIME;
  look(&watch, "busy", "", "", "7.0.0.1", now);
  look(&watch, "busy", CRITICAL("4294967303") "," CRITICAL("4294967304"), "", "8.0.0.1", now);
  expect_said(&watch, now, "critical 1"); /* 7 was there before */
  look(&watch, "busy", CRITICAL("4294967305"), "", "9.0.0.1", now + 1);
  look(&watch, "busy", CRITICAL("4294967306") "," CRITICAL("4294967305"), "", "10.0.0.1", now + 2);
  expect_said(&watch, now + 3, "");
  cr_assert_eq(alert_due_ms(&watch), now + QUIET);
  expect_said(&watch, now + QUIET, "critical 2");
  look(&watch, "busy", "{'id': '4294967307', 'level': 'error'}", "", "11.0.0.1", now + 4);
  expect_said(&watch, now + ALL_TIME, "");
}

Test(alert, only_what_is_wished_for) {
  struct alert_watch watch = watch_for(false, true, false, true);
  look(&watch, "busy", "", "", "0.0.0.1", ALL_TIME);
  look(&watch, "idle", CRITICAL("4294967297"), STEP("idle"), "1.0.1.1", ALL_TIME);
  expect_said(&watch, (int64_t)2 * ALL_TIME, "");
  cr_assert_eq(alert_due_ms(&watch), -1);
}

/* -- words ------------------------------------------------------------------------------------- */

#define EVIL "a\033]0;x\a\033[2J\302\233\302\235\177\342\200\256<b>&amp;</b>'\"%s\n-x"

static struct alert critical_of(const char *message, uint64_t count) {
  json_t *first = json_pack("{s:{s:s, s:s}, s:s}", "kind", "source", "disk", "name", "<i>full",
                            "message", message);
  return (struct alert){.criticals = count, .first = first};
}

Test(alert, nothing_from_outside_acts) {
  struct alert alert = critical_of(EVIL, 1);
  json_t *status = json_pack("{s:{s:s, s:s}}", "attachment", "host", "x\033\a", "cwd", "/a\nb");
  char *body = alert_body(&alert, "s", status), *markup = alert_markup(body),
       *sequence = alert_sequence(alert_summary(&alert), body);
  cr_assert_str_eq(alert_summary(&alert), "Critical notification");
  cr_assert_str_eq(body, "x{U+001B}{U+0007} in /a\u2026\n"
                         "disk.<i>full: a{U+001B}]0;x{U+0007}{U+001B}[2J{U+009B}{U+009D}{U+007F}"
                         "{U+202E}<b>&amp;</b>'\"%s\u2026");
  cr_assert(!strpbrk(markup, "<>"), "%s", markup);
  cr_assert(strstr(markup, "&lt;b&gt;&amp;amp;&lt;/b&gt;"), "%s", markup);
  size_t len = strlen(sequence);
  cr_assert(strncmp(sequence, "\033]9;tidings: Critical notification: x{U+001B}", 44) == 0);
  cr_assert(sequence[len - 1] == '\a', "%s", sequence);
  for (size_t i = 1; i + 1 < len; i++)
    cr_assert((unsigned char)sequence[i] >= ' ' && sequence[i] != 0x7f);
  free(body);
  free(markup);
  free(sequence);
  json_decref(status);
  alert_finish(&alert);
}

/* notify-send runs g_strcompress over the body before the desktop reads its markup. */
Test(alert, no_escape_becomes_markup) {
  char *markup = alert_markup("\\074b\\076 \\377 C:\\n \\\\ <\\");
  cr_assert_str_eq(markup, "\\\\074b\\\\076 \\\\377 C:\\\\n \\\\\\\\ &lt;\\\\");
  free(markup);
}

Test(alert, what_comes_together_is_all_said) {
  struct alert alert = critical_of("full", 2);
  json_t *status = json_pack("{s:{s:s, s:s}}", "attachment", "host", "pi", "cwd", "/w");
  alert.idle = true;
  char *body = alert_body(&alert, "s", status);
  cr_assert_str_eq(body, "pi in /w is idle\n2 critical: disk.<i>full: full");
  free(body);
  alert.idle = false;
  alert.waiting = true;
  body = alert_body(&alert, "s", status);
  cr_assert_str_eq(alert_summary(&alert), "The agent waits for you");
  cr_assert_str_eq(body, "pi in /w\n2 critical: disk.<i>full: full");
  free(body);
  json_decref(status);
  alert_finish(&alert);
}

Test(alert, long_texts_are_cut_between_characters) {
  char message[4096];
  for (size_t i = 0; i + 3 < sizeof message; i += 3) memcpy(message + i, "\342\202\254", 4);
  struct alert alert = critical_of(message, 3);
  char *body = alert_body(&alert, message, NULL),
       *sequence = alert_sequence(alert_summary(&alert), body);
  cr_assert(strlen(sequence) < 512, "%zu", strlen(sequence));
  cr_assert(strstr(body, "\n3 critical: disk."), "%s", body);
  cr_assert(utf8_valid(span_text(sequence)));
  cr_assert(strncmp(body, "session \342\202\254", 11) == 0 && strstr(body, "\u2026"));
  free(body);
  free(sequence);
  alert_finish(&alert);
}
