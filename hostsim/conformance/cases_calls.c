/* SPDX-License-Identifier: MIT
 *
 * conformance/cases_calls.c: the functions of an instance, with arguments that are wrong, too
 * short, or of a later minor version; then quiesce and close.
 */
#include "conformance/trial.h"

#include <stdlib.h>
#include <string.h>

static const struct tidings_reply *const unwritten = (const struct tidings_reply *)&unwritten;

/* A call that must be refused writes no reply. */
static void expect_unwritten(const struct tidings_reply *reply, const char *what) {
  if (reply != unwritten) trial_fail("%s: it failed and wrote *ret_reply", what);
}

static struct tidings_tool_result usual_result(void) {
  struct tidings_tool_result result = {
      .size = sizeof result, .session = trial_span("s"), .content = trial_span("ok")};
  return result;
}

static struct tidings_chat_request usual_request(void) {
  struct tidings_chat_request request = {
      .size = sizeof request, .session = trial_span("s"), .content = trial_span("hello")};
  return request;
}

static void bad_result(struct tidings_plugin *plugin, const struct tidings_tool_result *result,
                       const char *what) {
  const struct tidings_reply *reply = unwritten;
  struct tidings_error error = {.size = sizeof error};
  trial_expect(TIDINGS_E_INVAL, plugin->on_tool_result(plugin, result, &reply, &error), &error,
               what);
  expect_unwritten(reply, what);
}

static void bad_request(struct tidings_plugin *plugin, const struct tidings_chat_request *request,
                        const char *what) {
  const struct tidings_reply *reply = unwritten;
  struct tidings_error error = {.size = sizeof error};
  trial_expect(TIDINGS_E_INVAL, plugin->on_chat_request(plugin, request, &reply, &error), &error,
               what);
  expect_unwritten(reply, what);
}

static void bad_settlement(struct tidings_plugin *plugin,
                           const struct tidings_settlement *settlement, const char *what) {
  const struct tidings_reply *reply = unwritten;
  struct tidings_error error = {.size = sizeof error};
  trial_expect(TIDINGS_E_INVAL, plugin->settle(plugin, settlement, &reply, &error), &error, what);
  expect_unwritten(reply, what);
}

static void null_call_arguments(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  const struct tidings_reply *reply = unwritten;
  struct tidings_error error = {.size = sizeof error};
  struct tidings_tool_result result = usual_result();
  struct tidings_chat_request request = usual_request();
  struct tidings_settlement settlement = {
      .size = sizeof settlement, .outcome = TIDINGS_OUTCOME_COMMITTED, .delivery_id = 1};
  struct tidings_span event = trial_span("{}");

  bad_result(plugin, NULL, "on_tool_result(NULL)");
  bad_request(plugin, NULL, "on_chat_request(NULL)");
  bad_settlement(plugin, NULL, "settle(NULL)");
  trial_expect(TIDINGS_E_INVAL, plugin->on_event(plugin, NULL, &reply, &error), &error,
               "on_event(NULL)");
  trial_expect(TIDINGS_E_INVAL, plugin->on_tool_result(plugin, &result, NULL, &error), &error,
               "on_tool_result with no ret_reply");
  trial_expect(TIDINGS_E_INVAL, plugin->on_chat_request(plugin, &request, NULL, &error), &error,
               "on_chat_request with no ret_reply");
  trial_expect(TIDINGS_E_INVAL, plugin->on_event(plugin, &event, NULL, &error), &error,
               "on_event with no ret_reply");
  trial_expect(TIDINGS_E_INVAL, plugin->on_tool_result(NULL, &result, &reply, &error), &error,
               "on_tool_result of no instance");
  trial_expect(TIDINGS_E_INVAL, plugin->on_chat_request(NULL, &request, &reply, &error), &error,
               "on_chat_request of no instance");
  trial_expect(TIDINGS_E_INVAL, plugin->on_event(NULL, &event, &reply, &error), &error,
               "on_event of no instance");
  trial_expect(TIDINGS_E_INVAL, plugin->settle(NULL, &settlement, &reply, &error), &error,
               "settle of no instance");
  trial_expect(TIDINGS_E_INVAL, plugin->quiesce(NULL, &error), &error, "quiesce of no instance");
  trial_expect(TIDINGS_E_INVAL, plugin->close(NULL, &error), &error, "close of no instance");
  expect_unwritten(reply, "a call with a null pointer");
  plugin->release(plugin, NULL);
  plugin->release(NULL, NULL);
  trial_close(plugin);
}

