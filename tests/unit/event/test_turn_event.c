/* SPDX-License-Identifier: MIT
 *
 * The events of turns and of their phases, and `wake`.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "event/event.h"
#include "kit.h"

static struct arena arena = ARENA_EMPTY;

static void tear_down(void) { arena_free(&arena); }

TestSuite(turn_event, .fini = tear_down);

static int parse_bytes(const char *type, struct tidings_span data, struct event *ret_event,
                       struct tidings_error *error) {
  struct settings settings = settings_from("", &arena);
  struct buffer json = BUFFER_EMPTY;
  *error = new_error();
  buffer_format(&json, "{\"type\":\"%s\",\"session\":\"s\"%s", type, data.len ? ",\"data\":" : "");
  buffer_span(&json, data);
  buffer_byte(&json, '}');
  int code = event_parse(buffer_view(&json), &settings, &arena, ret_event, error);
  /* The result must not point into it. */
  memset(json.bytes, 'x', json.len);
  buffer_free(&json);
  return code;
}

static int parse(const char *type, const char *data, struct event *ret_event,
                 struct tidings_error *error) {
  return parse_bytes(type, span_text(data), ret_event, error);
}

static struct turn_event read_good(const char *type, const char *data, enum event_type expected) {
  struct event event;
  struct tidings_error error;
  cr_assert_eq(parse(type, data, &event, &error), 0, "%s: %s", type, error.text);
  cr_expect_eq(event.type, expected);
  return event.turn;
}

#define EXPECT_SPAN(span, text)                                                                    \
  cr_expect(span_is((span), (text)), "got %s, expected %s", text_of(span), (text))

static const struct {
  const char *name;
  enum event_type type;
} turns[] = {{"turn.started", EVENT_TURN_STARTED},   {"turn.declined", EVENT_TURN_DECLINED},
             {"turn.finished", EVENT_TURN_FINISHED}, {"turn.aborted", EVENT_TURN_ABORTED},
             {"turn.failed", EVENT_TURN_FAILED},     {"turn.retrying", EVENT_TURN_RETRYING},
             {"turn.waiting", EVENT_TURN_WAITING}},
  bare[] = {{"turn.resume", EVENT_TURN_RESUME},
            {"stream.started", EVENT_STREAM_STARTED},
            {"stream.finished", EVENT_STREAM_FINISHED},
            {"tools.started", EVENT_TOOLS_STARTED},
            {"tools.finished", EVENT_TOOLS_FINISHED},
            {"session.compacting", EVENT_SESSION_COMPACTING},
            {"session.compacted", EVENT_SESSION_COMPACTED},
            {"session.closed", EVENT_SESSION_CLOSED},
            {"wake", EVENT_WAKE}};
enum { TURNS = sizeof turns / sizeof *turns, BARE = sizeof bare / sizeof *bare };

Test(turn_event, without_messages_the_current_turn_is_meant) {
  static const char *const none[] = {"", "null", "{}", "{\"messages\":null}"};
  for (size_t i = 0; i < TURNS; i++) {
    for (size_t n = 0; n < sizeof none / sizeof *none; n++) {
      struct turn_event turn = read_good(turns[i].name, none[n], turns[i].type);
      cr_expect(!turn.has_messages && turn.message_count == 0, "%s %s", turns[i].name, none[n]);
      cr_expect_eq(turn.reason.len + turn.message.len + turn.kind.len + turn.attempt, 0);
    }
  }
}

Test(turn_event, names_its_messages_in_their_order) {
  for (size_t i = 0; i < TURNS; i++) {
    struct turn_event turn = read_good(
        turns[i].name, "{\"messages\":[\"m2\",\"tidings:1\",\"m\",\"m1\"]}", turns[i].type);
    cr_expect(turn.has_messages);
    cr_assert_eq(turn.message_count, 4, "%s", turns[i].name);
    EXPECT_SPAN(turn.messages[0], "m2");
    EXPECT_SPAN(turn.messages[1], "tidings:1");
    EXPECT_SPAN(turn.messages[2], "m");
    EXPECT_SPAN(turn.messages[3], "m1");
  }
}

