/* SPDX-License-Identifier: MIT
 *
 * Events from bytes: notifications and the envelope.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "common/utf8.h"
#include "event/event.h"
#include "kit.h"

static struct arena arena = ARENA_EMPTY;
static struct settings settings;

static void set_up(void) { settings = settings_from("", &arena); }
static void tear_down(void) { arena_free(&arena); }

TestSuite(event, .init = set_up, .fini = tear_down);

static int parse(const char *json, struct event *ret_event, struct tidings_error *error) {
  *error = new_error();
  return event_parse(span_text(json), &settings, &arena, ret_event, error);
}

/* A notification whose data is `data`. */
static int parse_data(const char *data, struct event *ret_event, struct tidings_error *error) {
  char json[4096];
  (void)snprintf(json, sizeof json, "{\"type\":\"notification\",\"session\":\"s\",\"data\":%s}",
                 data);
  return parse(json, ret_event, error);
}

#define EXPECT_SPAN(span, text)                                                                    \
  cr_expect(span_is((span), (text)), "got %s, expected %s", text_of(span), (text))

Test(event, reads_a_whole_notification) {
  struct event event;
  struct tidings_error error;
  int code = parse("{\"specversion\":\"1.0\",\"type\":\"notification\",\"source\":\"/"
                   "jp\",\"id\":\"a-1\",\"time\":\"2026-02-23T12:00:00.25+01:00\","
                   "\"session\":\"conversation é\",\"datacontenttype\":\"application/json; "
                   "charset=utf-8\",\"subject\":\"x\",\"traceparent\":\"00\","
                   "\"data\":{\"kind\":\"tool.stopped.early\",\"message\":\"Done "
                   "\\u2714\",\"level\":\"critical\",\"data\":{\"path\" : [1, 2.50]},"
                   "\"key\":\"k\",\"tool\":\"cargo_check\",\"handle\":\"h_3\",\"ttl_ms\":5000,"
                   "\"activation\":\"interrupt\",\"caused_by\":\"c1\"}}",
                   &event, &error);
  cr_assert_eq(code, 0, "%s", error.text);
  cr_expect_eq(event.type, EVENT_NOTIFICATION);
  EXPECT_SPAN(event.session, "conversation é");
  EXPECT_SPAN(event.source, "/jp");
  EXPECT_SPAN(event.id, "a-1");
  cr_expect_eq(event.occurred_ms, 1771844400250);
  const struct notification *note = &event.notification;
  EXPECT_SPAN(note->source, "tool");
  EXPECT_SPAN(note->name, "stopped.early");
  EXPECT_SPAN(note->message, "Done ✔");
  EXPECT_SPAN(note->data, "{\"path\":[1,2.50]}");
  EXPECT_SPAN(note->key, "k");
  EXPECT_SPAN(note->tool, "cargo_check");
  EXPECT_SPAN(note->handle, "h_3");
  EXPECT_SPAN(note->caused_by, "c1");
  cr_expect_eq(note->ttl_ms, 5000);
  cr_expect_eq(note->level, TIDINGS_LEVEL_CRITICAL);
  cr_expect_eq(note->activation, ACTIVATION_INTERRUPT);
}

Test(event, times_are_milliseconds_of_utc) {
  static const struct {
    const char *time;
    int64_t ms;
  } times[] = {{"1970-01-01T00:00:00.001Z", 1},
               {"2000-02-29T23:59:60Z", 951868800000},
               {"2026-02-23t12:00:00z", 1771848000000},
               {"2026-02-23T12:00:00.1239-00:30", 1771849800123},
               {"9999-12-31T23:59:59.999Z", 253402300799999},
               {"1969-12-31T23:59:59.999Z", 0},
               {"0000-01-01T00:00:00+23:59", 0}};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    char json[256];
    struct event event;
    struct tidings_error error;
    (void)snprintf(json, sizeof json,
                   "{\"type\":\"notification\",\"session\":\"s\",\"time\":\"%s\",\"data\":{"
                   "\"kind\":\"a\",\"message\":\"m\"}}",
                   times[i].time);
    cr_assert_eq(parse(json, &event, &error), 0, "%s", error.text);
    cr_expect_eq(event.notification.occurred_ms, times[i].ms, "%s: %lld", times[i].time,
                 (long long)event.notification.occurred_ms);
  }
}

Test(event, needs_little) {
  struct event event;
  struct tidings_error error;
  cr_assert_eq(parse_data("{\"kind\":\"tool.stopped\",\"message\":\"m\"}", &event, &error), 0, "%s",
               error.text);
  cr_expect_eq(event.id.len, 0);
  cr_expect_eq(event.source.len, 0);
  cr_expect_eq(event.notification.level, TIDINGS_LEVEL_INFO);
  cr_expect_eq(event.notification.activation, ACTIVATION_PASSIVE);
  cr_expect_eq(event.notification.ttl_ms, 0);
  cr_expect_eq(event.notification.data.len + event.notification.key.len +
                   event.notification.caused_by.len,
               0);
}

Test(event, outlives_the_bytes_it_was_read_from) {
  char json[] = "{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"kind\":\"a.b\","
                "\"message\":\"m\",\"data\":[true]}}";
  struct event event;
  cr_assert_eq(event_parse(span_text(json), &settings, &arena, &event, NULL), 0);
  memset(json, 'x', sizeof json);
  EXPECT_SPAN(event.session, "s");
  EXPECT_SPAN(event.notification.source, "a");
  EXPECT_SPAN(event.notification.message, "m");
  EXPECT_SPAN(event.notification.data, "[true]");
}

