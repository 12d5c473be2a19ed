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

/* ---- what is refused, and in which words ---- */

static const struct {
  const char *data;
  int code;
  const char *sentence;
} bad_data[] = {
    {"[]", TIDINGS_E_SCHEMA, "data: an array is not an object"},
    {"{\"message\":\"m\"}", TIDINGS_E_SCHEMA,
     "data.kind: missing; expected \"source.name\" or an object with source and name"},
    {"{\"kind\":\"a.b\"}", TIDINGS_E_SCHEMA, "data.message: missing; expected a string"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"level\":\"urgent\"}", TIDINGS_E_SCHEMA,
     "data.level: \"urgent\" is not one of info, warning, error, critical"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"level\":3}", TIDINGS_E_SCHEMA,
     "data.level: 3 is not one of info, warning, error, critical"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"level\":null}", TIDINGS_E_SCHEMA,
     "data.level: null is not one of info, warning, error, critical"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"levle\":\"info\"}", TIDINGS_E_SCHEMA,
     "data.levle: unknown field; expected one of kind, message, level, data, key, tool, handle, "
     "ttl_ms, activation, caused_by"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"a key\":1}", TIDINGS_E_SCHEMA,
     "data.\"a key\": unknown field; expected one of kind, message, level, data, key, tool, "
     "handle, ttl_ms, activation, caused_by"},
    {"{\"kind\":\"a.b\",\"message\":5}", TIDINGS_E_SCHEMA, "data.message: 5 is not a string"},
    {"{\"kind\":\"a.b\",\"message\":[\"m\"]}", TIDINGS_E_SCHEMA,
     "data.message: an array is not a string"},
    {"{\"kind\":\"a.b\",\"message\":\"\"}", TIDINGS_E_SCHEMA,
     "data.message: must not be empty or blank"},
    {"{\"kind\":\"a.b\",\"message\":\" \\n\\t\"}", TIDINGS_E_SCHEMA,
     "data.message: must not be empty or blank"},
    {"{\"kind\":7,\"message\":\"m\"}", TIDINGS_E_SCHEMA,
     "data.kind: 7 is not \"source.name\" or an object with source and name"},
    {"{\"kind\":\"\",\"message\":\"m\"}", TIDINGS_E_SCHEMA, "data.kind: must not be empty"},
    {"{\"kind\":\".b\",\"message\":\"m\"}", TIDINGS_E_SCHEMA,
     "data.kind: \".b\" is not a source, a dot and a name: the source is empty"},
    {"{\"kind\":\"a.\",\"message\":\"m\"}", TIDINGS_E_SCHEMA,
     "data.kind: \"a.\" is not a source, a dot and a name: the name is empty"},
    {"{\"kind\":\"a\\u001b.b\",\"message\":\"m\"}", TIDINGS_E_SCHEMA,
     "data.kind: \"a{U+001B}.b\" has the control character U+001B"},
    {"{\"kind\":{\"source\":\"a\"},\"message\":\"m\"}", TIDINGS_E_SCHEMA,
     "data.kind.name: missing; expected a string such as \"stopped\""},
    {"{\"kind\":{\"name\":\"a\"},\"message\":\"m\"}", TIDINGS_E_SCHEMA,
     "data.kind.source: missing; expected a string such as \"tool\""},
    {"{\"kind\":{\"source\":\"\",\"name\":\"b\"},\"message\":\"m\"}", TIDINGS_E_SCHEMA,
     "data.kind.source: must not be empty"},
    {"{\"kind\":{\"source\":\"a.b\",\"name\":\"c\"},\"message\":\"m\"}", TIDINGS_E_SCHEMA,
     "data.kind.source: \"a.b\" is not a source: it has a dot"},
    {"{\"kind\":{\"source\":\"a\",\"name\":\"b\",\"id\":1},\"message\":\"m\"}", TIDINGS_E_SCHEMA,
     "data.kind.id: unknown field; expected one of source, name"},
    {"{\"kind\":{\"source\":\"a\",\"name\":\"b\\n\"},\"message\":\"m\"}", TIDINGS_E_SCHEMA,
     "data.kind.name: \"b{U+000A}\" has the control character U+000A"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"ttl_ms\":0}", TIDINGS_E_SCHEMA,
     "data.ttl_ms: 0 is not an integer of at least 1"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"ttl_ms\":-5}", TIDINGS_E_SCHEMA,
     "data.ttl_ms: -5 is not an integer of at least 1"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"ttl_ms\":1.5}", TIDINGS_E_SCHEMA,
     "data.ttl_ms: 1.5 is not an integer of at least 1"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"ttl_ms\":\"5\"}", TIDINGS_E_SCHEMA,
     "data.ttl_ms: \"5\" is not an integer of at least 1"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"activation\":\"now\"}", TIDINGS_E_SCHEMA,
     "data.activation: \"now\" is not one of passive, idle, interrupt"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"key\":{}}", TIDINGS_E_SCHEMA,
     "data.key: an object is not a string"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"tool\":true}", TIDINGS_E_SCHEMA,
     "data.tool: true is not a string"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"message\":\"n\"}", TIDINGS_E_INVAL,
     "event: not JSON: the key \"message\" stands twice in one object"},
};