Test(turn_event, says_why) {
  struct turn_event turn =
      read_good("turn.declined", "{\"reason\":\"the user said no\"}", EVENT_TURN_DECLINED);
  EXPECT_SPAN(turn.reason, "the user said no");
  turn = read_good("turn.aborted", "{\"reason\":\"\"}", EVENT_TURN_ABORTED);
  cr_expect_eq(turn.reason.len, 0);
  turn = read_good("turn.failed", "{\"reason\":\"provider\",\"message\":\"500\\n\\u001b[0m\"}",
                   EVENT_TURN_FAILED);
  EXPECT_SPAN(turn.reason, "provider");
  EXPECT_SPAN(turn.message, "500\n\x1b[0m");
}

Test(turn_event, says_when) {
  struct turn_event turn = read_good("turn.started", "{\"at\":1}", EVENT_TURN_STARTED);
  cr_expect_eq(turn.at_ms, 1);
  turn = read_good("turn.aborted", "{\"messages\":[\"m\"],\"reason\":\"x\",\"at\":1700000000000}",
                   EVENT_TURN_ABORTED);
  cr_expect_eq(turn.at_ms, 1700000000000);
  EXPECT_SPAN(turn.reason, "x");
  cr_expect_eq(read_good("turn.aborted", "{}", EVENT_TURN_ABORTED).at_ms, 0);
}

Test(turn_event, counts_attempts) {
  struct turn_event turn =
      read_good("turn.retrying", "{\"attempt\":2,\"message\":\"overloaded\"}", EVENT_TURN_RETRYING);
  cr_expect_eq(turn.attempt, 2);
  EXPECT_SPAN(turn.message, "overloaded");
  cr_expect_eq(read_good("turn.retrying", "{\"attempt\":1}", EVENT_TURN_RETRYING).attempt, 1);
  cr_expect_eq(read_good("turn.retrying", "{\"attempt\":4294967295}", EVENT_TURN_RETRYING).attempt,
               UINT32_MAX);
}

Test(turn_event, waits_for_something) {
  struct turn_event turn = read_good(
      "turn.waiting", "{\"kind\":\"approval\",\"message\":\"rm -r?\"}", EVENT_TURN_WAITING);
  EXPECT_SPAN(turn.kind, "approval");
  EXPECT_SPAN(turn.message, "rm -r?");
  EXPECT_SPAN(read_good("turn.waiting", "{\"kind\":\"user-input\"}", EVENT_TURN_WAITING).kind,
              "user-input");
}

Test(turn_event, of_some_types_there_is_nothing_to_say) {
  static const char *const none[] = {"", "null", "{}"};
  for (size_t i = 0; i < BARE; i++) {
    struct event event = {.type = EVENT_NOTIFICATION};
    struct tidings_error error;
    for (size_t n = 0; n < sizeof none / sizeof *none; n++)
      (void)read_good(bare[i].name, none[n], bare[i].type);
    cr_expect_eq(parse(bare[i].name, "{\"messages\":[\"m1\"]}", &event, &error), TIDINGS_E_SCHEMA,
                 "%s", bare[i].name);
    bool of_call = bare[i].type == EVENT_TOOLS_STARTED || bare[i].type == EVENT_TOOLS_FINISHED;
    cr_expect_str_eq(error.text, of_call
                                     ? "data.messages: unknown field; expected one of tool, call_id"
                                     : "data.messages: unknown field; expected none");
    cr_expect_eq(parse(bare[i].name, "[]", &event, &error), TIDINGS_E_SCHEMA, "%s", bare[i].name);
    cr_expect_str_eq(error.text, "data: an array is not an object");
    cr_expect_eq(event.type, EVENT_NOTIFICATION);
  }
}

