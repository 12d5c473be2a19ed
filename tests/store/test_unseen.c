/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_unseen.c: a host that has not received a reply is asked again, and one that
 * sleeps is woken for it: replies whose commit has an unknown outcome, duplicates, and settles that
 * were only remembered.
 */
#include <stdlib.h>

#include "flow/flow.h"
#include "instance/instance.h"
#include "wake_kit.h"

TestSuite(unseen, .init = kit_begin, .fini = kit_end);

#define WAKE "{\"type\":\"wake\",\"session\":\"s\"}"
#define IN_2026 1798761600000 /* a time in the future of every test's clock */

struct answer {
  int code;
  uint32_t action; /* the type of the first one; 0: none */
  size_t actions;
  bool duplicate;
  int64_t wake_at_ms;
};

static struct answer answer_of(struct tidings_plugin *plugin, int code,
                               const struct tidings_reply *reply) {
  struct answer answer = {.code = code};
  if (code || !reply) return answer;
  answer.actions = reply->action_count;
  if (reply->action_count) answer.action = reply->actions[0]->type;
  if (answer.action == TIDINGS_ACTION_START_TURN)
    cr_assert_gt(reply->actions[0]->messages[0]->content.len, 0, "an offer has a text");
  answer.duplicate = reply->flags & TIDINGS_REPLY_DUPLICATE;
  answer.wake_at_ms = reply->wake_at_ms;
  plugin->release(plugin, reply);
  return answer;
}

static struct answer send(struct tidings_plugin *plugin, const char *json) {
  const struct tidings_reply *reply = NULL;
  struct tidings_span span = span_text(json);
  int code = plugin->on_event(plugin, &span, &reply, NULL);
  return answer_of(plugin, code, reply);
}

static struct answer settle(struct tidings_plugin *plugin, uint64_t delivery) {
  const struct tidings_settlement settlement = {
      .size = sizeof settlement, .outcome = TIDINGS_OUTCOME_ROLLED_BACK, .delivery_id = delivery};
  const struct tidings_reply *reply = NULL;
  int code = plugin->settle(plugin, &settlement, &reply, NULL);
  return answer_of(plugin, code, reply);
}

#define expect_action(result, expected)                                                            \
  do {                                                                                             \
    struct answer answer_ = (result);                                                              \
    cr_assert_eq(answer_.code, 0, "%d", answer_.code);                                             \
    cr_assert_eq(answer_.action, (expected), "%u", answer_.action);                                \
    cr_assert_leq(answer_.actions, 1);                                                             \
  } while (0)

static const char critical[] =
    "{\"type\":\"notification\",\"source\":\"p\",\"id\":\"1\",\"session\":\"s\",\"data\":"
    "{\"kind\":\"a.b\",\"message\":\"m\",\"level\":\"critical\"}}";

/* -- an unknown outcome ------------------------------------------------------------------------ */

static void lose_reply(struct tidings_plugin *plugin, struct turns_result asked) {
  uint32_t number = number_of(store_of(plugin), "s");
  unseen_note(&((struct instance *)plugin)->unseen,
              (struct unseen){.session = number, .asked = asked});
}

Test(unseen, an_offer_is_made_again_once) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  (void)waiting(plugin);
  expect_action(send(plugin, critical), TIDINGS_ACTION_START_TURN);
  expect_action(send(plugin, WAKE), 0);
  lose_reply(plugin, (struct turns_result){.offer = true});
  expect_action(send(plugin, WAKE), TIDINGS_ACTION_START_TURN);
  expect_action(send(plugin, WAKE), 0);
  plugin_end(plugin);
}

Test(unseen, a_stop_and_an_abort_are_asked_again_once) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  (void)waiting(plugin);
  expect_action(send(plugin, "{\"type\":\"turn.started\",\"session\":\"s\",\"data\":{}}"), 0);
  expect_action(send(plugin, "{\"type\":\"stream.started\",\"session\":\"s\",\"data\":{}}"), 0);
  expect_action(send(plugin, critical), TIDINGS_ACTION_ABORT_STREAM);
  lose_reply(plugin, (struct turns_result){.abort = true});
  expect_action(send(plugin, WAKE), TIDINGS_ACTION_ABORT_STREAM);
  expect_action(send(plugin, WAKE), 0);
  expect_action(send(plugin, "{\"type\":\"turn.stop\",\"session\":\"s\",\"data\":{}}"),
                TIDINGS_ACTION_STOP_TURN);
  lose_reply(plugin, (struct turns_result){.stop = true});
  expect_action(send(plugin, WAKE), TIDINGS_ACTION_STOP_TURN);
  expect_action(send(plugin, WAKE), 0);
  plugin_end(plugin);
}

Test(unseen, a_turn_that_has_begun_is_not_offered_again) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  (void)waiting(plugin);
  expect_action(send(plugin, critical), TIDINGS_ACTION_START_TURN);
  lose_reply(plugin, (struct turns_result){.offer = true});
  expect_action(send(plugin, "{\"type\":\"turn.started\",\"session\":\"s\",\"data\":{\"messages\":"
                             "[\"tidings:1\"]}}"),
                0);
  expect_action(send(plugin, WAKE), 0);
  plugin_end(plugin);
}

