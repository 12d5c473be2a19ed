/* SPDX-License-Identifier: MIT
 *
 * test_course.c: tests how a subscription goes on: after a cursor that the server does not know,
 * up to its end, which a session must hear of, and with servers that answer strangely.
 */
#include "subscribe/machine.h"

#include "common/utf8.h"

#define HELLO "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"events\":{}}}"
#define ENDED(id) NOTE("terminated", id, "\"error\":{\"code\":-32012,\"message\":\"m\"},")

static bool asks_for(const struct outputs *outputs, const char *cursor) {
  const struct output *sent = &outputs->rows[outputs->count - 1];
  char wanted[64];
  snprintf(wanted, sizeof wanted, "\"cursor\":%s", cursor);
  return memmem(sent->text.ptr, sent->text.len, wanted, strlen(wanted)) != NULL;
}

static void keep_notice(const struct outputs *outputs, char notice[64]) {
  snprintf(notice, 64, "%.*s", SPAN_FORMAT(outputs->rows[0].notice));
}

/* -- a cursor that the server does not know ---------------------------------------------------- */

Test(course, unknown_cursor_is_a_gap) {
  struct events_wish wish = plain_wish();
  wish.cursor = "old";
  struct events *events = events_new(&wish);
  refuse(events, begin(events, LISTED("\"push\"")), -32602);
  EXPECT(events_outputs(events), "SEND events/stream");
  cr_expect(asks_for(events_outputs(events), "null"));
  say(events, 0, NOTE("active", "4", "\"cursor\":\"new\","));
  EXPECT(events_outputs(events), "NOTICE events.gap|CURSOR new");
  say(events, 0, NOTE("heartbeat", "4", "\"cursor\":\"newer\","));
  EXPECT(events_outputs(events), "CURSOR newer"); /* the gap is said once */
  events_free(events);
}

Test(course, refused_with_and_without_a_cursor) {
  struct events_wish wish = plain_wish();
  wish.cursor = "old";
  struct events *events = events_new(&wish);
  refuse(events, begin(events, LISTED("\"poll\"")), -32602);
  EXPECT(events_outputs(events), "SEND events/poll");
  refuse(events, last_id(events_outputs(events)), -32602);
  EXPECT(events_outputs(events), "NOTICE events.terminated|END"); /* it has run before */
  events_free(events);
}

/* It neither loses the old place by such a failure, nor asks without end. */
Test(course, failure_without_the_cursor) {
  struct events_wish wish = plain_wish();
  wish.cursor = "old";
  struct events *events = events_new(&wish);
  uint64_t id = begin(events, LISTED("\"poll\""));
  for (int round = 0; round < 3; round++) {
    cr_expect(asks_for(events_outputs(events), "\"old\""));
    refuse(events, id, -32602);
    cr_expect(asks_for(events_outputs(events), "null"));
    refuse(events, last_id(events_outputs(events)), -32603);
    EXPECT(events_outputs(events), "RESET");
    events_tick(events, events_due_ms(events));
    id = last_id(events_outputs(events));
  }
  events_free(events);
}

Test(course, list_may_be_refused_for_its_arguments) {
  struct events_wish wish = plain_wish();
  wish.cursor = "old";
  struct events *events = events_new(&wish);
  events_begin(events, 0);
  answer(events, 0, 1, DISCOVERED);
  refuse(events, 2, -32602);
  EXPECT(events_outputs(events), "NOTICE events.terminated|END");
  events_free(events);
}

/* -- ends -------------------------------------------------------------------------------------- */

/* Runs a subscription of the older era until its stream has ended, and greets the server again. */
static struct events *greet_again(const struct events_wish *wish) {
  const struct events_failure closed = {.status = EVENTS_SERVER_ENDED, .reason = "r"};
  struct events *events = events_new(wish);
  events_begin(events, 0);
  refuse(events, 1, -32601);
  answer(events, 0, 2, HELLO);
  answer(events, 0, 3, LISTED("\"push\""));
  EXPECT(events_outputs(events), "SEND events/stream");
  say(events, 0, NOTE("heartbeat", "4", ""));
  events_failed(events, 4, &closed, 0);
  events_tick(events, events_due_ms(events));
  EXPECT(events_outputs(events), "SEND initialize");
  return events;
}