Test(turn_event, tools_may_say_which_call) {
  struct event event;
  struct tidings_error error;
  cr_assert_eq(parse("tools.started", "{\"tool\":\"Bash\",\"call_id\":\"c\"}", &event, &error), 0);
  EXPECT_SPAN(event.call.tool, "Bash");
  EXPECT_SPAN(event.call.call_id, "c");
  cr_assert_eq(parse("tools.finished", "{\"call_id\":\"c\"}", &event, &error), 0);
  cr_expect_eq(event.call.tool.len, 0);
  cr_expect_eq(parse("tools.started", "{\"call_id\":\"c\"}", &event, &error), TIDINGS_E_SCHEMA);
  cr_expect_str_eq(error.text, "data.tool: missing; expected the name of the tool that is called");
  cr_expect_eq(parse("tools.finished", "{\"tool\":\"t\"}", &event, &error), TIDINGS_E_SCHEMA);
  cr_expect_str_eq(error.text, "data.call_id: missing; expected the id of the tool's call");
}

Test(turn_event, every_type_is_of_one_class) {
  for (enum event_type type = EVENT_NOTIFICATION; type <= EVENT_WAKE; type++) {
    bool turn = type >= EVENT_TURN_STOP && type <= EVENT_TURN_RESUME;
    bool alone = type == EVENT_NOTIFICATION || type == EVENT_TOOLS_DECLARED || type == EVENT_WAKE;
    int classes = event_is_message(type) + event_is_session(type) + event_is_phase(type) +
                  event_is_report(type) + turn + alone;
    cr_expect_eq(classes, 1, "type %d", (int)type);
  }
}

static const struct {
  const char *type, *data, *sentence;
} bad[] = {
    {"turn.started", "[]", "data: an array is not an object"},
    {"turn.started", "{\"message\":\"m1\"}",
     "data.message: unknown field; expected one of messages, at"},
    {"turn.finished", "{\"reason\":\"x\"}", "data.reason: unknown field; expected messages"},
    {"turn.declined", "{\"reason\":1}", "data.reason: 1 is not a string"},
    {"turn.declined", "{\"reason\":null}", "data.reason: null is not a string"},
    {"turn.declined", "{\"message\":\"x\"}",
     "data.message: unknown field; expected one of messages, reason"},
    {"turn.aborted", "{\"reason\":[]}", "data.reason: an array is not a string"},
    {"turn.aborted", "{\"cause\":\"critical\"}",
     "data.cause: unknown field; expected one of messages, reason, at"},
    {"turn.aborted", "{\"at\":0}", "data.at: 0 is not an integer of at least 1"},
    {"turn.started", "{\"at\":\"now\"}", "data.at: \"now\" is not an integer of at least 1"},
    {"turn.finished", "{\"at\":1}", "data.at: unknown field; expected messages"},
    {"turn.declined", "{\"at\":1}", "data.at: unknown field; expected one of messages, reason"},
    {"turn.failed", "{\"message\":[]}", "data.message: an array is not a string"},
    {"turn.failed", "{\"reason\":false}", "data.reason: false is not a string"},
    {"turn.failed", "{\"error\":\"x\"}",
     "data.error: unknown field; expected one of messages, reason, message"},
    {"turn.retrying", "{\"attempt\":0}", "data.attempt: 0 is not an integer from 1 to 4294967295"},
    {"turn.retrying", "{\"attempt\":4294967296}",
     "data.attempt: 4294967296 is not an integer from 1 to 4294967295"},
    {"turn.retrying", "{\"attempt\":1.5}",
     "data.attempt: 1.5 is not an integer from 1 to 4294967295"},
    {"turn.retrying", "{\"attempt\":\"2\"}",
     "data.attempt: \"2\" is not an integer from 1 to 4294967295"},
    {"turn.retrying", "{\"attempt\":null}",
     "data.attempt: null is not an integer from 1 to 4294967295"},
    {"turn.retrying", "{\"message\":2}", "data.message: 2 is not a string"},
    {"turn.retrying", "{\"kind\":\"approval\"}",
     "data.kind: unknown field; expected one of messages, attempt, message"},
    {"turn.waiting", "{\"kind\":\"coffee\"}",
     "data.kind: \"coffee\" is not one of approval, user-input"},
    {"turn.waiting", "{\"kind\":null}", "data.kind: null is not one of approval, user-input"},
    {"turn.waiting", "{\"message\":1}", "data.message: 1 is not a string"},
    {"turn.waiting", "{\"attempt\":1}",
     "data.attempt: unknown field; expected one of messages, kind, message"},
};