/* The process still owns its session, and nothing else records what it was asked. */
Test(unseen, a_host_that_opens_the_plugin_anew_is_asked_again) {
  static const char opened[] = "{\"type\":\"session.opened\",\"session\":\"s\",\"data\":{}}",
                    resumed[] = "{\"type\":\"session.resumed\",\"session\":\"s\",\"data\":"
                                "{\"deliveries\":[]}}";
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  expect_action(send(plugin, opened), 0);
  expect_action(send(plugin, critical), TIDINGS_ACTION_START_TURN);
  plugin_end(plugin);
  plugin = plugin_at(kit_store, (struct plugin_words){0});
  expect_action(send(plugin, opened), TIDINGS_ACTION_START_TURN);
  expect_action(send(plugin, WAKE), 0);
  expect_action(send(plugin, resumed), TIDINGS_ACTION_START_TURN);
  expect_action(send(plugin, "{\"type\":\"turn.started\",\"session\":\"s\",\"data\":{\"messages\":"
                             "[\"tidings:1\"]}}"),
                0);
  expect_action(send(plugin, resumed), 0);
  expect_action(send(plugin, "{\"type\":\"turn.stop\",\"session\":\"s\",\"data\":{}}"),
                TIDINGS_ACTION_STOP_TURN);
  plugin_end(plugin);
  plugin = plugin_at(kit_store, (struct plugin_words){0});
  expect_action(send(plugin, resumed), TIDINGS_ACTION_STOP_TURN);
  expect_action(send(plugin, WAKE), 0);
  plugin_end(plugin);
}

Test(unseen, notes_of_many_sessions_are_kept_apart) {
  struct unseen_replies replies = {.count = 0};
  unseen_init(&replies);
  for (uint32_t i = 1; i <= 20; i++)
    unseen_note(&replies, (struct unseen){.session = i, .asked = {.offer = i % 2 == 0}});
  unseen_note(&replies, (struct unseen){.session = 2, .asked = {.stop = true}});
  cr_assert(unseen_of(&replies, 2).offer && unseen_of(&replies, 2).stop);
  unseen_forget(&replies, 2);
  cr_assert(!unseen_of(&replies, 2).offer && !unseen_of(&replies, 2).stop);
  for (uint32_t i = 3; i <= 20; i++) cr_assert_eq(unseen_of(&replies, i).offer, i % 2 == 0);
  for (uint32_t i = 1; i <= 20; i++) unseen_forget(&replies, i);
  cr_assert(!atomic_load(&replies.any));
  unseen_finish(&replies);
}

/* -- duplicates -------------------------------------------------------------------------------- */

Test(unseen, a_duplicate_asks_again_for_what_was_not_received) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  static const char message[] =
      "{\"type\":\"message.submitted\",\"source\":\"h\",\"id\":\"1\",\"session\":\"t\",\"data\":"
      "{\"id\":\"m\",\"content\":\"x\"}}";
  (void)waiting(plugin);
  expect_action(send(plugin, critical), TIDINGS_ACTION_START_TURN);
  expect_action(send(plugin, critical), 0);
  lose_reply(plugin, (struct turns_result){.offer = true});
  struct answer again = send(plugin, critical);
  cr_assert(again.duplicate);
  expect_action(again, TIDINGS_ACTION_START_TURN);
  expect_action(send(plugin, "{\"type\":\"session.opened\",\"session\":\"t\",\"data\":{}}"), 0);
  expect_action(send(plugin, message), TIDINGS_ACTION_START_TURN);
  expect_action(send(plugin, message), 0);
  unseen_note(&((struct instance *)plugin)->unseen,
              (struct unseen){.session = number_of(store_of(plugin), "t"), .asked.offer = true});
  again = send(plugin, message);
  cr_assert(again.duplicate);
  expect_action(again, TIDINGS_ACTION_START_TURN);
  plugin_end(plugin);
}

/* A producer may have the same owner as the host, such as the same process, but is no host. */
Test(unseen, a_producer_with_the_same_owner_is_asked_nothing) {
  static const char *const events[] = {
      critical, "{\"type\":\"message.submitted\",\"source\":\"p\",\"id\":\"2\",\"session\":\"s\","
                "\"data\":{\"id\":\"m\",\"content\":\"x\"}}"};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
    (void)waiting(plugin);
    plugin_end(plugin); /* the process lives, so the session is still its own */
    struct tidings_plugin *producer =
        plugin_at(kit_store, (struct plugin_words){.role = TIDINGS_ROLE_PRODUCER});
    for (int j = 0; j < 2; j++) {
      struct answer answer = send(producer, events[i]);
      expect_action(answer, 0);
      cr_assert_eq(answer.duplicate, j == 1);
      cr_assert_eq(answer.wake_at_ms, 0);
    }
    plugin_end(producer);
    plugin = plugin_at(kit_store, (struct plugin_words){0});
    expect_action(send(plugin, WAKE), TIDINGS_ACTION_START_TURN);
    plugin_end(plugin);
    kit_end();
    kit_begin();
  }
}

