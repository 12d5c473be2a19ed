/* SPDX-License-Identifier: MIT
 *
 * The events of messages, and message ids.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "event/event.h"
#include "kit.h"

static struct arena arena = ARENA_EMPTY;

static void tear_down(void) { arena_free(&arena); }

TestSuite(message_event, .fini = tear_down);
TestSuite(message_id);

static int parse(const char *type, const char *data, struct event *ret_event,
                 struct tidings_error *error) {
  struct settings settings = settings_from("", &arena);
  char json[4096];
  *error = new_error();
  (void)snprintf(json, sizeof json, "{\"type\":\"%s\",\"session\":\"s\"%s%s}", type,
                 *data ? ",\"data\":" : "", data);
  int code = event_parse(span_text(json), &settings, &arena, ret_event, error);
  /* The result must not point into it. */
  memset(json, 'x', sizeof json);
  return code;
}

static struct message_event read_good(const char *type, const char *data,
                                      enum event_type expected) {
  struct event event;
  struct tidings_error error;
  cr_assert_eq(parse(type, data, &event, &error), 0, "%s", error.text);
  cr_expect_eq(event.type, expected);
  cr_expect(event_is_message(event.type));
  return event.message;
}

#define EXPECT_SPAN(span, text)                                                                    \
  cr_expect(span_is((span), (text)), "got %s, expected %s", text_of(span), (text))

Test(message_event, submitted_needs_an_id_and_a_content) {
  struct message_event message =
      read_good("message.submitted", "{\"id\":\"m1\",\"content\":\"hi\"}", EVENT_MESSAGE_SUBMITTED);
  EXPECT_SPAN(message.id, "m1");
  EXPECT_SPAN(message.content, "hi");
  cr_expect(!message.steer && !message.resume && !message.last);
  cr_expect_eq(message.trigger.len + message.before.len, 0);
}

Test(message_event, submitted_says_how_and_on_whose_behalf) {
  struct message_event message =
      read_good("message.submitted",
                "{\"resume\":true,\"delivery\":\"steer\",\"content\":\"hi\",\"id\":\"m1\","
                "\"trigger\":{ \"b\" : [1.50, null], \"a\":\"\\u00e9\"}}",
                EVENT_MESSAGE_SUBMITTED);
  cr_expect(message.steer && message.resume);
  EXPECT_SPAN(message.trigger, "{\"b\":[1.50,null],\"a\":\"é\"}");
  message = read_good(
      "message.submitted",
      "{\"id\":\"m1\",\"content\":\"hi\",\"delivery\":\"queue\",\"resume\":false,\"trigger\":{}}",
      EVENT_MESSAGE_SUBMITTED);
  cr_expect(!message.steer && !message.resume);
  EXPECT_SPAN(message.trigger, "{}"); /* which is not the same as none */
}

Test(message_event, a_content_is_kept_as_it_is) {
  struct message_event message = read_good(
      "message.submitted",
      "{\"id\":\"m1\",\"content\":\" \\u001b[2J\\r\\n---\\n</system-reminder>\\u202e\\t\"}",
      EVENT_MESSAGE_SUBMITTED);
  EXPECT_SPAN(message.content, " \x1b[2J\r\n---\n</system-reminder>\xE2\x80\xAE\t");
  message =
      read_good("message.edited", "{\"id\":\"m1\",\"content\":\"\\n\"}", EVENT_MESSAGE_EDITED);
  EXPECT_SPAN(message.content, "\n");
}

Test(message_event, cancelled_edited_and_moved_name_a_message) {
  struct message_event message =
      read_good("message.cancelled", "{\"id\":\"tidings:7\"}", EVENT_MESSAGE_CANCELLED);
  EXPECT_SPAN(message.id, "tidings:7"); /* a system turn may be cancelled */
  message =
      read_good("message.edited", "{\"id\":\"m 1\",\"content\":\"better\"}", EVENT_MESSAGE_EDITED);
  EXPECT_SPAN(message.id, "m 1");
  EXPECT_SPAN(message.content, "better");
  message = read_good("message.moved", "{\"id\":\"m2\",\"before\":\"m1\"}", EVENT_MESSAGE_MOVED);
  EXPECT_SPAN(message.id, "m2");
  EXPECT_SPAN(message.before, "m1");
  cr_expect(!message.last);
}

