/* SPDX-License-Identifier: MIT
 *
 * test_push.c: tests the events that hostkit writes from structs: every field, hostile text, and
 * refusals. The plugin writes each event to its log, one line each.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "kit.h"

#define EVENT(members) "A event {\"type\":\"notification\",\"session\":\"s\"," members "}"
#define KIND "\"kind\":{\"source\":\"tool\",\"name\":\"failed\"}"

struct trial {
  struct kit kit;
  struct hostkit *hostkit;
  struct hostkit_notification note;
};

static void trial_init(struct trial *trial) {
  kit_init(&trial->kit);
  trial->hostkit = kit_open(&trial->kit, "good_a");
  trial->note = (struct hostkit_notification){.size = sizeof trial->note,
                                              .session = kit_span("s"),
                                              .kind_source = kit_span("tool"),
                                              .kind_name = kit_span("failed"),
                                              .text = kit_span("it failed")};
}

static void trial_finish(struct trial *trial) {
  cr_assert_eq(hostkit_close(trial->hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&trial->kit));
}

static void assert_event(struct trial *trial, const char *line) {
  struct tidings_error error = {.size = sizeof error};
  cr_assert_eq(hostkit_push(trial->hostkit, &trial->note, NULL, &error), TIDINGS_OK, "%s",
               error.text);
  cr_expect_eq(kit_log_lines(&trial->kit, line), 1, "%s", line);
}

static void assert_refused(struct trial *trial, const char *text) {
  struct tidings_error error = {.size = sizeof error};
  cr_expect_eq(hostkit_push(trial->hostkit, &trial->note, NULL, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, text);
}

Test(push, the_least) {
  struct trial trial;
  trial_init(&trial);
  assert_event(&trial, EVENT("\"data\":{" KIND ",\"level\":\"info\",\"message\":\"it failed\"}"));
  trial_finish(&trial);
}

Test(push, every_field) {
  struct trial trial;
  trial_init(&trial);
  trial.note.level = TIDINGS_LEVEL_CRITICAL;
  trial.note.activation = HOSTKIT_ACTIVATION_INTERRUPT;
  trial.note.data = kit_span("{\"exit\": 101}");
  trial.note.key = kit_span("k");
  trial.note.tool = kit_span("bash");
  trial.note.handle = kit_span("h1");
  trial.note.ttl_ms = 9000;
  trial.note.caused_by = kit_span("c1");
  trial.note.event_source = kit_span("ci");
  trial.note.event_id = kit_span("17");
  assert_event(&trial,
               EVENT("\"source\":\"ci\",\"id\":\"17\",\"data\":{" KIND
                     ",\"level\":\"critical\",\"message\":\"it failed\","
                     "\"activation\":\"interrupt\",\"ttl_ms\":9000,\"data\":{\"exit\":101},"
                     "\"key\":\"k\",\"tool\":\"bash\",\"handle\":\"h1\",\"caused_by\":\"c1\"}"));
  trial_finish(&trial);
}

/* Characters that would end a string, a member or the event must arrive as text. */
Test(push, hostile_text_is_escaped) {
  struct trial trial;
  static const char text[] = "\"}},{\"type\":\"message.submitted\"\\\n\0\x01\x7F\xFF é";
  trial_init(&trial);
  trial.note.text = (struct tidings_span){.ptr = text, .len = sizeof text - 1};
  trial.note.kind_name = kit_span("x\",\"name\":\"y");
  assert_event(
      &trial,
      EVENT("\"data\":{\"kind\":{\"source\":\"tool\",\"name\":\"x\\\",\\\"name\\\":\\\"y\"},"
            "\"level\":\"info\",\"message\":\"\\\"}},{\\\"type\\\":"
            "\\\"message.submitted\\\"\\\\\\n\\u0000\\u0001\x7F\xEF\xBF\xBD é\"}"));
  trial_finish(&trial);
}

Test(push, data_must_be_one_json_value) {
  struct trial trial;
  trial_init(&trial);
  static const char *const wrong[] = {"{\"a\":1", "1,\"key\":\"k\"", "1} {", "x"};
  struct tidings_error error = {.size = sizeof error};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    trial.note.data = kit_span(wrong[i]);
    cr_expect_eq(hostkit_push(trial.hostkit, &trial.note, NULL, &error), TIDINGS_E_INVAL);
    cr_expect_eq(strncmp(error.text, "notification.data", 17), 0, "%s", error.text);
  }
  cr_expect_eq(kit_log_lines(&trial.kit, "A event"), 0);
  trial_finish(&trial);
}

