/* SPDX-License-Identifier: MIT
 *
 * test_subscribe.c: tests a subscription without a server: which messages cause which requests, and
 * in which order events are pushed and the cursor is handed out.
 */
#include "subscribe/machine.h"

#include <stdlib.h>

#include "subscribe/process.h"
#include "subscribe/retry.h"
#include "subscribe/sse.h"

/* -- poll -------------------------------------------------------------------------------------- */

Test(subscribe, poll_orders_pushes_before_the_cursor) {
  struct events_wish wish = plain_wish();
  struct events *events = events_new(&wish);
  uint64_t id = begin(events, LISTED("\"poll\""));
  EXPECT(events_outputs(events), "SEND events/poll");
  answer(
      events, 10, id,
      "{\"events\":[{\"eventId\":\"1\"},{\"eventId\":\"2\"}],\"cursor\":\"c\",\"hasMore\":true}");
  EXPECT(events_outputs(events), "PUSH 1|PUSH 2|CURSOR c|SEND events/poll");
  const struct outputs *outputs = events_outputs(events);
  cr_expect(memmem(outputs->rows[3].text.ptr, outputs->rows[3].text.len, "\"cursor\":\"c\"", 12));
  answer(events, 20, last_id(outputs), "{\"events\":[],\"cursor\":\"c\",\"nextPollMs\":4000}");
  EXPECT(events_outputs(events), "");
  cr_expect_eq(events_due_ms(events), 4020);
  events_tick(events, 4019);
  EXPECT(events_outputs(events), "");
  events_tick(events, 4020);
  EXPECT(events_outputs(events), "SEND events/poll");
  answer(events, 5000, last_id(events_outputs(events)), "{\"events\":[],\"nextPollMs\":0}");
  cr_expect_eq(events_due_ms(events), 6000, "at least a second");
  events_free(events);
}

Test(subscribe, more_without_anything_new_is_not_asked_for_at_once) {
  struct events_wish wish = plain_wish();
  struct events *events = events_new(&wish);
  uint64_t id = begin(events, LISTED("\"poll\""));
  answer(events, 0, id, "{\"events\":[],\"cursor\":\"c\",\"hasMore\":true}");
  EXPECT(events_outputs(events), "CURSOR c|SEND events/poll");
  answer(events, 0, last_id(events_outputs(events)),
         "{\"events\":[],\"cursor\":\"c\",\"hasMore\":true,\"nextPollMs\":1}");
  EXPECT(events_outputs(events), "");
  cr_expect_eq(events_due_ms(events), EVENTS_LEAST_POLL_MS);
  events_free(events);
}

Test(subscribe, gap_comes_before_the_fresh_cursor) {
  struct events_wish wish = plain_wish();
  wish.cursor = "old";
  struct events *events = events_new(&wish);
  uint64_t id = begin(events, LISTED("\"poll\""));
  answer(events, 0, id, "{\"events\":[],\"cursor\":\"new\",\"truncated\":true}");
  EXPECT(events_outputs(events), "NOTICE events.gap|CURSOR new");
  struct tidings_span first = events_outputs(events)->rows[0].notice;
  char before[64];
  snprintf(before, sizeof before, "%.*s", SPAN_FORMAT(first));
  struct events *again = events_new(&wish); /* the cursor was not stored: the same happens again */
  id = begin(again, LISTED("\"poll\""));
  answer(again, 0, id, "{\"events\":[],\"cursor\":\"newer\",\"truncated\":true}");
  cr_expect(span_is(events_outputs(again)->rows[0].notice, before), "the same gap, the same id");
  events_free(again);
  events_free(events);
}

/* -- push -------------------------------------------------------------------------------------- */