Test(message_event, redirected_says_where_to) {
  struct message_event message = read_good(
      "message.redirected", "{\"id\":\"m2\",\"delivery\":\"steer\"}", EVENT_MESSAGE_REDIRECTED);
  EXPECT_SPAN(message.id, "m2");
  cr_expect(message.steer);
  message = read_good("message.redirected", "{\"delivery\":\"queue\",\"id\":\"m2\"}",
                      EVENT_MESSAGE_REDIRECTED);
  cr_expect(!message.steer);
}

Test(message_event, moved_before_null_is_last) {
  struct message_event message =
      read_good("message.moved", "{\"id\":\"m2\",\"before\":null}", EVENT_MESSAGE_MOVED);
  cr_expect(message.last);
  cr_expect_eq(message.before.len, 0);
}

#define SUBMIT(rest) "{\"id\":\"m1\",\"content\":\"x\"," rest "}"
#define OF_SUBMITTED "unknown field; expected one of id, content, delivery, trigger, resume, due_at"
#define ANOTHER "the id of another message, or null for the last place"

static const struct {
  const char *type, *data, *sentence;
} bad[] = {
    {"message.submitted", "", "data.id: missing; expected the id of a message"},
    {"message.submitted", "null", "data.id: missing; expected the id of a message"},
    {"message.submitted", "[]", "data: an array is not an object"},
    {"message.submitted", "{\"content\":\"x\"}", "data.id: missing; expected the id of a message"},
    {"message.submitted", "{\"id\":7,\"content\":\"x\"}", "data.id: 7 is not a string"},
    {"message.submitted", "{\"id\":null,\"content\":\"x\"}", "data.id: null is not a string"},
    {"message.submitted", "{\"id\":\"\",\"content\":\"x\"}", "data.id: must not be empty"},
    {"message.submitted", "{\"id\":\"a\\nb\",\"content\":\"x\"}",
     "data.id: \"a{U+000A}b\" has the control character U+000A"},
    {"message.submitted", "{\"id\":\"tidings:1\",\"content\":\"x\"}",
     "data.id: \"tidings:1\" starts with \"tidings:\", as only the ids of system turns do; "
     "expected another id"},
    {"message.submitted", "{\"id\":\"tidings:\",\"content\":\"x\"}",
     "data.id: \"tidings:\" starts with \"tidings:\", as only the ids of system turns do; expected "
     "another id"},
    {"message.submitted", "{\"id\":\"m1\"}", "data.content: missing; expected a string"},
    {"message.submitted", "{\"id\":\"m1\",\"content\":\"\"}", "data.content: must not be empty"},
    {"message.submitted", "{\"id\":\"m1\",\"content\":null}", "data.content: null is not a string"},
    {"message.submitted", "{\"id\":\"m1\",\"content\":[\"x\"]}",
     "data.content: an array is not a string"},
    {"message.submitted", SUBMIT("\"delivery\":\"now\""),
     "data.delivery: \"now\" is not one of queue, steer"},
    {"message.submitted", SUBMIT("\"delivery\":null"),
     "data.delivery: null is not one of queue, steer"},
    {"message.submitted", SUBMIT("\"trigger\":\"cron\""),
     "data.trigger: \"cron\" is not an object"},
    {"message.submitted", SUBMIT("\"trigger\":null"), "data.trigger: null is not an object"},
    {"message.submitted", SUBMIT("\"trigger\":[]"), "data.trigger: an array is not an object"},
    {"message.submitted", SUBMIT("\"resume\":1"), "data.resume: 1 is not true or false"},
    {"message.submitted", SUBMIT("\"priority\":1"), "data.priority: " OF_SUBMITTED},
    {"message.submitted", SUBMIT("\"queued_at\":1"), "data.queued_at: " OF_SUBMITTED},
    {"message.cancelled", "", "data.id: missing; expected the id of a message"},
    {"message.cancelled", "{\"id\":\"\"}", "data.id: must not be empty"},
    {"message.cancelled", "{\"id\":\"m1\",\"content\":\"x\"}",
     "data.content: unknown field; expected id"},
    {"message.edited", "{\"content\":\"x\"}", "data.id: missing; expected the id of a message"},
    {"message.edited", "{\"id\":\"m1\"}", "data.content: missing; expected a string"},
    {"message.edited", "{\"id\":\"m1\",\"content\":\"\"}", "data.content: must not be empty"},
    {"message.edited", SUBMIT("\"delivery\":\"steer\""),
     "data.delivery: unknown field; expected one of id, content"},
    {"message.moved", "{\"before\":\"m1\"}", "data.id: missing; expected the id of a message"},
    {"message.moved", "{\"id\":\"m1\"}", "data.before: missing; expected " ANOTHER},
    {"message.moved", "{\"id\":\"m1\",\"before\":0}", "data.before: 0 is not " ANOTHER},
    {"message.moved", "{\"id\":\"m1\",\"before\":\"\"}", "data.before: must not be empty"},
    {"message.moved", "{\"id\":\"m1\",\"before\":\"\\u007f\"}",
     "data.before: \"{U+007F}\" has the control character U+007F"},
    {"message.moved", "{\"id\":\"m1\",\"before\":\"m1\"}",
     "data.before: \"m1\" is the message itself; expected " ANOTHER},
    {"message.moved", "{\"id\":\"m1\",\"after\":\"m2\"}",
     "data.after: unknown field; expected one of id, before"},
};

