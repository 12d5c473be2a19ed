/* SPDX-License-Identifier: MIT
 *
 * Wrong events of notifications, each with the sentence that refuses it, and the limits.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "event/event.h"
#include "kit.h"

static struct arena arena = ARENA_EMPTY;
static struct settings settings;

static void set_up(void) { settings = settings_from("", &arena); }
static void tear_down(void) { arena_free(&arena); }

TestSuite(event_refusals, .init = set_up, .fini = tear_down);

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

static const struct {
  const char *type, *data, *sentence;
} bad_reports[] = {
    {"run.failed", "{\"command\":\"c\",\"handle\":\"h\",\"exit_code\":1,\"signal\":\"SIGKILL\"}",
     "data.signal: \"SIGKILL\" is given together with data.exit_code; expected only one of the "
     "two"},
    {"run.failed", "{\"command\":\"c\",\"handle\":\"h\",\"exit_code\":1,\"lost\":true}",
     "data.lost: true is given together with data.exit_code; expected only one of the two"},
    {"run.failed", "{\"command\":\"c\",\"handle\":\"h\",\"signal\":\"SIGHUP\",\"lost\":true}",
     "data.lost: true is given together with data.signal; expected only one of the two"},
    {"run.failed", "{\"command\":\"c\",\"handle\":\"h\",\"exit_code\":0}",
     "data.exit_code: 0 is given in run.failed; expected another exit code, or run.finished"},
    {"run.failed", "{\"command\":\"c\",\"handle\":\"h\",\"exit_code\":\"1\"}",
     "data.exit_code: \"1\" is not an integer of 64 bits"},
    {"run.finished", "{\"command\":\"c\",\"handle\":\"h\",\"signal\":\"SIGKILL\"}",
     "data.signal: \"SIGKILL\" is given in run.finished; expected only in run.failed"},
    {"run.finished", "{\"command\":\"c\",\"handle\":\"h\",\"lost\":true}",
     "data.lost: true is given in run.finished; expected only in run.failed"},
    {"run.finished", "{\"handle\":\"h\"}",
     "data.command: missing; expected the command as it was typed, such as \"make -j8\""},
    {"handle.state", "{\"handle\":\"h\",\"tool\":\"t\"}",
     "data.state: missing; expected one of running, waiting, stopped, failed"},
    {"mcp.state", "{\"server\":\"s\"}",
     "data.state: missing; expected one of connected, disconnected, unresponsive, reconnected"},
    {"budget.usage", "{\"used\":1}", "data.limit: missing; expected a number of tokens"},
};

Test(event_refusals, reports_are_refused_in_whole_sentences) {
  for (size_t i = 0; i < sizeof bad_reports / sizeof *bad_reports; i++) {
    char json[512];
    struct event event;
    struct tidings_error error;
    (void)snprintf(json, sizeof json, "{\"type\":\"%s\",\"session\":\"s\",\"data\":%s}",
                   bad_reports[i].type, bad_reports[i].data);
    cr_expect_eq(parse(json, &event, &error), TIDINGS_E_SCHEMA);
    cr_expect_str_eq(error.text, bad_reports[i].sentence);
  }
}

/* For each field that a type requires, the error says what is expected. */
Test(event_refusals, what_is_missing_is_named) {
  static const char *const types[] = {"handle.state",   "handle.polled", "run.finished",
                                      "run.failed",     "mcp.state",     "config.changed",
                                      "budget.usage",   "rate.limited",  "subagent.finished",
                                      "tools.declared", "file.changed"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    static const char *const given[] = {"",
                                        "\"handle\":\"h\"",
                                        "\"command\":\"c\"",
                                        "\"used\":1",
                                        "\"slug\":\"s\"",
                                        "\"tool\":\"t\"",
                                        "\"server\":\"s\""};
    for (size_t j = 0; j < sizeof given / sizeof *given; j++) {
      char json[256];
      struct event event;
      struct tidings_error error;
      (void)snprintf(json, sizeof json, "{\"type\":\"%s\",\"session\":\"s\",\"data\":{%s}}",
                     types[i], given[j]);
      (void)parse(json, &event, &error);
      cr_expect(!strstr(error.text, "expected a value"), "%s: %s", json, error.text);
    }
  }
}

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
     "ttl_ms, activation, caused_by, due_at"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"a key\":1}", TIDINGS_E_SCHEMA,
     "data.\"a key\": unknown field; expected one of kind, message, level, data, key, tool, "
     "handle, ttl_ms, activation, caused_by, due_at"},
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
     "data.activation: \"now\" is not one of passive, idle, interrupt, silent"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"key\":{}}", TIDINGS_E_SCHEMA,
     "data.key: an object is not a string"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"tool\":true}", TIDINGS_E_SCHEMA,
     "data.tool: true is not a string"},
    {"{\"kind\":\"a.b\",\"message\":\"m\",\"message\":\"n\"}", TIDINGS_E_INVAL,
     "event: not JSON: the key \"message\" appears twice in one object"},
};