Test(subscribe, stream) {
  struct events_wish wish = plain_wish();
  struct events *events = events_new(&wish);
  cr_assert_eq(begin(events, LISTED("\"poll\",\"push\"")), 3);
  EXPECT(events_outputs(events), "SEND events/stream");
  say(events, 100, NOTE("active", "3", "\"cursor\":\"a\","));
  EXPECT(events_outputs(events), "CURSOR a");
  cr_expect_eq(events_due_ms(events), 100 + 2 * HEARTBEAT_MS + HEARTBEAT_MS / 10);
  say(events, 200, NOTE("event", "3", "\"eventId\":\"x\",\"cursor\":\"b\","));
  EXPECT(events_outputs(events), "PUSH x|CURSOR b");
  say(events, 300, NOTE("event", "99", "\"eventId\":\"y\",\"cursor\":\"z\","));
  EXPECT(events_outputs(events), ""); /* of another stream */
  say(events, 400, NOTE("heartbeat", "\"3\"", "\"cursor\":null,"));
  EXPECT(events_outputs(events), "");
  say(events, 500, NOTE("error", "3", "\"error\":{\"code\":1,\"message\":\"m\"},"));
  EXPECT(events_outputs(events), "");
  say(events, 600, NOTE("active", "3", "\"cursor\":\"c\",\"truncated\":true,"));
  EXPECT(events_outputs(events), "NOTICE events.gap|CURSOR c");
  events_tick(events, 600 + 3 * HEARTBEAT_MS);
  EXPECT(events_outputs(events), "CANCEL|RESET");
  int64_t due = events_due_ms(events);
  events_tick(events, due);
  EXPECT(events_outputs(events), "SEND events/stream");
  const struct output *sent = &events_outputs(events)->rows[0];
  cr_expect(memmem(sent->text.ptr, sent->text.len, "\"cursor\":\"c\"", 12), "with the last place");
  say(events, due, NOTE("terminated", "4", "\"error\":{\"code\":-32012,\"message\":\"m\"},"));
  EXPECT(events_outputs(events), "NOTICE events.terminated|END");
  events_free(events);
}

Test(subscribe, program_cancels_by_a_message) {
  struct events_wish wish = plain_wish();
  wish.process = true;
  struct events *events = events_new(&wish);
  begin(events, LISTED("\"push\""));
  events_tick(events, INT64_C(3) * HEARTBEAT_MS);
  EXPECT(events_outputs(events), "SEND notifications/cancelled|CANCEL");
  events_tick(events, events_due_ms(events));
  EXPECT(events_outputs(events), "SEND events/stream");
  const struct events_failure ended = {.status = EVENTS_SERVER_ENDED, .reason = "r"};
  events_failed(events, 0, &ended, INT64_C(4) * HEARTBEAT_MS);
  EXPECT(events_outputs(events), "RESET");
  events_free(events);
}

/* -- errors ------------------------------------------------------------------------------------ */

Test(subscribe, codes) {
  static const struct {
    int code;
    const char *wanted;
  } rows[] = {{-32011, "NOTICE events.terminated|END"},
              {-32023, "NOTICE events.terminated|END"},
              {-32012, "NOTICE events.terminated|END"},
              {-32024, "NOTICE events.terminated|END"},
              {-32013, "RESET"},
              {-32025, "RESET"},
              {-32014, "SEND events/poll"},
              {-32026, "SEND events/poll"},
              {-32015, "RESET"},
              {-32027, "RESET"},
              {-32602, "END"},
              {-32601, "SEND events/poll"},
              {-32603, "RESET"},
              {7, "RESET"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct events_wish wish = plain_wish();
    struct events *events = events_new(&wish);
    refuse(events, begin(events, LISTED("\"poll\",\"push\"")), rows[i].code);
    EXPECT(events_outputs(events), rows[i].wanted);
    events_free(events);
  }
}

Test(subscribe, older_era) {
  struct events_wish wish = plain_wish();
  struct events *events = events_new(&wish);
  events_begin(events, 0);
  refuse(events, 1, -32601);
  EXPECT(events_outputs(events), "SEND initialize");
  answer(events, 0, 2, "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"events\":{}}}");
  EXPECT(events_outputs(events), "SEND notifications/initialized|SEND events/list");
  cr_expect_str_eq(events_outputs(events)->rows[1].protocol, "2025-06-18");
  cr_expect_not(events_outputs(events)->rows[1].modern);
  events_free(events);
  static const int statuses[] = {400, 404, 405, 503, 0};
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
    const struct events_failure failure = {.status = statuses[i], .reason = "r"};
    events = events_new(&wish);
    events_begin(events, 0);
    events_failed(events, 1, &failure, 0);
    EXPECT(events_outputs(events),
           statuses[i] >= 400 && statuses[i] < 500 ? "SEND initialize" : "RESET");
    events_free(events);
  }
}

/* A server that only started slowly is probed once more. */
Test(subscribe, slow_server) {
  struct events_wish wish = plain_wish();
  wish.process = true;
  struct events *events = events_new(&wish);
  events_begin(events, 0);
  EXPECT(events_outputs(events), "SEND server/discover");
  for (int round = 0; round < 2; round++) {
    events_tick(events, events_due_ms(events));
    EXPECT(events_outputs(events), "SEND notifications/cancelled|CANCEL|SEND initialize");
    refuse(events, last_id(events_outputs(events)), -32022);
    EXPECT(events_outputs(events), round ? "END" : "");
    events_tick(events, events_due_ms(events));
    if (!round) EXPECT(events_outputs(events), "SEND server/discover");
  }
  events_free(events);
}