Test(push, refuses_what_has_no_meaning) {
  struct trial trial;
  trial_init(&trial);
  struct hostkit_notification good = trial.note;
  trial.note.size = HOSTKIT_NOTIFICATION_SIZE_1_0 - 1;
  assert_refused(&trial, "notification.size is 199, expected at least 200");
  trial.note = good;
  trial.note.flags = 2;
  assert_refused(&trial, "notification.flags is 0x2, expected 0");
  trial.note = good;
  trial.note.level = 4;
  assert_refused(&trial, "notification.level is 4, expected 0 (info) to 3 (critical)");
  trial.note = good;
  trial.note.activation = 4;
  assert_refused(&trial, "notification.activation is 4, expected 0 (default) to 3 (interrupt)");
  trial.note = good;
  trial.note.ttl_ms = UINT64_MAX;
  assert_refused(&trial, "notification.ttl_ms is over the limit of 2^63 - 1");
  trial.note = good;
  trial.note.text = (struct tidings_span){NULL, 3};
  assert_refused(&trial, "notification.text is a null pointer with length 3");
  trial.note = good;
  trial.note.session = kit_span("a\xFF");
  assert_refused(&trial, "notification.session is not UTF-8");
  trial.note = good;
  trial.note.event_id.len = 3;
  assert_refused(&trial, "notification.event_id is a null pointer with length 3");
  struct tidings_error error = {.size = sizeof error};
  cr_expect_eq(hostkit_push(trial.hostkit, NULL, NULL, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "notification is a null pointer");
  cr_expect_eq(hostkit_push(NULL, &good, NULL, &error), TIDINGS_E_INVAL);
  cr_expect_eq(kit_log_lines(&trial.kit, "A event"), 0);
  trial_finish(&trial);
}

/* The memory after a text is not the caller's: reading it may kill the host. */
Test(push, reads_nothing_whose_length_is_a_mistake) {
  struct trial trial;
  trial_init(&trial);
  struct hostkit_notification good = trial.note;
  struct tidings_span wrong = {"x", SIZE_MAX}, *const spans[] = {&trial.note.session,
                                                                 &trial.note.kind_name,
                                                                 &trial.note.text, &trial.note.data,
                                                                 &trial.note.event_id};
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
    trial.note = good;
    *spans[i] = wrong;
    cr_expect_eq(hostkit_push(trial.hostkit, &trial.note, NULL, &error), TIDINGS_E_TOO_BIG);
    cr_expect(strstr(error.text, ": 18446744073709551615 bytes are over the limit of"), "%s",
              error.text);
  }
  cr_expect_eq(hostkit_wake(trial.hostkit, &wrong, &reply, &error), TIDINGS_E_TOO_BIG);
  cr_expect_eq(kit_log_lines(&trial.kit, "A event"), 0);
  trial_finish(&trial);
}

Test(push, wake_names_the_session_as_it_is) {
  struct trial trial;
  trial_init(&trial);
  struct tidings_span session = kit_span("a\"}\\");
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  cr_assert_eq(hostkit_wake(trial.hostkit, &session, &reply, &error), TIDINGS_OK, "%s", error.text);
  cr_expect_eq(kit_log_lines(&trial.kit, "A event {\"type\":\"wake\",\"session\":\"a\\\"}\\\\\"}"),
               1);
  cr_expect_eq(hostkit_wake(trial.hostkit, NULL, &reply, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "session is a null pointer");
  cr_expect_eq(hostkit_wake(trial.hostkit, &session, NULL, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "ret_reply is a null pointer");
  session = kit_span("\xFF");
  cr_expect_eq(hostkit_wake(trial.hostkit, &session, &reply, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "session is not UTF-8");
  hostkit_reply_free(reply);
  trial_finish(&trial);
}

static void assert_flat(int64_t handle, const char *request, const char *start) {
  char *answer = hostkit_flat_call(handle, request);
  cr_assert_not_null(answer);
  cr_expect_eq(strncmp(answer, start, strlen(start)), 0, "%s\ngave %s", request, answer);
  hostkit_free(answer);
}

Test(push, flat_operations) {
  struct trial trial;
  char options[1024];
  trial_init(&trial);
  cr_assert_eq(hostkit_close(trial.hostkit, 0, NULL), TIDINGS_OK);
  (void)snprintf(options, sizeof options, "{\"plugin\":\"%s\",\"store\":\"%s\",\"probe\":\"%s\"}",
                 kit_plugin(&trial.kit, "good_a"), trial.kit.store, trial.kit.probe);
  int64_t handle = hostkit_flat_open(options);
  cr_assert(handle > 0, "%s", hostkit_flat_error());
  assert_flat(handle,
              "{\"op\":\"push\",\"session\":\"s\",\"kind\":\"tool.failed\",\"message\":\"\\\"\\n\","
              "\"data\":[1],\"ttl_ms\":5,\"id\":\"9\"}",
              "{\"reply\":");
  cr_expect_eq(
      kit_log_lines(&trial.kit, EVENT("\"id\":\"9\",\"data\":{\"kind\":\"tool.failed\","
                                      "\"message\":\"\\\"\\n\",\"data\":[1],\"ttl_ms\":5}")),
      1);
  assert_flat(handle, "{\"op\":\"push\",\"session\":\"s\",\"kind\":\"a.b\"}",
              "{\"error\":{\"code\":\"TIDINGS_E_SCHEMA\",\"text\":\"push.message is missing");
  assert_flat(
      handle, "{\"op\":\"push\",\"session\":\"s\",\"message\":\"m\",\"type\":\"wake\"}",
      "{\"error\":{\"code\":\"TIDINGS_E_SCHEMA\",\"text\":\"push has an unknown member type");
  assert_flat(handle, "{\"op\":\"wake\",\"session\":\"q\\\"\"}", "{\"reply\":");
  cr_expect_eq(kit_log_lines(&trial.kit, "A event {\"type\":\"wake\",\"session\":\"q\\\"\"}"), 1);
  assert_flat(handle, "{\"op\":\"wake\"}",
              "{\"error\":{\"code\":\"TIDINGS_E_SCHEMA\",\"text\":\"wake.session is missing");
  cr_expect_eq(hostkit_flat_close(handle), TIDINGS_OK);
  cr_assert_null(kit_finish(&trial.kit));
}