static void null_spans(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  const struct tidings_reply *reply = unwritten;
  struct tidings_error error = {.size = sizeof error};
  struct tidings_tool_result result = usual_result();
  result.session.ptr = NULL;
  bad_result(plugin, &result, "a session that is a null span of some length");
  result = usual_result();
  result.content = (struct tidings_span){NULL, 7};
  bad_result(plugin, &result, "a content that is a null span of some length");
  struct tidings_chat_request request = usual_request();
  request.message_count = 1;
  bad_request(plugin, &request, "one message and no array");
  const struct tidings_span *const none[1] = {NULL};
  request.messages = none;
  bad_request(plugin, &request, "a message id that is a null pointer");
  struct tidings_span event = {NULL, 5};
  trial_expect(TIDINGS_E_INVAL, plugin->on_event(plugin, &event, &reply, &error), &error,
               "an event that is a null span of some length");
  event.len = 0;
  trial_expect(TIDINGS_E_INVAL, plugin->on_event(plugin, &event, &reply, &error), &error,
               "an empty event");
  expect_unwritten(reply, "a null span");
  trial_close(plugin);
}

static void short_call_structs(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  const uint32_t result_sizes[] = {0, 4, TIDINGS_TOOL_RESULT_SIZE_1_0 - 1};
  const uint32_t request_sizes[] = {0, 4, TIDINGS_CHAT_REQUEST_SIZE_1_0 - 1};
  const uint32_t settlement_sizes[] = {0, 4, TIDINGS_SETTLEMENT_SIZE_1_0 - 1};
  for (size_t i = 0; i < 3; i++) {
    struct tidings_tool_result result = usual_result();
    result.size = result_sizes[i];
    bad_result(plugin, &result, "a short tidings_tool_result");
    struct tidings_chat_request request = usual_request();
    request.size = request_sizes[i];
    bad_request(plugin, &request, "a short tidings_chat_request");
    struct tidings_settlement settlement = {
        .size = settlement_sizes[i], .outcome = TIDINGS_OUTCOME_COMMITTED, .delivery_id = 1};
    bad_settlement(plugin, &settlement, "a short tidings_settlement");
  }
  trial_close(plugin);
}

static void unknown_call_numbers(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_tool_result result = usual_result();
  result.flags = 1u << 31;
  bad_result(plugin, &result, "an unknown flag of a tool result");
  struct tidings_chat_request request = usual_request();
  request.flags = 1u << 31;
  bad_request(plugin, &request, "an unknown flag of a chat request");
  request = usual_request();
  request.origin = 9;
  bad_request(plugin, &request, "origin 9");
  request = usual_request();
  request.reserved = 1;
  bad_request(plugin, &request, "a reserved field that is not 0");
  const uint32_t outcomes[] = {0, 3, UINT32_MAX};
  for (size_t i = 0; i < 3; i++) {
    struct tidings_settlement settlement = {
        .size = sizeof settlement, .outcome = outcomes[i], .delivery_id = 1};
    bad_settlement(plugin, &settlement, "an outcome that is none");
  }
  trial_close(plugin);
}

static void bigger_call_structs(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct {
    struct tidings_tool_result known;
    unsigned char unknown[64];
  } result;
  struct {
    struct tidings_chat_request known;
    unsigned char unknown[64];
  } request;
  struct {
    struct tidings_settlement known;
    unsigned char unknown[64];
  } settlement;
  memset(&result, 0xA5, sizeof result);
  memset(&request, 0xA5, sizeof request);
  memset(&settlement, 0xA5, sizeof settlement);
  result.known = usual_result();
  result.known.size = sizeof result;
  request.known = usual_request();
  request.known.size = sizeof request;

  const struct tidings_reply *reply = NULL;
  struct tidings_error error = {.size = sizeof error};
  trial_expect(TIDINGS_OK, plugin->on_chat_request(plugin, &request.known, &reply, &error), &error,
               "a chat request of a later minor");
  plugin->release(plugin, reply);
  reply = NULL;
  trial_push(plugin, "s", "one");
  trial_expect(TIDINGS_OK, plugin->on_tool_result(plugin, &result.known, &reply, &error), &error,
               "a tool result of a later minor");
  if (!reply || reply->delivery_id == 0)
    trial_fail("nothing was delivered on a tool result of a later minor");
  settlement.known = (struct tidings_settlement){.size = sizeof settlement,
                                                 .outcome = TIDINGS_OUTCOME_COMMITTED,
                                                 .delivery_id = reply->delivery_id};
  plugin->release(plugin, reply);
  trial_expect(TIDINGS_OK, plugin->settle(plugin, &settlement.known, NULL, &error), &error,
               "a settlement of a later minor");
  trial_expect_nothing(plugin, "s");
  trial_close(plugin);
}

