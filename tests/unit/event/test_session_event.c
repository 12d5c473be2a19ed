/* SPDX-License-Identifier: MIT
 *
 * The events of a session's life, and session ids.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "event/event.h"
#include "kit.h"

static struct arena arena = ARENA_EMPTY;

static void tear_down(void) { arena_free(&arena); }

TestSuite(session_event, .fini = tear_down);
TestSuite(session_id);

static int parse(const char *type, const char *data, struct event *ret_event,
                 struct tidings_error *error) {
  struct settings settings = settings_from("", &arena);
  char json[4096];
  *error = new_error();
  (void)snprintf(json, sizeof json, "{\"type\":\"%s\",\"session\":\"s\"%s%s}", type,
                 *data ? ",\"data\":" : "", data);
  return event_parse(span_text(json), &settings, &arena, ret_event, error);
}

Test(session_event, needs_no_data) {
  static const struct {
    const char *type;
    enum event_type expected;
  } cases[] = {{"session.opened", EVENT_SESSION_OPENED},
               {"session.resumed", EVENT_SESSION_RESUMED},
               {"session.closed", EVENT_SESSION_CLOSED}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct event event;
    struct tidings_error error;
    cr_assert_eq(parse(cases[i].type, i % 2 ? "{}" : "", &event, &error), 0, "%s", error.text);
    cr_expect_eq(event.type, cases[i].expected);
    cr_expect(!event.opening.has_deliveries && !event.opening.takeover);
    cr_expect_eq(event.opening.cwd.len + event.opening.host.len, 0);
  }
}

Test(session_event, says_where_and_who) {
  struct event event;
  struct tidings_error error;
  cr_assert_eq(parse("session.opened",
                     "{\"cwd\":\"/home/é\",\"host\":\"jp 1.0\",\"takeover\":true}", &event, &error),
               0, "%s", error.text);
  cr_expect(span_is(event.opening.cwd, "/home/é"));
  cr_expect(span_is(event.opening.host, "jp 1.0"));
  cr_expect(event.opening.takeover);
}

Test(session_event, deliveries_are_strings_or_numbers) {
  struct event event;
  struct tidings_error error;
  cr_assert_eq(parse("session.resumed", "{\"deliveries\":[\"17\",18,\"18446744073709551615\"]}",
                     &event, &error),
               0, "%s", error.text);
  cr_expect(event.opening.has_deliveries);
  cr_assert_eq(event.opening.delivery_count, 3);
  cr_expect_eq(event.opening.deliveries[0], 17);
  cr_expect_eq(event.opening.deliveries[1], 18);
  cr_expect_eq(event.opening.deliveries[2], UINT64_MAX);
}

Test(session_event, no_deliveries_found_is_not_the_same_as_not_looked) {
  struct event event;
  struct tidings_error error;
  cr_assert_eq(parse("session.resumed", "{\"deliveries\":[]}", &event, &error), 0, "%s",
               error.text);
  cr_expect(event.opening.has_deliveries);
  cr_expect_eq(event.opening.delivery_count, 0);
}

Test(session_event, last_delivery_is_a_list_of_one) {
  struct event event;
  struct tidings_error error;
  cr_assert_eq(parse("session.resumed", "{\"last_delivery\":\"9\",\"cwd\":\"/\"}", &event, &error),
               0, "%s", error.text);
  cr_expect(event.opening.has_deliveries);
  cr_assert_eq(event.opening.delivery_count, 1);
  cr_expect_eq(event.opening.deliveries[0], 9);
}

Test(session_event, a_rewind_names_what_is_left) {
  struct event event;
  struct tidings_error error;
  cr_assert_eq(parse("session.rewound", "{\"deliveries\":[]}", &event, &error), 0, "%s",
               error.text);
  cr_expect_eq(event.type, EVENT_SESSION_REWOUND);
  cr_expect(event.opening.rewound && event.opening.has_deliveries && !event.opening.opens);
  cr_expect_eq(event.opening.newest, 0);
  cr_assert_eq(parse("session.rewound", "{\"deliveries\":[],\"newest\":\"9\"}", &event, &error), 0,
               "%s", error.text);
  cr_expect_eq(event.opening.newest, 9);
  cr_assert_eq(
      parse("session.resumed", "{\"rewound\":true,\"last_delivery\":\"9\"}", &event, &error), 0,
      "%s", error.text);
  cr_expect(event.opening.rewound && event.opening.opens);
  cr_expect_eq(event.opening.delivery_count, 1);
  cr_assert_eq(parse("session.resumed", "{\"rewound\":false}", &event, &error), 0, "%s",
               error.text);
  cr_expect(!event.opening.rewound);
}

Test(session_event, a_fork_names_its_child) {
  struct event event;
  struct tidings_error error;
  cr_assert_eq(parse("session.forked", "{\"child\":\"s é/2\"}", &event, &error), 0, "%s",
               error.text);
  cr_expect_eq(event.type, EVENT_SESSION_FORKED);
  cr_expect(span_is(event.opening.child, "s é/2"));
  cr_expect(!event.opening.has_deliveries && !event.opening.takeover);
}

Test(session_event, a_childs_id_is_one_of_a_session) {
  char data[300] = "{\"child\":\"";
  struct event event;
  struct tidings_error error;
  memset(data + 10, 'x', 256);
  memcpy(data + 10 + 255, "\"}", 3);
  cr_expect_eq(parse("session.forked", data, &event, &error), 0, "%s", error.text);
  memcpy(data + 10 + 255, "x\"}", 4);
  cr_expect_eq(parse("session.forked", data, &event, &error), TIDINGS_E_TOO_BIG);
  cr_expect_str_eq(error.text, "data.child: 256 bytes are over the limit of 255");
}

static const struct {
  const char *type, *data, *sentence;
} bad[] = {
#define A_DELIVERY "is not a delivery id: a positive integer, or a string of its decimal digits"
    {"session.opened", "[]", "data: an array is not an object"},
    {"session.opened", "{\"cwd\":5}", "data.cwd: 5 is not a string"},
    {"session.opened", "{\"takeover\":\"yes\"}", "data.takeover: \"yes\" is not true or false"},
    {"session.opened", "{\"deliveries\":[]}",
     "data.deliveries: unknown field; expected one of cwd, host, takeover"},
    {"session.closed", "{\"reason\":\"x\"}", "data.reason: unknown field; expected none"},
    {"session.compacting", "{\"reason\":\"x\"}", "data.reason: unknown field; expected none"},
    {"session.compacted", "5", "data: 5 is not an object"},
    {"session.forked", "", "data.child: missing; expected the id of the new session"},
    {"session.forked", "null", "data.child: missing; expected the id of the new session"},
    {"session.forked", "[]", "data: an array is not an object"},
    {"session.forked", "{}", "data.child: missing; expected the id of the new session"},
    {"session.forked", "{\"child\":5}", "data.child: 5 is not a string"},
    {"session.forked", "{\"child\":null}", "data.child: null is not a string"},
    {"session.forked", "{\"child\":\"\"}", "data.child: must not be empty"},
    {"session.forked", "{\"child\":\"a\\nb\"}",
     "data.child: \"a{U+000A}b\" has the control character U+000A"},
    {"session.forked", "{\"child\":\"s\"}",
     "data.child: \"s\" is the session itself; expected the id of the new session"},
    {"session.forked", "{\"child\":\"s2\",\"cwd\":\"/\"}",
     "data.cwd: unknown field; expected child"},
    {"session.resumed", "{\"rewound\":true}",
     "data.rewound: true without data.deliveries; expected the ids of all deliveries that the "
     "transcript holds"},
    {"session.rewound", "{}",
     "data.deliveries: missing; expected the ids of all deliveries that the transcript holds"},
    {"session.resumed", "{\"delivery\":[]}",
     "data.delivery: unknown field; expected one of cwd, host, takeover, deliveries, "
     "last_delivery, rewound"},
    {"session.resumed", "{\"deliveries\":\"17\"}",
     "data.deliveries: \"17\" is not an array of delivery ids"},
    {"session.resumed", "{\"deliveries\":[0]}", "data.deliveries: 0 " A_DELIVERY},
    {"session.resumed", "{\"deliveries\":[-1]}", "data.deliveries: -1 " A_DELIVERY},
    {"session.resumed", "{\"deliveries\":[1.0]}", "data.deliveries: 1.0 " A_DELIVERY},
    {"session.resumed", "{\"deliveries\":[\"\"]}", "data.deliveries: \"\" " A_DELIVERY},
    {"session.resumed", "{\"deliveries\":[\"017\"]}", "data.deliveries: \"017\" " A_DELIVERY},
    {"session.resumed", "{\"deliveries\":[\"17x\"]}", "data.deliveries: \"17x\" " A_DELIVERY},
    {"session.resumed", "{\"deliveries\":[\"18446744073709551616\"]}",
     "data.deliveries: \"18446744073709551616\" " A_DELIVERY},
    {"session.resumed", "{\"deliveries\":[null]}", "data.deliveries: null " A_DELIVERY},
    {"session.resumed", "{\"last_delivery\":[\"1\"]}", "data.last_delivery: an array " A_DELIVERY},
    {"session.resumed", "{\"last_delivery\":1,\"deliveries\":[]}",
     "data.last_delivery: given together with data.deliveries; expected only one of the two"},
#undef A_DELIVERY
};

Test(session_event, refuses_in_precise_words) {
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct event event;
    struct tidings_error error;
    cr_expect_eq(parse(bad[i].type, bad[i].data, &event, &error), TIDINGS_E_SCHEMA, "%s",
                 bad[i].data);
    cr_expect_str_eq(error.text, bad[i].sentence);
  }
}

Test(session_id, takes_what_is_a_key) {
  static const char *const good[] = {"s", "../../etc/passwd", "a b", "é€😀", "\xC2\xA0"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    cr_expect_eq(session_id_check(span_text(good[i]), "session", TIDINGS_E_SCHEMA, NULL), 0, "%s",
                 good[i]);
}

Test(session_id, refuses_what_is_none) {
  char long_id[256];
  memset(long_id, 'x', sizeof long_id);
  const struct {
    struct tidings_span id;
    int code;
    const char *sentence;
  } cases[] = {
      {{NULL, 0}, TIDINGS_E_SCHEMA, "result.session: must not be empty"},
      {{long_id, sizeof long_id},
       TIDINGS_E_TOO_BIG,
       "result.session: 256 bytes are over the limit of 255"},
      {{"a\0b", 3},
       TIDINGS_E_SCHEMA,
       "result.session: \"a{U+0000}b\" has the control character U+0000"},
      {{"\x7F", 1},
       TIDINGS_E_SCHEMA,
       "result.session: \"{U+007F}\" has the control character U+007F"},
      {{"a\xFF", 2}, TIDINGS_E_SCHEMA, "result.session: \"a{0xFF}\" is not UTF-8"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct tidings_error error = new_error();
    cr_expect_eq(session_id_check(cases[i].id, "result.session", TIDINGS_E_SCHEMA, &error),
                 cases[i].code, "case %zu", i);
    cr_expect_str_eq(error.text, cases[i].sentence);
  }
  cr_expect_eq(session_id_check(span_of(long_id, 255), "session", TIDINGS_E_SCHEMA, NULL), 0);
}

Test(session_id, as_an_argument_it_is_the_callers_bug) {
  static const char *const ids[] = {"", "a\n", "\xFF"};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    cr_expect_eq(session_id_check(span_text(ids[i]), "result.session", TIDINGS_E_INVAL, NULL),
                 TIDINGS_E_INVAL, "%s", ids[i]);
  }
}