static void expect_refused(const char *type, const char *data, const char *sentence) {
  struct event event = {.type = EVENT_WAKE};
  struct tidings_error error;
  cr_expect_eq(parse(type, data, &event, &error), TIDINGS_E_SCHEMA, "%s %s", type, data);
  cr_expect_str_eq(error.text, sentence);
  cr_expect_eq(event.type, EVENT_WAKE, "%s %s: the result was written", type, data);
}

Test(turn_event, refuses_in_precise_words_and_writes_nothing) {
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    expect_refused(bad[i].type, bad[i].data, bad[i].sentence);
}

Test(turn_event, refuses_bad_lists_of_messages) {
  static const char *const lists[][2] = {
      {"\"m1\"", "data.messages: \"m1\" is not an array of message ids"},
      {"{}", "data.messages: an object is not an array of message ids"},
      {"[]", "data.messages: an empty array; expected at least one message id, or no such field "
             "for the current turn"},
      {"[1]", "data.messages: 1 is not a string"},
      {"[\"m1\",null]", "data.messages: null is not a string"},
      {"[\"m1\",\"\"]", "data.messages: must not be empty"},
      {"[\"a\\u0000b\"]", NULL},
      {"[\"a\\u0085b\"]", "data.messages: \"a{U+0085}b\" has the control character U+0085"},
      {"[\"m1\",\"m1\"]", "data.messages: \"m1\" appears twice"},
      {"[\"m\",\"m2\",\"m1\",\"mm\",\"m\\u0032\"]", "data.messages: \"m2\" appears twice"},
  };
  for (size_t i = 0; i < TURNS; i++) {
    for (size_t n = 0; n < sizeof lists / sizeof *lists; n++) {
      char data[256];
      (void)snprintf(data, sizeof data, "{\"messages\":%s}", lists[n][0]);
      if (lists[n][1]) {
        expect_refused(turns[i].name, data, lists[n][1]);
      } else {
        struct event event;
        struct tidings_error error;
        cr_expect_eq(parse(turns[i].name, data, &event, &error), TIDINGS_E_INVAL, "%s", data);
      }
    }
  }
}

static void long_list(size_t id_bytes, struct buffer *data) {
  buffer_text(data, "{\"messages\":[\"");
  for (size_t i = 0; i < id_bytes; i++) buffer_byte(data, 'x');
  buffer_text(data, "\"]}");
}

Test(turn_event, ids_have_255_bytes) {
  struct buffer fits = BUFFER_EMPTY, too_long = BUFFER_EMPTY;
  struct event event;
  struct tidings_error error;
  long_list(255, &fits);
  long_list(256, &too_long);
  cr_expect_eq(parse_bytes("turn.started", buffer_view(&fits), &event, &error), 0, "%s",
               error.text);
  cr_expect_eq(parse_bytes("turn.started", buffer_view(&too_long), &event, &error),
               TIDINGS_E_TOO_BIG);
  cr_expect_str_eq(error.text, "data.messages: 256 bytes are over the limit of 255");
  buffer_free(&fits);
  buffer_free(&too_long);
}

/* The event has as many ids as it can hold. Comparing each id with each other one would take a
 * thousand million steps. */
Test(turn_event, takes_as_many_messages_as_fit) {
  enum { MANY = 30000 };
  struct buffer data = BUFFER_EMPTY;
  struct event event;
  struct tidings_error error;
  buffer_text(&data, "{\"messages\":[\"0\"");
  for (unsigned i = 1; i < MANY; i++) buffer_format(&data, ",\"%x\"", i);
  size_t good = data.len;
  buffer_text(&data, "]}");
  cr_assert_eq(parse_bytes("turn.started", buffer_view(&data), &event, &error), 0, "%s",
               error.text);
  cr_expect_eq(event.turn.message_count, MANY);
  EXPECT_SPAN(event.turn.messages[MANY - 1], "752f");
  data.len = good;
  buffer_text(&data, ",\"1a2b\"]}");
  cr_expect_eq(parse_bytes("turn.started", buffer_view(&data), &event, &error), TIDINGS_E_SCHEMA);
  cr_expect_str_eq(error.text, "data.messages: \"1a2b\" appears twice");
  buffer_free(&data);
}