Test(event, refuses_bad_data) {
  for (size_t i = 0; i < sizeof bad_data / sizeof *bad_data; i++) {
    struct event event = {.type = EVENT_SESSION_CLOSED};
    struct tidings_error error;
    cr_expect_eq(parse_data(bad_data[i].data, &event, &error), bad_data[i].code, "%s: %s",
                 bad_data[i].data, error.text);
    cr_expect_str_eq(error.text, bad_data[i].sentence);
    cr_expect_eq(event.type, EVENT_SESSION_CLOSED, "%s: the result was written", bad_data[i].data);
  }
}

#define DATA "\"data\":{\"kind\":\"a.b\",\"message\":\"m\"}"
#define HEAD "{\"type\":\"notification\",\"session\":\"s\"," DATA ","

static const struct {
  const char *json;
  int code;
  const char *sentence;
} bad_events[] = {
    {"", TIDINGS_E_INVAL, "event: not JSON: it is empty"},
    {"[]", TIDINGS_E_SCHEMA, "event: an array is not an object"},
    {"5", TIDINGS_E_SCHEMA, "event: 5 is not an object"},
    {"{}", TIDINGS_E_SCHEMA, "type: missing; expected an event type, such as \"notification\""},
    {"{\"type\":null}", TIDINGS_E_SCHEMA,
     "type: missing; expected an event type, such as \"notification\""},
    {"{\"type\":5}", TIDINGS_E_SCHEMA, "type: 5 is not a string"},
    {"{\"type\":\"x\"}", TIDINGS_E_UNSUPPORTED, "event type \"x\" is unknown"},
    {"{\"type\":\"turn.stated\",\"data\":7,\"Bad Key\":[]}", TIDINGS_E_UNSUPPORTED,
     "event type \"turn.stated\" is unknown"},
    {"{\"type\":\"Wake\",\"session\":\"s\"}", TIDINGS_E_UNSUPPORTED,
     "event type \"Wake\" is unknown"},
    {"{\"type\":\"message.submitted\",\"data\":{\"id\":\"m\",\"content\":\"x\"}}", TIDINGS_E_SCHEMA,
     "session: missing; expected the id of a session"},
    {"{\"type\":\"notification\"," DATA "}", TIDINGS_E_SCHEMA,
     "session: missing; expected the id of a session"},
    {"{\"type\":\"notification\",\"session\":null," DATA "}", TIDINGS_E_SCHEMA,
     "session: missing; expected the id of a session"},
    {"{\"type\":\"notification\",\"session\":\"\"," DATA "}", TIDINGS_E_SCHEMA,
     "session: must not be empty"},
    {"{\"type\":\"notification\",\"session\":5," DATA "}", TIDINGS_E_SCHEMA,
     "session: 5 is not a string"},
    {"{\"type\":\"notification\",\"session\":\"a\\u0085b\"," DATA "}", TIDINGS_E_SCHEMA,
     "session: \"a{U+0085}b\" has the control character U+0085"},
    {"{\"type\":\"notification\",\"session\":\"s\"}", TIDINGS_E_SCHEMA,
     "data: missing; expected an object with kind and message"},
    {HEAD "\"specversion\":\"0.3\"}", TIDINGS_E_SCHEMA, "specversion: \"0.3\" is not \"1.0\""},
    {HEAD "\"specversion\":1.0}", TIDINGS_E_SCHEMA, "specversion: 1.0 is not \"1.0\""},
    {HEAD "\"source\":\"\"}", TIDINGS_E_SCHEMA, "source: must not be empty"},
    {HEAD "\"source\":[]}", TIDINGS_E_SCHEMA, "source: an array is not a string"},
    {HEAD "\"id\":\"\"}", TIDINGS_E_SCHEMA, "id: must not be empty"},
    {HEAD "\"id\":17}", TIDINGS_E_SCHEMA, "id: 17 is not a string"},
    {HEAD "\"id\":\"a\\nb\"}", TIDINGS_E_SCHEMA,
     "id: \"a{U+000A}b\" has the control character U+000A"},
    {HEAD "\"time\":\"yesterday\"}", TIDINGS_E_SCHEMA,
     "time: \"yesterday\" is not a time by RFC 3339, such as \"2026-02-23T12:00:00Z\""},
    {HEAD "\"datacontenttype\":\"text/xml\"}", TIDINGS_E_SCHEMA,
     "datacontenttype: \"text/xml\" is not application/json"},
    {HEAD "\"subject\":1}", TIDINGS_E_SCHEMA, "subject: 1 is not a string"},
    {HEAD "\"trace\":{}}", TIDINGS_E_SCHEMA,
     "trace: an object is not a string, a number, true, false or null, as an extension attribute "
     "must be"},
    {HEAD "\"data_base64\":\"\"}", TIDINGS_E_SCHEMA,
     "data_base64: unknown attribute; expected one of specversion, type, source, id, time, "
     "session, data, datacontenttype, subject, "
     "dataschema, or an extension named by a-z and 0-9"},
};