static void no_error_struct(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  const struct tidings_reply *reply = NULL;
  struct tidings_span event = trial_span("{bad");
  struct tidings_tool_result result = usual_result();
  result.session.len = 0;
  if (plugin->on_event(plugin, &event, &reply, NULL) == TIDINGS_OK ||
      plugin->on_tool_result(plugin, &result, &reply, NULL) == TIDINGS_OK ||
      trial_settle(plugin, 12345, TIDINGS_OUTCOME_COMMITTED, NULL) == TIDINGS_OK)
    trial_fail("an invalid call was accepted");
  trial_close(plugin);
}

static void empty_hook(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_chat_request request = usual_request();
  for (int i = 0; i < 3; i++) { /* the first call attaches; the next ones change nothing */
    const struct tidings_reply *reply = trial_deliver(plugin, "s");
    const struct tidings_reply *chat_reply = NULL;
    struct tidings_error error = {.size = sizeof error};
    trial_expect(TIDINGS_OK, plugin->on_chat_request(plugin, &request, &chat_reply, &error), &error,
                 "on_chat_request");
    if (i > 0 && (reply || chat_reply))
      trial_fail("nothing is pending and nothing changes: the reply must be NULL");
    plugin->release(plugin, reply);
    plugin->release(plugin, chat_reply);
  }
  trial_close(plugin);
}

static void check_reply(const struct tidings_reply *reply, const char *what) {
  if (!reply) trial_fail("%s: no reply", what);
  if (reply->size < TIDINGS_REPLY_SIZE_1_0)
    trial_fail("%s: the reply's size is %u, version 1.0 has %zu", what, reply->size, sizeof *reply);
  if (!reply->status || reply->status->size < TIDINGS_STATUS_SIZE_1_0)
    trial_fail("%s: the reply carries no whole status", what);
}

static void reply_status(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_error error = {.size = sizeof error};
  static const char *const events[] = {
      "{\"type\":\"session.opened\",\"session\":\"s\",\"data\":{}}",
      "{\"type\":\"session.resumed\",\"session\":\"s\",\"data\":{\"deliveries\":[]}}",
      "{\"type\":\"session.closed\",\"session\":\"s\"}"};
  for (size_t i = 0; i < 3; i++) {
    const struct tidings_reply *reply = NULL;
    struct tidings_span event = trial_span(events[i]);
    trial_expect(TIDINGS_OK, plugin->on_event(plugin, &event, &reply, &error), &error, events[i]);
    check_reply(reply, events[i]);
    if (reply->status->state != TIDINGS_STATE_IDLE)
      trial_fail("%s: the state is %u, not idle", events[i], reply->status->state);
    plugin->release(plugin, reply);
  }
  trial_push(plugin, "s", "one");
  const struct tidings_reply *reply = trial_deliver(plugin, "s");
  check_reply(reply, "a delivery");
  if (reply->notification_count != 1 || reply->part_count < 1 || reply->delivery_id == 0) {
    trial_fail("a delivery has its notifications, its messages and an id; got %zu, %zu and %llu",
               reply->notification_count, reply->part_count,
               (unsigned long long)reply->delivery_id);
  }
  plugin->release(plugin, reply);
  trial_close(plugin);
}

static void quiesce_waits_for_replies(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_error error = {.size = sizeof error};
  trial_push(plugin, "s", "one");
  const struct tidings_reply *reply = trial_deliver(plugin, "s");
  trial_expect(TIDINGS_E_BUSY, plugin->quiesce(plugin, &error), &error,
               "quiesce while a reply is out");
  trial_expect(TIDINGS_E_BUSY, plugin->close(plugin, &error), &error, "close while a reply is out");
  trial_push(plugin, "s", "two"); /* BUSY changed nothing */
  uint64_t id = reply->delivery_id;
  plugin->release(plugin, reply);
  error = (struct tidings_error){.size = sizeof error};
  trial_expect(TIDINGS_OK, trial_settle(plugin, id, TIDINGS_OUTCOME_COMMITTED, &error), &error,
               "settle");
  trial_expect_delivery(plugin, "s", "two");
  trial_expect(TIDINGS_OK, plugin->quiesce(plugin, &error), &error, "quiesce");
  trial_expect(TIDINGS_OK, plugin->quiesce(plugin, &error), &error, "quiesce again");
  trial_close(plugin);
}

