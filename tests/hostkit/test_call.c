/* SPDX-License-Identifier: MIT
 *
 * test_call.c: typed calls: inputs reach the plugin, replies come out whole and outlive it.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "kit.h"

#define assert_span(span, text)                                                                    \
  cr_expect((span).len == strlen(text) && memcmp((span).ptr, (text), (span).len) == 0 &&           \
                (span).ptr[(span).len] == '\0',                                                    \
            "expected \"%s\", got \"%.*s\"", (text), (int)(span).len, (span).ptr)

static void assert_is_full(const struct tidings_reply *reply) {
  cr_assert_not_null(reply);
  cr_expect_eq(reply->size, sizeof *reply);
  cr_expect_eq(reply->flags, TIDINGS_REPLY_DUPLICATE);
  cr_expect_eq(reply->delivery_id, 17);
  cr_assert_eq(reply->notification_count, 2);
  const struct tidings_notification *first = reply->notifications[0];
  cr_expect_eq(first->level, TIDINGS_LEVEL_ERROR);
  cr_expect_eq(first->id, 5);
  cr_expect_eq(first->time_ms, 1700000000000);
  assert_span(first->kind_source, "tool");
  assert_span(first->kind_name, "failed");
  assert_span(first->text, "it failed");
  assert_span(first->data, "{\"exit\":101}");
  cr_expect_eq(first->count, 3);
  cr_expect_eq(reply->notifications[1]->size, sizeof *first);
  cr_expect_eq(reply->notifications[1]->count, 0,
               "a field that the writer's struct does not reach reads as zero");
  assert_span(reply->notifications[1]->text, "down");

  cr_assert_eq(reply->part_count, 6);
  cr_expect_eq(reply->parts[4]->voice, TIDINGS_VOICE_TOOL);
  cr_expect_eq(reply->parts[4]->place, TIDINGS_PLACE_PAIR);
  assert_span(reply->parts[4]->text, "pair");
  assert_span(reply->parts[4]->call_id, "notif_1");
  assert_span(reply->parts[4]->tool, "_system_notification");

  cr_assert_eq(reply->action_count, 2);
  cr_expect_eq(reply->actions[0]->type, TIDINGS_ACTION_ABORT_STREAM);
  cr_expect_eq(reply->actions[0]->cause, TIDINGS_CAUSE_CRITICAL);
  cr_expect_null(reply->actions[0]->messages);
  cr_expect_eq(reply->actions[1]->origin, TIDINGS_ORIGIN_SYSTEM);
  cr_assert_eq(reply->actions[1]->message_count, 1);
  assert_span(reply->actions[1]->messages[0]->id, "m1");
  assert_span(reply->actions[1]->messages[0]->content, "hello");
  assert_span(reply->actions[1]->messages[0]->trigger, "{\"by\":\"cron\"}");
  cr_expect_eq(reply->actions[1]->messages[0]->queued_at_ms, 12);

  cr_assert_eq(reply->steered_count, 1);
  assert_span(*reply->steered[0], "s1");
  cr_expect_eq(reply->status->state, TIDINGS_STATE_BUSY);
  cr_expect_eq(reply->status->phase, TIDINGS_PHASE_TOOLS);
  cr_expect_eq(reply->status->attempt, 2);
  cr_expect_eq(reply->status->started_at_ms, 34);
  assert_span(reply->status->detail, "working");
  cr_assert_eq(reply->status->message_count, 1);
  assert_span(*reply->status->messages[0], "m1");
  cr_assert_eq(reply->status->orphaned_count, 1);
  assert_span(*reply->status->orphaned[0], "o1");
  cr_expect_eq(reply->wake_at_ms, 56);
  assert_span(reply->ledger, "pending: 2");
}

/* The plugin overwrites what it gets back, and is unmapped before the test looks at the copy. */
Test(call, a_reply_outlives_the_plugin) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct tidings_tool_result result = {.size = sizeof result, .session = kit_span("full")};
  struct tidings_reply *reply = NULL;
  cr_assert_eq(hostkit_tool_result(hostkit, &result, &reply, NULL), TIDINGS_OK);
  cr_assert_eq(hostkit_swap(hostkit, NULL, 0, NULL), TIDINGS_OK);
  assert_is_full(reply);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  assert_is_full(reply);
  hostkit_reply_free(reply);
  cr_assert_null(kit_finish(&kit));
}