Test(course, running_subscription_ends_with_a_notice) {
  struct events_wish wish = plain_wish();
  static const char *const answers[] = {
      "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{}}",
      "{\"protocolVersion\":\"1999-01-01\",\"capabilities\":{\"events\":{}}}"};
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
    struct events *events = greet_again(&wish);
    answer(events, 0, last_id(events_outputs(events)), answers[i]);
    EXPECT(events_outputs(events), "NOTICE events.terminated|END");
    events_free(events);
  }
  struct events *events = greet_again(&wish);
  refuse(events, last_id(events_outputs(events)), -32603);
  EXPECT(events_outputs(events), "NOTICE events.terminated|END");
  events_free(events);
}

Test(course, event_that_has_vanished) {
  static const char *const lists[] = {"{\"events\":[]}", LISTED("\"webhook\""), LISTED("\"fax\"")};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    for (int before = 0; before < 2; before++) {
      struct events_wish wish = plain_wish();
      wish.cursor = before ? "c" : NULL;
      struct events *events = events_new(&wish);
      begin(events, lists[i]);
      EXPECT(events_outputs(events), before ? "NOTICE events.terminated|END" : "END");
      const struct outputs *outputs = events_outputs(events);
      struct tidings_span text = outputs->rows[outputs->count - 1].text;
      cr_expect_eq(memmem(text.ptr, text.len, "webhook", 7) != NULL, i == 1, "%.*s",
                   SPAN_FORMAT(text));
      events_free(events);
    }
  }
}

/* The end of a run that brought something is another end; a start in vain is reported once. */
Test(course, each_end_has_its_notice) {
  char notices[4][64];
  for (int run = 0; run < 4; run++) {
    struct events_wish wish = plain_wish();
    wish.random = (uint64_t)run;
    struct events *events = events_new(&wish);
    begin(events, LISTED("\"push\""));
    if (run < 2) say(events, 0, NOTE("heartbeat", "3", ""));
    say(events, 0, ENDED("3"));
    keep_notice(events_outputs(events), notices[run]);
    events_free(events);
  }
  cr_expect(strcmp(notices[0], notices[1]) != 0, "%s", notices[0]);
  cr_expect_str_eq(notices[2], notices[3]);
}

Test(course, reason_is_cut_between_characters) {
  struct events_wish wish = plain_wish();
  struct events *events = events_new(&wish);
  char text[1024] = "";
  uint64_t id = begin(events, LISTED("\"poll\""));
  size_t len = (size_t)snprintf(text, sizeof text,
                                "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"error\":{\"code\":-32012,"
                                "\"message\":\"x",
                                (unsigned long long)id);
  for (int i = 0; i < 150; i++) len += (size_t)snprintf(text + len, sizeof text - len, "\u00e9");
  snprintf(text + len, sizeof text - len, "\"}}");
  say(events, 0, text);
  EXPECT(events_outputs(events), "NOTICE events.terminated|END");
  struct tidings_span said = events_outputs(events)->rows[0].text;
  cr_expect(utf8_valid(said), "%.*s", SPAN_FORMAT(said));
  events_free(events);
}

/* -- strange answers --------------------------------------------------------------------------- */

Test(course, more_without_a_new_cursor_waits) {
  struct events_wish wish = plain_wish();
  struct events *events = events_new(&wish);
  uint64_t id = begin(events, LISTED("\"poll\""));
  answer(events, 0, id, "{\"events\":[{\"eventId\":\"1\"}],\"cursor\":\"c\",\"hasMore\":true}");
  EXPECT(events_outputs(events), "PUSH 1|CURSOR c|SEND events/poll");
  answer(events, 0, last_id(events_outputs(events)),
         "{\"events\":[{\"eventId\":\"1\"}],\"cursor\":\"c\",\"hasMore\":true}");
  EXPECT(events_outputs(events), "PUSH 1"); /* the same page again */
  cr_expect(events_due_ms(events) >= EVENTS_LEAST_POLL_MS);
  events_free(events);
}

#define CHANGED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/events/list_changed\"}"

