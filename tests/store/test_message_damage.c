/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_message_damage.c: what a host sees of damaged rows of messages: the queue's
 * other messages start their turns, and nothing is stuck.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit.h"
#include "kit_rows.h"

TestSuite(message_damage, .init = kit_begin, .fini = kit_end);

static struct tidings_plugin *plugin;
static char status[4096];

/* Returns the actions that an event's reply asks for ("m1 m2" to start, "" for nothing), or the
 * error. */
static const char *said(const char *type, const char *data) {
  static char text[1024];
  struct tidings_error error = new_error();
  const struct tidings_reply *reply = NULL;
  char *json;
  size_t len = 0;
  cr_assert_gt(asprintf(&json, "{\"type\":\"%s\",\"session\":\"s\",\"data\":%s}", type, data), 0);
  struct tidings_span span = span_text(json);
  int code = plugin->on_event(plugin, &span, &reply, &error);
  free(json);
  if (code)
    return memcpy(text, error.text,
                  sizeof text < sizeof error.text ? sizeof text : sizeof error.text);
  text[0] = '\0';
  for (size_t i = 0; i < reply->action_count; i++) {
    len += (size_t)snprintf(text + len, sizeof text - len, "start");
    for (size_t j = 0; j < reply->actions[i]->message_count; j++) {
      const struct tidings_message *message = reply->actions[i]->messages[j];
      len += (size_t)snprintf(text + len, sizeof text - len, " %.*s: %.*s",
                              SPAN_FORMAT(message->id), SPAN_FORMAT(message->content));
    }
  }
  plugin->release(plugin, reply);
  return text;
}

#define expect_said(type, data, expected)                                                          \
  do {                                                                                             \
    const char *said_ = said(type, data);                                                          \
    cr_expect_str_eq(said_, expected, "%s: \"%s\", expected \"%s\"", type, said_, expected);       \
  } while (0)

static const char *submit(const char *id) {
  char data[128];
  (void)snprintf(data, sizeof data, "{\"id\":\"%s\",\"content\":\"text of %s\"}", id, id);
  return said("message.submitted", data);
}

static const char *status_now(void) {
  char *answer = ask(plugin, "{\"name\":\"status\",\"session\":\"s\"}");
  (void)snprintf(status, sizeof status, "%s", answer);
  free(answer);
  return status;
}

/* Overwrites a row with bytes that no checksum fits. */
static void spoil(enum row_kind kind, uint64_t n) {
  struct tidings_error error = new_error();
  struct store *store = store_of(plugin);
  struct db_key key = row_key(1, kind, n);
  struct store_txn *txn;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(db_put(txn->db, &key, span_text("spoil")), 0);
  cr_assert_eq(db_touch(txn->db, 1), 0);
  cr_assert_eq(store_commit(txn, &error), 0);
}

/* Starts a turn of the host's own, and queues m1, m2 and m3. */
static void begin(void) {
  plugin = plugin_at(kit_store, (struct plugin_words){0});
  expect_said("turn.started", "{}", "");
  for (int i = 1; i <= 3; i++) {
    char id[16];
    (void)snprintf(id, sizeof id, "m%d", i);
    cr_assert_str_eq(submit(id), "");
  }
}

Test(message_damage, the_queue_goes_on_behind_a_lost_message) {
  begin();
  spoil(ROW_MESSAGE, 1);
  expect_said("turn.finished", "{}", "start m2: text of m2");
  expect_said("turn.finished", "{\"messages\":[\"m2\"]}", "start m3: text of m3");
  expect_said("turn.finished", "{\"messages\":[\"m3\"]}", "");
  plugin_end(plugin);
}

Test(message_damage, a_lost_text_is_told) {
  begin();
  spoil(ROW_CONTENT, 1);
  expect_said("turn.finished", "{}",
              "start m1: (the text of this message was lost: its record in the store is damaged)");
  plugin_end(plugin);
}

Test(message_damage, an_edit_gives_a_lost_text_back) {
  begin();
  spoil(ROW_CONTENT, 1);
  expect_said("message.edited", "{\"id\":\"m1\",\"content\":\"again\"}", "");
  expect_said("turn.finished", "{}", "start m1: again");
  plugin_end(plugin);
}

Test(message_damage, an_offer_that_was_lost_makes_room_for_the_next) {
  begin();
  expect_said("turn.finished", "{}", "start m1: text of m1");
  spoil(ROW_MESSAGE, 1);
  expect_said("wake", "{}", "start m2: text of m2");
  plugin_end(plugin);
}

Test(message_damage, an_offer_that_was_lost_before_anybody_was_told) {
  struct child other = child_living();
  plugin = plugin_at(kit_store, (struct plugin_words){.owner_pid = (uint32_t)other.pid});
  expect_said("turn.started", "{}", "");
  expect_said("turn.finished", "{}", "");
  plugin_end(plugin);
  plugin = plugin_at(kit_store, (struct plugin_words){.role = TIDINGS_ROLE_PRODUCER});
  cr_expect_str_eq(submit("m1"), "", "an offer for somebody else");
  cr_expect_str_eq(submit("m2"), "");
  cr_expect(strstr(status_now(), "\"state\":\"starting\""), "%s", status);
  spoil(ROW_MESSAGE, 1);
  plugin_end(plugin);
  plugin = plugin_at(kit_store, (struct plugin_words){.owner_pid = (uint32_t)other.pid});
  expect_said("wake", "{}", "start m2: text of m2");
  plugin_end(plugin);
  child_kill(&other);
}