Test(event_refusals, refuses_bad_data) {
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

Test(event_refusals, refuses_bad_envelopes) {
  for (size_t i = 0; i < sizeof bad_events / sizeof *bad_events; i++) {
    struct event event = {.type = EVENT_SESSION_CLOSED};
    struct tidings_error error;
    cr_expect_eq(parse(bad_events[i].json, &event, &error), bad_events[i].code, "%s: %s",
                 bad_events[i].json, error.text);
    cr_expect_str_eq(error.text, bad_events[i].sentence);
    cr_expect_eq(event.type, EVENT_SESSION_CLOSED);
  }
}

Test(event_refusals, takes_what_cloudevents_allows) {
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

Test(event_refusals, refuses_times_that_are_none) {
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

/* Passes data that is not an object. Every type refuses it, and so knows its name. */
Test(event_refusals, every_type_of_the_contract_is_known_by_name) {
  static const char *const types[] = {
      "notification",      "handle.state",       "handle.polled",
      "run.finished",      "run.failed",         "mcp.state",
      "file.changed",      "config.changed",     "budget.usage",
      "rate.limited",      "subagent.finished",  "tools.declared",
      "message.submitted", "message.cancelled",  "message.edited",
      "message.moved",     "message.redirected", "turn.started",
      "turn.declined",     "turn.stop",          "turn.finished",
      "turn.aborted",      "turn.failed",        "turn.retrying",
      "turn.waiting",      "turn.resume",        "stream.started",
      "stream.finished",   "tools.started",      "tools.finished",
      "session.opened",    "session.resumed",    "session.rewound",
      "session.forked",    "session.compacting", "session.compacted",
      "session.collected", "session.closed",     "wake"};
  cr_assert_eq(sizeof types / sizeof *types, EVENT_WAKE + 1);
  for (enum event_type type = EVENT_NOTIFICATION; type <= EVENT_WAKE; type++) {
    char json[128];
    (void)snprintf(json, sizeof json, "{\"type\":\"%s\",\"session\":\"s\",\"data\":5}",
                   types[type]);
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

Test(event_refusals, small_strings_have_a_limit) {
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

Test(event_refusals, a_report_names_1000_files) {
  for (size_t count = 1000; count <= 1001; count++) {
    struct buffer json = BUFFER_EMPTY;
    struct event event;
    struct tidings_error error = new_error();
    buffer_text(&json, "{\"type\":\"file.changed\",\"session\":\"s\",\"data\":{\"paths\":[\"a\"");
    for (size_t i = 1; i < count; i++) buffer_text(&json, ",\"a\"");
    buffer_text(&json, "]}}");
    int code = event_parse(buffer_view(&json), &settings, &arena, &event, &error);
    cr_expect_eq(code, count <= 1000 ? 0 : TIDINGS_E_TOO_BIG);
    cr_expect_str_eq(error.text, count <= 1000 ? ""
                                               : "data.paths: 1001 paths are over the limit of "
                                                 "1000; send several events");
    buffer_free(&json);
  }
}

Test(event_refusals, sessions_have_255_bytes) {
  static const char pattern[] = "{\"type\":\"notification\",\"session\":\"@\"," DATA "}";
  struct tidings_error error;
  cr_expect_eq(parse_filled(pattern, 255, &error), 0, "%s", error.text);
  cr_expect_eq(parse_filled(pattern, 256, &error), TIDINGS_E_TOO_BIG);
  cr_expect_str_eq(error.text, "session: 256 bytes are over the limit of 255");
}

Test(event_refusals, the_size_is_looked_at_first) {
  settings = settings_from("{\"limits\":{\"event_bytes\":1024}}", &arena);
  struct tidings_error error;
  cr_expect_eq(parse_filled("\xFF@", 1023, &error), TIDINGS_E_INVAL);
  cr_expect_eq(parse_filled("\xFF@", 1024, &error), TIDINGS_E_TOO_BIG);
  cr_expect_str_eq(error.text, "event: 1025 bytes are over the limit of 1024 (limits.event_bytes)");
}

Test(event_refusals, nesting_is_too_big) {
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