Test(subscribe, token) {
  struct events_wish wish = plain_wish();
  const struct events_failure refused = {.status = 401, .reason = "HTTP 401"};
  wish.token_file = "f";
  struct events *events = events_new(&wish);
  events_set_token_stamp(events, "one");
  uint64_t id = begin(events, LISTED("\"poll\""));
  events_failed(events, id, &refused, 0);
  EXPECT(events_outputs(events), "NOTICE events.refused|RESET");
  cr_expect(span_is(events_outputs(events)->rows[1].notice, "events.refused one"));
  cr_expect(events_wants_token(events));
  events_set_token_stamp(events, "two");
  events_token_changed(events, 1);
  EXPECT(events_outputs(events), "SEND events/poll");
  cr_expect_not(events_wants_token(events));
  events_free(events);
}

Test(subscribe, webhook) {
  struct events_wish wish = plain_wish();
  wish.delivery = EVENTS_WEBHOOK;
  wish.url = "https://h/x";
  wish.secret = "whsec_s";
  struct events *events = events_new(&wish);
  uint64_t id = begin(events, LISTED("\"webhook\""));
  EXPECT(events_outputs(events), "SEND events/subscribe");
  answer(events, 0, id,
         "{\"id\":\"sub\",\"refreshBefore\":\"1970-01-01T00:16:40.5Z\",\"cursor\":\"c\"}");
  EXPECT(events_outputs(events), "CURSOR c");
  cr_expect_eq(events_due_ms(events), 800000, "four fifths of the thousand seconds");
  events_note_wall(events, 799999);
  cr_expect_eq(events_due_ms(events), 800000);
  events_tick(events, 800000);
  EXPECT(events_outputs(events), "SEND events/subscribe");
  answer(events, 800000, last_id(events_outputs(events)),
         "{\"id\":\"sub\",\"refreshBefore\":\"1970-01-01T02:16:40+02:00\",\"cursor\":null}");
  cr_expect_eq(events_due_ms(events), 800000 + 800000, "an offset counts");
  events_tick(events, 1600000);
  answer(events, 1600000, last_id(events_outputs(events)),
         "{\"id\":\"sub\",\"refreshBefore\":null}");
  cr_expect_eq(events_due_ms(events), 1600000 + 86400000, "without an end: once a day");
  events_note_wall(events, 86400000);
  cr_expect_eq(events_due_ms(events), 1600000, "the machine has slept");
  events_tick(events, 1600000);
  refuse(events, last_id(events_outputs(events)), -32024);
  cr_expect(span_is(events_outputs(events)->rows[0].notice, "events.terminated sub"),
            "as the recipe for the route says it");
  events_free(events);
}

/* -- pauses, streams --------------------------------------------------------------------------- */

Test(subscribe, pauses_grow_and_differ) {
  struct retry one = {.random = 1}, other = {.random = 2};
  int64_t most = RETRY_FIRST_MS;
  bool differ = false;
  for (int i = 0; i < 20; i++) {
    int64_t ms = retry_wait_ms(&one);
    cr_expect(ms >= most / 2 && ms <= most, "%d: %lld of %lld", i, (long long)ms, (long long)most);
    differ = differ || ms != retry_wait_ms(&other);
    most = most * 2 < RETRY_LONGEST_MS ? most * 2 : RETRY_LONGEST_MS;
  }
  cr_expect(differ);
}

/* The events are the same, however the text is cut. */
Test(subscribe, sse) {
  static const char text[] =
      "\xef\xbb\xbf: hi\r\nid: 1\r\ndata: a\r\ndata:b\r\n\r\nevent: t\ndata\n\n"
      "retry: 250\nid: 2\n\ndata: {\"x\": 1}\rid\r\rdata: cut";
  for (size_t piece = 1; piece < sizeof text; piece++) {
    struct sse sse = {.has_data = false};
    char seen[256] = "";
    for (size_t at = 0; at < sizeof text - 1; at += piece) {
      size_t len = sizeof text - 1 - at < piece ? sizeof text - 1 - at : piece;
      struct tidings_span bytes = span_of(text + at, len);
      struct sse_event event;
      while (sse_next(&sse, &bytes, &event))
        snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "[%.*s|%.*s%s|%.*s]",
                 SPAN_FORMAT(event.type), SPAN_FORMAT(event.id), event.own_id ? "!" : "",
                 SPAN_FORMAT(event.data));
    }
    cr_expect_str_eq(seen, "[message|1!|a\nb][t|1|][message||{\"x\": 1}]", "pieces of %zu: %s",
                     piece, seen);
    cr_expect_eq(sse.retry_ms, 250);
    sse_free(&sse);
  }
}