/* The host goes by its newest reply. */
Test(unseen, the_reply_to_a_duplicate_says_when_something_is_due) {
  static const char *const events[] = {
      "{\"type\":\"notification\",\"source\":\"p\",\"id\":\"1\",\"session\":\"s\",\"data\":{"
      "\"kind\":\"a.b\",\"message\":\"m\",\"level\":\"critical\",\"due_at\":1798761600000}}",
      "{\"type\":\"message.submitted\",\"source\":\"p\",\"id\":\"2\",\"session\":\"s\",\"data\":{"
      "\"id\":\"m\",\"content\":\"x\",\"due_at\":1798761600000}}"};
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  (void)waiting(plugin);
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    for (int j = 0; j < 2; j++) {
      struct answer answer = send(plugin, events[i]);
      expect_action(answer, 0);
      cr_assert_eq(answer.duplicate, j == 1);
      cr_assert_eq(answer.wake_at_ms, IN_2026, "%lld", (long long)answer.wake_at_ms);
    }
  }
  plugin_end(plugin);
}

/* -- remembered settles ------------------------------------------------------------------------ */

/* Delivers a critical notification with a chat request of an idle session, and returns the
 * delivery. */
static uint64_t carried(struct tidings_plugin *plugin) {
  const struct tidings_span id = span_text("tidings:1"), *ids = &id;
  const struct tidings_chat_request request = {.size = sizeof request,
                                               .session = span_text("s"),
                                               .origin = TIDINGS_ORIGIN_SYSTEM,
                                               .messages = &ids,
                                               .message_count = 1};
  const struct tidings_reply *reply = NULL;
  expect_action(send(plugin, critical), TIDINGS_ACTION_START_TURN);
  cr_assert_eq(plugin->on_chat_request(plugin, &request, &reply, NULL), 0);
  cr_assert_not_null(reply);
  uint64_t delivery = reply->delivery_id;
  plugin->release(plugin, reply);
  expect_action(send(plugin, "{\"type\":\"turn.aborted\",\"session\":\"s\",\"data\":{}}"), 0);
  return delivery;
}

static uint64_t settled_in_vain(struct tidings_plugin *plugin) {
  uint64_t delivery = carried(plugin);
  struct child writer = writer_holding(kit_store);
  cr_assert_eq(settle(plugin, delivery).code, TIDINGS_E_BUSY);
  writer_let_go(&writer);
  return delivery;
}

static const struct plugin_words impatient = {.budget_ms = 20};

Test(unseen, a_remembered_rollback_wakes_the_host) {
  struct tidings_plugin *plugin = plugin_at(kit_store, impatient);
  int fd = waiting(plugin);
  (void)settled_in_vain(plugin);
  cr_assert(is_rung(fd, 0));
  next_is(plugin, "s");
  next_is(plugin, "");
  expect_action(send(plugin, WAKE), TIDINGS_ACTION_START_TURN);
  cr_assert(!is_rung(fd, 0));
  plugin_end(plugin);
}

Test(unseen, a_rollback_that_another_call_applies_wakes_the_host) {
  struct tidings_plugin *plugin = plugin_at(kit_store, impatient);
  int fd = waiting(plugin);
  (void)settled_in_vain(plugin);
  free(ask(plugin, "{\"name\":\"status\",\"session\":\"s\"}"));
  cr_assert(is_rung(fd, 0));
  next_is(plugin, "s");
  next_is(plugin, "");
  expect_action(send(plugin, WAKE), TIDINGS_ACTION_START_TURN);
  plugin_end(plugin);
}

Test(unseen, while_the_store_is_busy_a_remembered_rollback_keeps_the_host_awake) {
  struct tidings_plugin *plugin = plugin_at(kit_store, impatient);
  int fd = waiting(plugin);
  uint64_t delivery = carried(plugin);
  struct child writer = writer_holding(kit_store);
  cr_assert_eq(settle(plugin, delivery).code, TIDINGS_E_BUSY);
  for (int i = 0; i < 2; i++) {
    cr_assert(is_rung(fd, 0));
    next_is(plugin, "");
  }
  writer_let_go(&writer);
  cr_assert(is_rung(fd, 0));
  next_is(plugin, "s");
  plugin_end(plugin);
}

Test(unseen, a_settle_that_is_made_again_has_the_reply) {
  struct tidings_plugin *plugin = plugin_at(kit_store, impatient);
  (void)waiting(plugin);
  uint64_t delivery = settled_in_vain(plugin);
  expect_action(settle(plugin, delivery), TIDINGS_ACTION_START_TURN);
  cr_assert_eq(((struct instance *)plugin)->remembered.count, 0);
  expect_action(send(plugin, WAKE), 0);
  plugin_end(plugin);
}