Test(call, nothing_to_say_is_a_null_reply) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct tidings_tool_result result = {
      .size = sizeof result, .session = kit_span("quiet"), .room_bytes = UINT64_MAX};
  struct tidings_reply unwritten;
  struct tidings_reply *reply = &unwritten;
  cr_expect_eq(hostkit_tool_result(hostkit, &result, &reply, NULL), TIDINGS_OK);
  cr_expect_null(reply);
  cr_expect_eq(kit_log_lines(&kit, "A tool_result quiet"), 1);
  cr_expect_eq(kit_log_lines(&kit, "A room 18446744073709551615"), 1);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(call, an_error_is_the_plugins_own_and_writes_no_reply) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct tidings_chat_request request = {.size = sizeof request};
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply unwritten;
  struct tidings_reply *reply = &unwritten;
  cr_expect_eq(hostkit_chat_request(hostkit, &request, &reply, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "session is empty, expected 1 to 255 bytes");
  cr_expect_eq(reply, &unwritten);
  cr_expect_eq(hostkit_settle(hostkit, 404, TIDINGS_COMMITTED, &reply, &error),
               TIDINGS_E_NOT_FOUND);
  cr_expect_str_eq(error.text, "no delivery 404");
  cr_expect_eq(reply, &unwritten);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(call, a_chat_request_names_its_messages) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct tidings_span ids[] = {kit_span("m1"), kit_span("m2")};
  const struct tidings_span *const list[] = {&ids[0], &ids[1]};
  struct tidings_chat_request request = {.size = sizeof request,
                                         .session = kit_span("full"),
                                         .origin = TIDINGS_ORIGIN_SYSTEM,
                                         .messages = list,
                                         .message_count = 2,
                                         .room_bytes = 9000};
  struct tidings_reply *reply = NULL;
  cr_assert_eq(hostkit_chat_request(hostkit, &request, &reply, NULL), TIDINGS_OK);
  assert_is_full(reply);
  hostkit_reply_free(reply);
  cr_expect_eq(kit_log_lines(&kit, "A sends m1"), 1);
  cr_expect_eq(kit_log_lines(&kit, "A sends m2"), 1);
  cr_expect_eq(kit_log_lines(&kit, "A system_request full"), 1);
  cr_expect_eq(kit_log_lines(&kit, "A room 9000"), 1);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(call, settle_and_event) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct tidings_span event = kit_span("reply");
  struct tidings_reply *reply = NULL;
  cr_assert_eq(hostkit_event(hostkit, &event, &reply, NULL), TIDINGS_OK);
  cr_assert_not_null(reply);
  cr_expect_eq(reply->status->state, TIDINGS_STATE_IDLE);
  cr_expect_null(reply->parts);
  hostkit_reply_free(reply);
  cr_expect_eq(hostkit_settle(hostkit, 17, TIDINGS_COMMITTED, NULL, NULL), TIDINGS_OK,
               "a settle may do without a reply");
  cr_expect_eq(hostkit_settle(hostkit, 18, TIDINGS_ROLLED_BACK, &reply, NULL), TIDINGS_OK);
  hostkit_reply_free(reply);
  cr_expect_eq(kit_log_lines(&kit, "A settle 17 1"), 1);
  cr_expect_eq(kit_log_lines(&kit, "A settle 18 2"), 1);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(call, query) {
  struct kit kit;
  kit_init(&kit);
  kit.options.configuration = "{\"turns\":{}}";
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct tidings_span request = kit_span("{\"name\":\"configure\"}");
  struct tidings_error error = {.size = sizeof error};
  char *json = NULL;
  cr_assert_eq(hostkit_query(hostkit, &request, &json, &error), TIDINGS_OK, "%s", error.text);
  cr_expect_str_eq(json, "{\"config\":{\"turns\":{}}}");
  hostkit_free(json);
  request = kit_span("{\"name\":\"horoscope\"}");
  cr_expect_eq(hostkit_query(hostkit, &request, &json, &error), TIDINGS_E_UNSUPPORTED);
  cr_expect_str_eq(error.text, "unknown query");
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);

  hostkit = kit_open(&kit, "good_without_query");
  cr_expect_eq(hostkit_query(hostkit, &request, &json, &error), TIDINGS_E_UNSUPPORTED);
  cr_expect_str_eq(error.text, "this plugin has no extension tidings.query/1");
  struct hostkit_info info = {.size = sizeof info};
  cr_expect_eq(hostkit_info(hostkit, &info), TIDINGS_OK);
  cr_expect_eq(info.has_query, 0);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(call, null_pointers) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct tidings_tool_result result = {.size = sizeof result, .session = kit_span("s")};
  struct tidings_span text = kit_span("x");
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  char *json = NULL;
  cr_expect_eq(hostkit_tool_result(NULL, &result, &reply, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "hostkit is a null pointer");
  cr_expect_eq(hostkit_tool_result(hostkit, NULL, &reply, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "result is a null pointer");
  cr_expect_eq(hostkit_chat_request(hostkit, NULL, &reply, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "request is a null pointer");
  cr_expect_eq(hostkit_event(hostkit, &text, NULL, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "ret_reply is a null pointer");
  cr_expect_eq(hostkit_query(hostkit, &text, NULL, &error), TIDINGS_E_INVAL);
  cr_expect_eq(hostkit_query(NULL, &text, &json, &error), TIDINGS_E_INVAL);
  cr_expect_eq(hostkit_settle(NULL, 1, 1, NULL, NULL), TIDINGS_E_INVAL);
  cr_expect_eq(hostkit_swap(NULL, NULL, 0, NULL), TIDINGS_E_INVAL);
  cr_expect_eq(hostkit_info(NULL, &(struct hostkit_info){.size = 8}), TIDINGS_E_INVAL);
  hostkit_reply_free(NULL);
  hostkit_outgoing_free(NULL);
  hostkit_free(NULL);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(error, names) {
  cr_expect_str_eq(hostkit_error_name(TIDINGS_OK), "TIDINGS_OK");
  cr_expect_str_eq(hostkit_error_name(TIDINGS_E_INVAL), "TIDINGS_E_INVAL");
  cr_expect_str_eq(hostkit_error_name(TIDINGS_E_BUSY), "TIDINGS_E_BUSY");
  cr_expect_str_eq(hostkit_error_name(TIDINGS_E_CLOSED), "TIDINGS_E_CLOSED");
  cr_expect_str_eq(hostkit_error_name(TIDINGS_E_OUTCOME_UNKNOWN - 1), "TIDINGS_E_UNKNOWN");
  cr_expect_str_eq(hostkit_error_name(1), "TIDINGS_E_UNKNOWN");
  cr_expect_str_eq(hostkit_error_name(INT32_MIN), "TIDINGS_E_UNKNOWN");
}

Test(error, shows_control_characters_and_ends_at_a_character) {
  struct tidings_error error = {.size = sizeof error};
  cr_expect_eq(hk_error(&error, TIDINGS_E_INVAL, "a\nb\x1b[1m"), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "a{U+000A}b{U+001B}[1m");
  char name[700];
  for (size_t shift = 0; shift < 4; shift++) {
    memset(name, 'x', shift);
    for (size_t i = shift; i + 4 < sizeof name; i += 3) memcpy(name + i, "\xE2\x82\xAC", 4);
    (void)fail(&error, TIDINGS_E_INVAL, "%s", name);
    size_t len = strlen(error.text);
    cr_expect(len > sizeof error.text - 5 && len < sizeof error.text, "%zu", len);
    cr_expect_eq((len - shift) % 3, 0, "cut inside a character: %zu", len);
    hk_error_append(&error, " (end)");
    len = strlen(error.text);
    cr_expect_str_eq(error.text + len - 6, " (end)");
    cr_expect_eq((len - 6 - shift) % 3, 0, "shortened inside a character: %zu", len);
  }
}