Test(message_event, refuses_in_precise_words_and_writes_nothing) {
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct event event = {.type = EVENT_WAKE};
    struct tidings_error error;
    cr_expect_eq(parse(bad[i].type, bad[i].data, &event, &error), TIDINGS_E_SCHEMA, "%s %s",
                 bad[i].type, bad[i].data);
    cr_expect_str_eq(error.text, bad[i].sentence);
    cr_expect_eq(event.type, EVENT_WAKE, "%s: the result was written", bad[i].data);
  }
}

/* `pattern` with `len` times x for its %s. */
static int parse_long(const char *type, const char *pattern, size_t len,
                      struct tidings_error *error) {
  char id[300], data[1024];
  struct event event;
  memset(id, 'x', len);
  id[len] = '\0';
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  (void)snprintf(data, sizeof data, pattern, id);
#pragma GCC diagnostic pop
  return parse(type, data, &event, error);
}

Test(message_event, ids_have_255_bytes) {
  static const struct {
    const char *type, *pattern, *field;
  } cases[] = {{"message.submitted", "{\"id\":\"%s\",\"content\":\"x\"}", "data.id"},
               {"message.cancelled", "{\"id\":\"%s\"}", "data.id"},
               {"message.edited", "{\"id\":\"%s\",\"content\":\"x\"}", "data.id"},
               {"message.moved", "{\"id\":\"m1\",\"before\":\"%s\"}", "data.before"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct tidings_error error;
    char sentence[128];
    (void)snprintf(sentence, sizeof sentence, "%s: 256 bytes are over the limit of 255",
                   cases[i].field);
    cr_expect_eq(parse_long(cases[i].type, cases[i].pattern, 255, &error), 0, "%s: %s",
                 cases[i].type, error.text);
    cr_expect_eq(parse_long(cases[i].type, cases[i].pattern, 256, &error), TIDINGS_E_TOO_BIG, "%s",
                 cases[i].type);
    cr_expect_str_eq(error.text, sentence);
  }
}

Test(message_id, is_one_as_an_argument_too) {
  struct tidings_error error = new_error();
  cr_expect_eq(message_id_check(span_text("m é€😀/.."), "request.messages", TIDINGS_E_INVAL, &error),
               0, "%s", error.text);
  cr_expect_eq(message_id_check(span_text(""), "request.messages", TIDINGS_E_INVAL, &error),
               TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "request.messages: must not be empty");
  cr_expect_eq(message_id_check(span_text("a\xFF"), "request.messages", TIDINGS_E_INVAL, &error),
               TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "request.messages: \"a{0xFF}\" is not UTF-8");
}

Test(message_id, of_a_system_turn_starts_with_tidings) {
  static const char *const system[] = {"tidings:", "tidings:1", "tidings:é"},
                           *const others[] = {"", "t", "tidings", "Tidings:1", " tidings:1", "m1"};
  for (size_t i = 0; i < sizeof system / sizeof *system; i++)
    cr_expect(message_id_is_system(span_text(system[i])), "%s", system[i]);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    cr_expect(!message_id_is_system(span_text(others[i])), "%s", others[i]);
}
