/* SPDX-License-Identifier: MIT
 *
 * demo/turns.c: the last part of the demo shows who speaks next. A person types while a tool runs,
 * a webhook's message waits until the typed message has had its turn, something critical stops a
 * stream, and a subagent's end wakes an idle session. The host starts the turns that the plugin
 * asks for, in the order in which it asks.
 */
#include "demo/host.h"

#include <stdlib.h>

static _Noreturn void fail_turn(const char *problem) {
  fflush(stdout);
  fprintf(stderr, "hostsim: the demo's turns: %s\n", problem);
  exit(EXIT_FAILURE);
}

/* Checks that the plugin asks for nothing. Frees the reply. */
static void expect_nothing(struct tidings_reply *reply, const char *what) {
  if (reply && reply->action_count > 0) fail_turn(what);
  hostkit_reply_free(reply);
}

static void end_turn_idle(struct demo_host *host) {
  expect_nothing(host_event(host, "turn.finished", NULL),
                 "a turn is asked for although nothing is queued");
}

static void send_from_elsewhere(struct demo_host *host, const char *type, json_t *data,
                                const char *ledger_key, const char *text) {
  char *string = json_dumps(data, JSON_COMPACT);
  json_decref(data);
  if (!string ||
      demo_send_from_elsewhere(&host->folder, host->plugin, type, string, ledger_key, text) != 0)
    fail_turn("another process could not send its event");
  free(string);
}

/* A message is typed during a running turn, and is delivered in it. */
static void correction(struct demo_host *host) {
  screen_headline(&host->screen, "turns: a message that is typed while a tool runs is delivered "
                                 "with that tool's result");
  host_start_turn(
      host, host_submit(host, "typed-1", "Rename count_words to word_count, please.", "queue"));
  host_assistant(host, "→ grep: count_words");
  screen_note(&host->screen, "the user types a correction: message.submitted, delivery steer");
  expect_nothing(host_submit(host, "typed-2", "But leave the header as it is!", "steer"),
                 "a steered message wants a turn");
  host_tool_result(host, "grep", "src/parser.c\nsrc/parser.h", ENDING_SETTLED);
  host_assistant(host, "Then only in src/parser.c.\n→ edit: src/parser.c");
  host_tool_result(host, "edit", "1 line changed in src/parser.c.", ENDING_SETTLED);
}

/* A message is typed, then a webhook comes. Both wait in one queue, and the typed message is first
 * because it came first. */
static void one_queue(struct demo_host *host) {
  static const char review[] = "Pull request 31 was opened: please review it.";
  screen_headline(&host->screen, "turns: typed messages and a webhook's message wait "
                                 "in one queue, in the order in which they came");
  screen_note(&host->screen,
              "the user types the next message; then another process submits a webhook's "
              "message");
  expect_nothing(host_submit(host, "typed-3", "Now write a test for it.", "queue"),
                 "a second turn is asked for while one runs");
  send_from_elsewhere(host, "message.submitted",
                      json_pack("{s:s, s:s, s:{s:s, s:i}}", "id", "webhook-1", "content", review,
                                "trigger", "webhook", "pull_request", "number", 31),
                      LEDGER_SUBMITTED, review);
  host_assistant(host, "Only src/parser.c has the new name.");
  screen_note(&host->screen, "turn.finished");
  host_start_turn(host, host_event(host, "turn.finished", NULL));
}

/* A critical notification does not overtake the webhook's message: that message's turn delivers
 * both. */
static void critical(struct demo_host *host) {
  static const char full[] = "The disk of the workspace is full.";
  screen_headline(&host->screen,
                  "turns: a critical notification stops the stream and is delivered with the "
                  "next message");
  expect_nothing(host_event(host, "stream.started", NULL),
                 "a stream is stopped before anything has happened");
  screen_note(&host->screen, "the model's answer streams; another process pushes "
                             "disk.full, critical, which wakes the host");
  send_from_elsewhere(
      host, "notification",
      json_pack("{s:s, s:s, s:s}", "kind", "disk.full", "level", "critical", "message", full),
      LEDGER_PUSHED, full);
  struct tidings_reply *reply = host_sleep(host);
  if (!host_find_action(reply, TIDINGS_ACTION_ABORT_STREAM)) fail_turn("the stream is not stopped");
  hostkit_reply_free(reply);
  host_assistant(host, "The test goes to tests/test_parser.c. It calls word_count with an empty");
  screen_alarm(&host->screen, "abort_stream: the answer stays as it is, truncated; turn.aborted");
  host_start_turn(host, host_event(host, "turn.aborted", NULL));
  host_assistant(host,
                 "There is no room for a checkout, so the old objects go first.\n→ remove: build");
  host_tool_result(host, "remove", "build is gone.", ENDING_SETTLED);
  host_assistant(host, "Reviewed: pull request 31 is fine.");
  end_turn_idle(host);
}

static void subagent(struct demo_host *host) {
  static const char summary[] = "Two of the 14 tests call count_words by its old name.";
  screen_headline(&host->screen,
                  "turns: the session is idle; a subagent ends, and that starts a turn");
  screen_note(&host->screen, "another process reports subagent.finished, which wakes the host");
  send_from_elsewhere(host, "subagent.finished",
                      json_pack("{s:s, s:s}", "slug", "look-for-callers", "summary", summary),
                      LEDGER_PUSHED, summary);
  host_start_turn(host, host_sleep(host));
  host_assistant(host, "I rename it there as well, then.");
  end_turn_idle(host);
}

void script_turns(struct demo_host *host) {
  host_configure(host, "{}");
  host_listen(host);
  correction(host);
  one_queue(host);
  critical(host);
  subagent(host);
}