Test(event, kinds_in_both_forms) {
  static const struct {
    const char *kind, *source, *name;
  } cases[] = {{"\"tool.stopped\"", "tool", "stopped"},
               {"\"a.b.c\"", "a", "b.c"},
               {"\"budget\"", "budget", ""},
               {"{\"source\":\"tool\",\"name\":\"stopped\"}", "tool", "stopped"},
               {"{\"name\":\"b.c\",\"source\":\"a\"}", "a", "b.c"},
               {"{\"source\":\"budget\",\"name\":\"\"}", "budget", ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char data[256];
    (void)snprintf(data, sizeof data, "{\"kind\":%s,\"message\":\"m\"}", cases[i].kind);
    struct event event;
    struct tidings_error error;
    cr_assert_eq(parse_data(data, &event, &error), 0, "%s: %s", cases[i].kind, error.text);
    EXPECT_SPAN(event.notification.source, cases[i].source);
    EXPECT_SPAN(event.notification.name, cases[i].name);
  }
}

Test(event, data_may_be_any_json) {
  static const char *const values[][2] = {{"null", "null"},         {"false", "false"},
                                          {"0.10", "0.10"},         {"\"é\\u0000\"", NULL},
                                          {"\"\\u00e9\"", "\"é\""}, {"[ ]", "[]"}};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    char data[256];
    (void)snprintf(data, sizeof data, "{\"data\":%s,\"kind\":\"a.b\",\"message\":\"m\"}",
                   values[i][0]);
    struct event event;
    struct tidings_error error;
    int code = parse_data(data, &event, &error);
    cr_expect_eq(code, values[i][1] ? 0 : TIDINGS_E_INVAL, "%s: %s", values[i][0], error.text);
    if (!code && values[i][1]) EXPECT_SPAN(event.notification.data, values[i][1]);
  }
}

/* ---- messages that are too long ---- */

Test(event, cuts_a_long_message_between_characters_and_says_by_how_much) {
  settings = settings_from("{\"limits\":{\"message_bytes\":64}}", &arena);
  static const struct {
    const char *filler, *tail, *suffix;
    size_t fillers, kept;
  } cases[] = {
      {"x", "", "", 64, 64},
      {"x", "", "… (1 more bytes)", 65, 64},
      {"x", "", "… (936 more bytes)", 1000, 64},
      {"€", "", "… (27 more bytes)", 30, 63}, /* 64 would split the 22nd */
      {"x", "😀😀", "… (8 more bytes)", 61, 61},
      {"x", "😀😀", "… (4 more bytes)", 60, 64},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct buffer data = BUFFER_EMPTY, expected = BUFFER_EMPTY;
    for (size_t n = 0; n < cases[i].fillers; n++) buffer_text(&expected, cases[i].filler);
    buffer_text(&expected, cases[i].tail);
    buffer_text(&data, "{\"kind\":\"a.b\",\"message\":\"");
    buffer_span(&data, buffer_view(&expected));
    buffer_text(&data, "\"}");
    buffer_byte(&data, '\0');
    expected.len = cases[i].kept;
    buffer_text(&expected, cases[i].suffix);
    struct event event;
    struct tidings_error error;
    cr_assert_eq(parse_data(data.bytes, &event, &error), 0, "%s", error.text);
    cr_expect(span_equal(event.notification.message, buffer_view(&expected)), "case %zu: %s", i,
              text_of(event.notification.message));
    cr_expect(utf8_valid(event.notification.message));
    buffer_free(&data);
    buffer_free(&expected);
  }
}

Test(event, survives_any_mutation_with_a_sentence_or_a_sound_event) {
  static const char seed[] = "{\"specversion\":\"1.0\",\"type\":\"notification\",\"source\":\"/"
                             "jp\",\"id\":\"1\",\"session\":\"s\",\"data\":{\"kind\":{\"source\":"
                             "\"tool\",\"name\":\"x\"},\"message\":\"m\\u00e9\",\"level\":"
                             "\"error\",\"ttl_ms\":5,\"data\":[1,{\"a\":null}]}}";
  struct random random = {99};
  int taken = 0;
  for (int round = 0; round < 50000; round++) {
    char json[sizeof seed];
    memcpy(json, seed, sizeof seed);
    for (size_t n = random_below(&random, 3) + 1; n; n--)
      json[random_below(&random, sizeof seed - 1)] = (char)random_next(&random);
    struct arena round_arena = ARENA_EMPTY;
    struct event event;
    struct tidings_error error = new_error();
    int code = event_parse(span_of(json, sizeof seed - 1), &settings, &round_arena, &event, &error);
    if (code) {
      cr_assert(code >= TIDINGS_E_UNSUPPORTED && error.code == code && error.text[0], "%s", json);
      cr_assert(utf8_valid(span_text(error.text)), "%s", error.text);
    } else {
      cr_assert(event.session.len && event.notification.source.len &&
                event.notification.message.len);
      cr_assert(utf8_valid(event.notification.message) && utf8_valid(event.notification.data) &&
                utf8_valid(event.session));
      taken++;
    }
    arena_free(&round_arena);
  }
  cr_expect_gt(taken, 500);
}