Test(course, list_is_read_once_at_a_time) {
  struct events_wish wish = plain_wish();
  struct events *events = events_new(&wish);
  begin(events, LISTED("\"push\""));
  say(events, 0, CHANGED);
  EXPECT(events_outputs(events), "SEND events/list");
  for (int i = 0; i < 3; i++) {
    say(events, 0, CHANGED);
    EXPECT(events_outputs(events), "");
  }
  answer(events, 0, 4, LISTED("\"push\""));
  EXPECT(events_outputs(events), "SEND events/list"); /* it has changed since the request */
  answer(events, 0, 5, LISTED("\"push\""));
  EXPECT(events_outputs(events), "");
  say(events, 0, CHANGED);
  say(events, 0, CHANGED);
  const struct events_failure failure = {.status = 500, .reason = "r"};
  events_failed(events, 6, &failure, 0);
  EXPECT(events_outputs(events), "SEND events/list");
  say(events, INT64_C(86400000), CHANGED);
  EXPECT(events_outputs(events), "CANCEL|SEND events/list"); /* it was never answered */
  events_free(events);
}

Test(course, wrong_clock) {
  struct events_wish wish = plain_wish();
  wish.delivery = EVENTS_WEBHOOK;
  wish.url = "https://h/x";
  wish.secret = "whsec_s";
  struct events *events = events_new(&wish);
  uint64_t id = begin(events, LISTED("\"webhook\""));
  events_note_date(events, 7200000, 0); /* the server is two hours ahead */
  answer(events, 0, id, "{\"id\":\"s\",\"refreshBefore\":\"1970-01-01T02:16:40Z\"}");
  int64_t due = events_due_ms(events);
  cr_expect(due >= 798000 && due <= 800000, "%lld", (long long)due);
  events_tick(events, due);
  events_note_date(events, 1000, 500); /* its date has no fraction of a second */
  answer(events, due, last_id(events_outputs(events)),
         "{\"id\":\"s\",\"refreshBefore\":\"1970-01-01T00:16:40Z\"}");
  cr_expect_eq(events_due_ms(events), due + 800000);
  events_tick(events, due + 800000);
  answer(events, due + 800000, last_id(events_outputs(events)),
         "{\"id\":\"s\",\"refreshBefore\":\"1969-12-31T00:00:00Z\"}");
  cr_expect(events_due_ms(events) >= due + 860000, "no hurry if the clocks cannot be right");
  events_free(events);
}

/* A token's file may be empty for a moment while it is written. */
Test(course, unreadable_token_is_still_awaited) {
  const struct events_failure refused = {.status = 401, .reason = "HTTP 401"},
                              unreadable = {.status = EVENTS_NO_STATUS, .reason = "is empty"};
  struct events_wish wish = plain_wish();
  wish.token_file = "f";
  struct events *events = events_new(&wish);
  events_failed(events, begin(events, LISTED("\"poll\"")), &refused, 0);
  events_token_changed(events, 1);
  events_failed(events, last_id(events_outputs(events)), &unreadable, 1);
  cr_expect(events_wants_token(events));
  events_token_changed(events, 2);
  EXPECT(events_outputs(events), "SEND events/poll");
  events_free(events);
  struct plain *plain = plain_new(&wish);
  plain_begin(plain, 0);
  plain_failed(plain, 1, &refused, 0, 0);
  plain_token_changed(plain, 1);
  plain_failed(plain, 2, &unreadable, 0, 1);
  cr_expect(plain_wants_token(plain));
  plain_token_changed(plain, 2);
  EXPECT(plain_outputs(plain), "SEND GET");
  cr_expect_not(plain_wants_token(plain), "not while it asks");
  plain_free(plain);
}

/* Connections that are only ended in order are no failures, so the pauses do not grow. */
Test(course, plain_stream_without_events_is_healthy) {
  const struct events_failure closed = {.status = 200, .reason = "r"};
  struct events_wish wish = plain_wish();
  struct plain *plain = plain_new(&wish);
  plain_begin(plain, 0);
  cr_expect(plain_fails(plain), "it has not answered yet");
  for (uint64_t id = 1; id < 20; id++) {
    int64_t now = plain_due_ms(plain);
    plain_alive(plain, now);
    cr_expect_not(plain_fails(plain));
    plain_failed(plain, id, &closed, 0, now);
    cr_expect(plain_due_ms(plain) <= now + 1000, "%llu", (unsigned long long)id);
    plain_tick(plain, plain_due_ms(plain));
  }
  plain_free(plain);
}