static void closed_after_quiesce(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_error error = {.size = sizeof error};
  const struct tidings_reply *reply = unwritten;
  trial_push(plugin, "s", "one");
  trial_expect(TIDINGS_OK, plugin->quiesce(plugin, &error), &error, "quiesce");
  struct tidings_chat_request request = usual_request();
  static const char event[] = "{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"kind\":\"a."
                              "b\",\"message\":\"two\"}}";
  trial_expect(TIDINGS_E_CLOSED, trial_tool_result(plugin, "s", &reply, &error), &error,
               "on_tool_result after quiesce");
  trial_expect(TIDINGS_E_CLOSED, plugin->on_chat_request(plugin, &request, &reply, &error), &error,
               "on_chat_request after quiesce");
  trial_expect(TIDINGS_E_CLOSED, trial_event(plugin, event, sizeof event - 1, &error), &error,
               "on_event after quiesce");
  trial_expect(TIDINGS_E_CLOSED, trial_settle(plugin, 1, TIDINGS_OUTCOME_COMMITTED, &error), &error,
               "settle after quiesce");
  if (trial->query) {
    const struct tidings_answer *answer = NULL;
    struct tidings_span query = trial_span("{\"name\":\"pending\",\"session\":\"s\"}");
    trial_expect(TIDINGS_E_CLOSED, trial->query->query(plugin, &query, &answer, &error), &error,
                 "query after quiesce");
  }
  expect_unwritten(reply, "a call after quiesce");
  plugin->release(plugin, NULL);
  trial_close(plugin);
  plugin = trial_open(trial, NULL);
  trial_expect_delivery(plugin, "s", "one");
  trial_close(plugin);
}

static void query_arguments(struct trial *trial) {
  trial_load(trial);
  if (!trial->query) trial_skip("it has no " TIDINGS_EXT_QUERY);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_error error = {.size = sizeof error};
  const struct tidings_answer *answer = NULL;
  struct tidings_span query = trial_span("{\"name\":\"no-such-query\",\"session\":\"s\"}");
  trial_expect(TIDINGS_E_INVAL, trial->query->query(NULL, &query, &answer, &error), &error,
               "query of no instance");
  trial_expect(TIDINGS_E_INVAL, trial->query->query(plugin, NULL, &answer, &error), &error,
               "query(NULL)");
  trial_expect(TIDINGS_E_INVAL, trial->query->query(plugin, &query, NULL, &error), &error,
               "query with nowhere to put the answer");
  trial_expect(TIDINGS_E_UNSUPPORTED, trial->query->query(plugin, &query, &answer, &error), &error,
               "an unknown query");
  trial_expect_word(&error, "no-such-query", "an unknown query");
  query = trial_span("{\"name\"");
  trial_expect(TIDINGS_E_INVAL, trial->query->query(plugin, &query, &answer, &error), &error,
               "a query that is not JSON");
  trial->query->release_answer(plugin, NULL);
  trial_close(plugin);
}

static void query_pending(struct trial *trial) {
  trial_load(trial);
  if (!trial->query) trial_skip("it has no " TIDINGS_EXT_QUERY);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_error error = {.size = sizeof error};
  struct tidings_span query = trial_span("{\"name\":\"pending\",\"session\":\"s\"}");
  for (json_int_t count = 0; count < 3; count++) {
    const struct tidings_answer *answer = NULL;
    error = (struct tidings_error){.size = sizeof error};
    trial_expect(TIDINGS_OK, trial->query->query(plugin, &query, &answer, &error), &error,
                 "query pending");
    trial_expect(TIDINGS_E_BUSY, plugin->quiesce(plugin, &error), &error,
                 "quiesce while an answer is out");
    json_t *value = json_loadb(answer->json.ptr, answer->json.len, 0, NULL);
    if (!json_is_object(value) || json_integer_value(json_object_get(value, "count")) != count) {
      trial_fail("%lld were pending, the answer is %.*s", (long long)count, (int)answer->json.len,
                 answer->json.ptr);
    }
    json_decref(value);
    trial->query->release_answer(plugin, answer);
    trial_push(plugin, "s", "one");
  }
  trial_close(plugin);
}

const struct conformance_case cases_call[] = {
    {"call.null-arguments", "null pointers are INVAL", null_call_arguments},
    {"call.null-spans", "null spans of some length are INVAL", null_spans},
    {"call.short-structs", "structs shorter than version 1.0 are INVAL", short_call_structs},
    {"call.unknown-numbers", "unknown flags, origins and outcomes are INVAL", unknown_call_numbers},
    {"call.bigger-structs", "structs of a later minor are accepted", bigger_call_structs},
    {"call.no-error-struct", "the error struct is optional", no_error_struct},
    {"call.empty-hook", "a hook with nothing to deliver answers NULL", empty_hook},
    {"reply.status", "every reply carries the status", reply_status},
    {"quiesce.waits-for-replies", "quiesce and close answer BUSY while a reply is out",
     quiesce_waits_for_replies},
    {"quiesce.closes", "calls after quiesce answer CLOSED", closed_after_quiesce},
    {"query.arguments", "queries refuse invalid requests", query_arguments},
    {"query.pending", "the query pending counts, and its answers are replies that are out",
     query_pending},
    {NULL, NULL, NULL},
};