Test(message_damage, some_of_an_offer_is_lost) {
  plugin = plugin_at(
      kit_store,
      (struct plugin_words){.configuration = "{\"turns\":{\"discipline\":\"coalescing\"}}"});
  expect_said("turn.started", "{}", "");
  for (int i = 1; i <= 2; i++) cr_assert_str_eq(submit(i == 1 ? "m1" : "m2"), "");
  expect_said("turn.finished", "{}", "start m1: text of m1 m2: text of m2");
  spoil(ROW_MESSAGE, 1);
  expect_said("turn.started", "{\"messages\":[\"m1\",\"m2\"]}",
              "message \"m1\" was never submitted to this session");
  expect_said("turn.started", "{\"messages\":[\"m2\"]}", "");
  plugin_end(plugin);
}

Test(message_damage, a_lost_steered_message_bothers_no_tool_result) {
  plugin = plugin_at(kit_store, (struct plugin_words){0});
  expect_said("tools.started", "{}", "");
  expect_said("message.submitted", "{\"id\":\"m1\",\"content\":\"x\",\"delivery\":\"steer\"}", "");
  spoil(ROW_MESSAGE, 1);
  expect_got(tool_result(plugin, "s"), "");
  expect_said("turn.finished", "{}", "");
  cr_expect(strstr(status_now(), "\"state\":\"idle\"") && strstr(status, "\"queued\":[]"), "%s",
            status);
  plugin_end(plugin);
}

Test(message_damage, a_carrier_of_a_lost_message_is_settled) {
  begin();
  expect_said("turn.finished", "{}", "start m1: text of m1");
  const struct tidings_span id = span_text("m1"), *ids[] = {&id};
  const struct tidings_chat_request request = {
      .size = sizeof request, .session = span_text("s"), .messages = ids, .message_count = 1};
  const struct tidings_reply *reply;
  struct tidings_error error = new_error();
  cr_assert_eq(plugin->on_chat_request(plugin, &request, &reply, &error), 0, "%s", error.text);
  uint64_t delivery = reply->delivery_id;
  plugin->release(plugin, reply);
  spoil(ROW_MESSAGE, 1);
  cr_expect_eq(settle_as(plugin, delivery, TIDINGS_ROLLED_BACK, &error), 0, "%s", error.text);
  expect_said("turn.finished", "{}", "start m2: text of m2");
  plugin_end(plugin);
}

/* A lost id can be used as if it had never existed; its message still waits. */
Test(message_damage, a_lost_id_can_be_used_again) {
  begin();
  cr_assert_eq(rows_in(store_of(plugin), 1, ROW_MESSAGE_ID), 3);
  spoil(ROW_MESSAGE_ID, id_row_of("m1"));
  expect_said("message.cancelled", "{\"id\":\"m1\"}",
              "message \"m1\" was never submitted to this session");
  cr_expect_str_eq(submit("m1"), "");
  cr_expect(strstr(submit("m1"), "was submitted before"));
  expect_said("turn.finished", "{}", "start m1: text of m1");
  plugin_end(plugin);
}

Test(message_damage, a_lost_transition_does_not_hide_the_others) {
  begin();
  char *before = ask(plugin, "{\"name\":\"history\",\"session\":\"s\"}");
  spoil(ROW_TRANSITION, 1);
  char *after = ask(plugin, "{\"name\":\"history\",\"session\":\"s\"}");
  cr_expect(strstr(before, "\"event\":\"turn.started\"") &&
                !strstr(after, "\"event\":\"turn.started\""),
            "%s", after);
  cr_expect(strstr(after, "\"event\":\"message.submitted\""), "%s", after);
  free(before);
  free(after);
  plugin_end(plugin);
}

/* Closing discards what the damaged head had. Then old messages are over, and new ones are not
 * mistaken for them. */
Test(message_damage, a_session_with_a_damaged_head_is_closed_with_its_messages) {
  begin();
  spoil(ROW_HEAD, 0);
  expect_said("session.closed", "{}", "");
  cr_expect(strstr(status_now(), "\"queued\":[]"), "%s", status);
  cr_expect_str_eq(submit("m4"), "start m4: text of m4");
  cr_expect_str_eq(
      submit("m1"),
      "message \"m1\" was submitted before and was closed; use a new id for each message");
  plugin_end(plugin);
}

Test(message_damage, totals_count_a_damaged_session_apart_and_the_others_in_full) {
  begin();
  push(plugin, "another", "one");
  spoil(ROW_HEAD, 0);
  char *totals = ask(plugin, "{\"name\":\"totals\"}");
  cr_expect(strstr(totals, "\"damaged\":1"), "%s", totals);
  cr_expect(strstr(totals, "\"pushed\":1,\"pending\":1,"), "%s", totals);
  free(totals);
  plugin_end(plugin);
}

Test(message_damage, a_full_queue_says_so_and_takes_no_more) {
  plugin =
      plugin_at(kit_store,
                (struct plugin_words){.configuration = "{\"limits\":{\"pending_per_session\":2}}"});
  expect_said("turn.started", "{}", "");
  cr_expect_str_eq(submit("m1"), "");
  cr_expect_str_eq(submit("m2"), "");
  cr_expect_str_eq(
      submit("m3"),
      "the session has 2 messages that wait; the limit is 2 (limits.pending_per_session)");
  cr_expect_eq(rows_in(store_of(plugin), 1, ROW_MESSAGE_ID), 2);
  expect_said("message.cancelled", "{\"id\":\"m1\"}", "");
  cr_expect_str_eq(submit("m3"), "");
  plugin_end(plugin);
}