Test(event, refuses_bad_envelopes) {
  for (size_t i = 0; i < sizeof bad_events / sizeof *bad_events; i++) {
    struct event event = {.type = EVENT_SESSION_CLOSED};
    struct tidings_error error;
    cr_expect_eq(parse(bad_events[i].json, &event, &error), bad_events[i].code, "%s: %s",
                 bad_events[i].json, error.text);
    cr_expect_str_eq(error.text, bad_events[i].sentence);
    cr_expect_eq(event.type, EVENT_SESSION_CLOSED);
  }
}

Test(event, takes_what_cloudevents_allows) {
  static const char *const good[] = {
      HEAD "\"time\":\"1985-04-12T23:20:50.52Z\"}",
      HEAD "\"time\":\"1996-12-19t16:39:57-08:00\"}",
      HEAD "\"time\":\"1990-12-31T23:59:60z\"}",
      HEAD "\"time\":null,\"id\":null,\"source\":null}",
      HEAD "\"ext1\":5,\"ext2\":true,\"ext3\":null,\"ext4\":\"x\"}",
      HEAD "\"datacontenttype\":\"application/cloudevents+json\"}",
      HEAD "\"dataschema\":\"https://example.org/s\",\"subject\":\"a b\"}"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    struct event event;
    struct tidings_error error;
    cr_expect_eq(parse(good[i], &event, &error), 0, "%s: %s", good[i], error.text);
  }
}

Test(event, refuses_times_that_are_none) {
  static const char *const bad[] = {"2026-02-23",
                                    "2026-02-23T12:00:00",
                                    "2026-13-23T12:00:00Z",
                                    "2026-00-23T12:00:00Z",
                                    "2026-02-00T12:00:00Z",
                                    "2026-02-23T24:00:00Z",
                                    "2026-02-23T12:60:00Z",
                                    "2026-02-23T12:00:61Z",
                                    "2026-02-23 12:00:00Z",
                                    "2026-02-23T12:00:00.Z",
                                    "2026-02-23T12:00:00.5",
                                    "2026-02-23T12:00:00+1",
                                    "2026-02-23T12:00:00+01:60",
                                    "2026-02-23T12:00:00+24:00",
                                    "2026-02-23T12:00:00ZZ",
                                    "x026-02-23T12:00:00Z"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char json[256];
    (void)snprintf(json, sizeof json, HEAD "\"time\":\"%s\"}", bad[i]);
    struct event event;
    struct tidings_error error;
    cr_expect_eq(parse(json, &event, &error), TIDINGS_E_SCHEMA, "%s was taken", bad[i]);
  }
}