/* The limit applies to what is kept: an event that is too long is cut, and such an id does not
 * count. */
Test(subscribe, sse_too_long) {
  enum { LEN = SSE_LONGEST_EVENT + 1000 };
  struct buffer text = BUFFER_EMPTY;
  struct sse sse = {.has_data = false};
  struct sse_event event;
  buffer_text(&text, "id: 1\ndata: ");
  for (int i = 0; i < LEN; i++) buffer_byte(&text, 'z');
  buffer_text(&text, "\ndata: more\nid: ");
  for (int i = 0; i < LEN; i++) buffer_byte(&text, '2');
  buffer_text(&text, "\n\ndata: next\n\n");
  struct tidings_span bytes = buffer_view(&text);
  cr_assert(sse_next(&sse, &bytes, &event));
  cr_expect(span_is(event.id, "1"));
  cr_expect(event.data.len > SSE_LONGEST_EVENT / 2 && event.data.len <= SSE_LONGEST_EVENT);
  cr_assert(sse_next(&sse, &bytes, &event));
  cr_expect(span_is(event.data, "next"));
  sse_free(&sse);
  buffer_free(&text);
}

Test(subscribe, plain_stream) {
  struct events_wish wish = {.server = "srv", .random = 1, .cursor = "7"};
  struct plain *plain = plain_new(&wish);
  plain_begin(plain, 0);
  EXPECT(plain_outputs(plain), "SEND GET");
  cr_expect(span_is(plain_outputs(plain)->rows[0].text, "7"));
  cr_expect_eq(plain_due_ms(plain), INT64_MAX, "it may be silent");
  struct sse_event event = {span_text("message"), span_text("8"), span_text("not \"JSON\""), true};
  plain_event(plain, &event, 1);
  EXPECT(plain_outputs(plain), "PUSH 8|CURSOR 8");
  const struct json *message = json_member(plain_outputs(plain)->rows[0].document, "message");
  cr_expect(message && span_is(message->text, "not \"JSON\""));
  event.own_id = false; /* the server gave it no id: it is another event */
  plain_event(plain, &event, 2);
  EXPECT(plain_outputs(plain), "PUSH");
  event = (struct sse_event){span_text("message"), span_text("\xff"), span_text("caf\xe9 x"), true};
  plain_event(plain, &event, 3);
  EXPECT(plain_outputs(plain), "PUSH \xff"); /* an id that is no UTF-8 cannot be stored */
  message = json_member(plain_outputs(plain)->rows[0].document, "message");
  cr_expect(message && span_is(message->text, "caf\xef\xbf\xbd x"), "nothing else is lost");
  const struct events_failure closed = {.status = 200, .reason = "r"};
  plain_failed(plain, 1, &closed, 5000, 10);
  cr_expect_eq(plain_due_ms(plain), 5010, "as late as the server asks for");
  plain_tick(plain, 5010);
  plain_failed(plain, 2, &closed, INT64_MAX / 2, 5010);
  cr_expect_eq(plain_due_ms(plain), 5010 + RETRY_MOST_ASKED_MS, "but not for ever");
  plain_tick(plain, plain_due_ms(plain));
  EXPECT(plain_outputs(plain), "SEND GET");
  const struct events_failure over = {.status = 204, .reason = "r"};
  plain_failed(plain, 3, &over, 0, plain_due_ms(plain));
  EXPECT(plain_outputs(plain), "NOTICE events.terminated|END");
  plain_free(plain);
}

/* -- a server that is a program ---------------------------------------------------------------- */

/* It may ask without end, and read no answer. */
Test(subscribe, program_that_does_not_read) {
  enum { MESSAGES = 4096, MOST_BYTES = 2 << 20 };
  char sleep[] = "sleep", seconds[] = "60", *words[] = {sleep, seconds, NULL}, text[1024];
  struct process process;
  memset(text, 'x', sizeof text);
  process_begin(&process, words);
  for (int i = 0; i < MESSAGES; i++) process_send(&process, span_of(text, sizeof text));
  cr_expect(process.out.len && process.out.len < MOST_BYTES, "%zu bytes", process.out.len);
  process_end(&process);
}