/* With data that is none, so that each says what it would have. */
Test(event, every_type_of_the_contract_is_known_by_name) {
  for (enum event_type type = EVENT_NOTIFICATION; type <= EVENT_WAKE; type++) {
    char json[128];
    (void)snprintf(json, sizeof json, "{\"type\":\"%s\",\"session\":\"s\",\"data\":5}",
                   event_type_name(type));
    struct event event;
    struct tidings_error error;
    cr_expect_eq(parse(json, &event, &error), TIDINGS_E_SCHEMA, "%s", json);
    cr_expect_str_eq(error.text, "data: 5 is not an object");
  }
}

/* ---- limits ---- */

/* An event in which the @ of the pattern is `len` times x. */
static int parse_filled(const char *pattern, size_t len, struct tidings_error *error) {
  struct buffer json = BUFFER_EMPTY;
  struct event event;
  const char *at = strchr(pattern, '@');
  buffer_append(&json, pattern, (size_t)(at - pattern));
  while (len--) buffer_byte(&json, 'x');
  buffer_text(&json, at + 1);
  *error = new_error();
  int code = event_parse(buffer_view(&json), &settings, &arena, &event, error);
  buffer_free(&json);
  return code;
}

Test(event, small_strings_have_a_limit) {
#define WITH_DATA(member)                                                                          \
  "{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"message\":\"m\"," member "}}"
  static const struct {
    const char *pattern, *field;
  } cases[] = {
      {WITH_DATA("\"kind\":\"a\",\"key\":\"@\""), "data.key"},
      {WITH_DATA("\"kind\":\"a\",\"tool\":\"@\""), "data.tool"},
      {WITH_DATA("\"kind\":\"a\",\"handle\":\"@\""), "data.handle"},
      {WITH_DATA("\"kind\":\"a\",\"caused_by\":\"@\""), "data.caused_by"},
      {WITH_DATA("\"kind\":\"@\""), "data.kind"},
      {WITH_DATA("\"kind\":{\"source\":\"@\",\"name\":\"n\"}"), "data.kind.source"},
      {WITH_DATA("\"kind\":{\"source\":\"s\",\"name\":\"@\"}"), "data.kind.name"},
      {HEAD "\"id\":\"@\"}", "id"},
      {HEAD "\"source\":\"@\"}", "source"},
  };
#undef WITH_DATA
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct tidings_error error;
    char sentence[128];
    (void)snprintf(sentence, sizeof sentence, "%s: 1025 bytes are over the limit of 1024",
                   cases[i].field);
    cr_expect_eq(parse_filled(cases[i].pattern, 1024, &error), 0, "%s: %s", cases[i].field,
                 error.text);
    cr_expect_eq(parse_filled(cases[i].pattern, 1025, &error), TIDINGS_E_TOO_BIG, "%s",
                 cases[i].field);
    cr_expect_str_eq(error.text, sentence);
  }
}

Test(event, sessions_have_255_bytes) {
  static const char pattern[] = "{\"type\":\"notification\",\"session\":\"@\"," DATA "}";
  struct tidings_error error;
  cr_expect_eq(parse_filled(pattern, 255, &error), 0, "%s", error.text);
  cr_expect_eq(parse_filled(pattern, 256, &error), TIDINGS_E_TOO_BIG);
  cr_expect_str_eq(error.text, "session: 256 bytes are over the limit of 255");
}

Test(event, the_size_is_looked_at_first) {
  settings = settings_from("{\"limits\":{\"event_bytes\":1024}}", &arena);
  struct tidings_error error;
  cr_expect_eq(parse_filled("\xFF@", 1023, &error), TIDINGS_E_INVAL);
  cr_expect_eq(parse_filled("\xFF@", 1024, &error), TIDINGS_E_TOO_BIG);
  cr_expect_str_eq(error.text, "event: 1025 bytes are over the limit of 1024 (limits.event_bytes)");
}

Test(event, nesting_is_too_big) {
  struct event event;
  struct tidings_error error;
  cr_expect_eq(
      parse_data("{\"data\":[[[[[[[[[[[[[[]]]]]]]]]]]]]],\"kind\":\"a.b\",\"message\":\"m\"}",
                 &event, &error),
      0, "%s", error.text);
  cr_expect_eq(
      parse_data("{\"data\":[[[[[[[[[[[[[[[]]]]]]]]]]]]]]],\"kind\":\"a.b\",\"message\":\"m\"}",
                 &event, &error),
      TIDINGS_E_TOO_BIG);
  cr_expect(strstr(error.text, "deeper than 16 levels"), "%s", error.text);
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
