/* SPDX-License-Identifier: MIT
 *
 * test_flat.c: tests the functions that use handles, strings and JSON instead of pointers and
 * structs. flat_from_python.py calls them from another language.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

static int64_t open_flat(struct kit *kit, const char *more) {
  char options[2048];
  (void)snprintf(options, sizeof options, "{\"plugin\":\"%s\",\"store\":\"%s\",\"probe\":\"%s\"%s}",
                 kit_plugin(kit, "good_a"), kit->store, kit->probe, more);
  setenv("XDG_RUNTIME_DIR", kit->copies, 1);
  return hostkit_flat_open(options);
}

static void assert_answer(int64_t handle, const char *request, const char *expected) {
  char *answer = hostkit_flat_call(handle, request);
  cr_expect_str_eq(answer, expected, "%s\n  answered %s\n  expected %s", request, answer, expected);
  hostkit_free(answer);
}

static void assert_error(int64_t handle, const char *request, const char *code, const char *text) {
  char *answer = hostkit_flat_call(handle, request);
  json_t *parsed = json_loads(answer, 0, NULL);
  const char *got_code = "none";
  const char *got_text = "none";
  cr_expect_eq(json_unpack(parsed, "{s:{s:s,s:s}}", "error", "code", &got_code, "text", &got_text),
               0, "%s: %s", request, answer);
  cr_expect_str_eq(got_code, code, "%s: %s", request, answer);
  cr_expect_str_eq(got_text, text);
  cr_expect_str_eq(hostkit_flat_error(), text, "flat_error has the same sentence");
  cr_expect_str_eq(hostkit_error_name(hostkit_flat_error_code()), code, "and code");
  json_decref(parsed);
  hostkit_free(answer);
}

static void assert_not_opened(const char *options, int32_t code, const char *text) {
  cr_expect_eq(hostkit_flat_open(options), 0, "%s", options ? options : "NULL");
  cr_expect_str_eq(hostkit_flat_error(), text);
  cr_expect_eq(hostkit_flat_error_code(), code, "%s", text);
}

#define EMPTY_STATUS                                                                               \
  "{\"state\":\"idle\",\"messages\":[],\"started_at\":null,\"attempt\":0,\"message\":null,"        \
  "\"orphaned\":[]}"
#define REPLY(status)                                                                              \
  "{\"delivery\":null,\"notifications\":[],\"messages\":[],\"actions\":[],\"steered\":[],"         \
  "\"status\":" status ",\"duplicate\":false,\"wake_at\":null}"

Test(flat, every_operation) {
  struct kit kit;
  char request[1024];
  kit_init(&kit);
  int64_t handle = open_flat(
      &kit,
      ",\"configuration\":{\"a\":1},\"host_name\":\"JP\",\"role\":\"host\",\"hook_budget_ms\":100,"
      "\"owner_pid\":0,\"settle_on_return\":false,\"total_budget_ms\":4294967296");
  cr_assert(handle > 0, "%s", hostkit_flat_error());
  assert_answer(handle, "{\"op\":\"info\"}",
                "{\"name\":\"good\",\"version\":\"1.2.3\",\"build_id\":\"A\",\"abi\":\"1.2\","
                "\"generation\":1}");
  assert_answer(
      handle,
      "{\"op\":\"tool_result\",\"session\":\"s\",\"call_id\":\"c\",\"tool\":\"bash\",\"content\":"
      "\"o\\u0000k\",\"room\":500}",
      "{\"reply\":" REPLY(
          "null") ",\"content\":\"o\\u0000k\","
                  "\"outgoing\":[{\"role\":\"carrier\",\"carrier\":true,\"text\":\"o\\u0000k\"}]}");
  assert_answer(handle,
                "{\"op\":\"chat_request\",\"session\":\"s\",\"source\":\"system\",\"messages\":["
                "\"m1\",\"m2\"],\"room\":9223372036854775807}",
                "{\"reply\":" REPLY("null") ",\"content\":\"\",\"outgoing\":[{\"role\":\"carrier\","
                                            "\"carrier\":true,\"text\":\"\"}]}");
  cr_expect_eq(kit_log_lines(&kit, "A sends m"), 2);
  cr_expect_eq(kit_log_lines(&kit, "A room 500"), 1);
  cr_expect_eq(kit_log_lines(&kit, "A room 9223372036854775807"), 1);
  cr_expect_eq(kit_log_lines(&kit, "A system_request s"), 1);
  assert_answer(handle, "{\"op\":\"event\",\"event\":\"{\\\"type\\\":\\\"wake\\\"}\"}",
                "{\"reply\":" REPLY("null") "}");
  cr_expect_eq(kit_log_lines(&kit, "A event {\"type\":\"wake\"}"), 1);
  assert_answer(handle, "{\"op\":\"event\",\"event\":{\"type\":\"wake\",\"n\":1.5}}",
                "{\"reply\":" REPLY("null") "}");
  cr_expect_eq(kit_log_lines(&kit, "A event {\"type\":\"wake\",\"n\":1.5}"), 1);
  assert_answer(handle, "{\"op\":\"settle\",\"delivery\":\"17\",\"outcome\":\"committed\"}",
                "{\"reply\":" REPLY(EMPTY_STATUS) "}");
  assert_answer(handle, "{\"op\":\"settle\",\"delivery\":\"18\",\"outcome\":\"rolled_back\"}",
                "{\"reply\":" REPLY(EMPTY_STATUS) "}");
  cr_expect_eq(kit_log_lines(&kit, "A settle 17 1"), 1);
  cr_expect_eq(kit_log_lines(&kit, "A settle 18 2"), 1);
  assert_answer(handle, "{\"op\":\"query\",\"query\":{\"name\":\"configure\"}}",
                "{\"answer\":{\"config\":{\"a\":1}}}");
  assert_answer(handle, "{\"op\":\"swap\"}", "{\"generation\":2}");
  char *b = strdup(kit_plugin(&kit, "good_b"));
  (void)snprintf(request, sizeof request, "{\"op\":\"swap\",\"plugin\":\"%s\",\"drain_ms\":10}", b);
  assert_answer(handle, request, "{\"generation\":3}");
  free(b);
  cr_expect_eq(hostkit_flat_push(handle, "s", "tool.failed", 2, "say \"no\""), TIDINGS_OK);
  cr_expect_eq(kit_log_lines(&kit, "B event "
                                   "{\"type\":\"notification\",\"session\":\"s\",\"data\":{"
                                   "\"kind\":\"tool.failed\",\"level\":\"error\","
                                   "\"message\":\"say \\\"no\\\"\"}}"),
               1);
  cr_expect_eq(hostkit_flat_close(handle), TIDINGS_OK);
  cr_expect_eq(hostkit_flat_close(handle), TIDINGS_E_NOT_FOUND, "a handle is never used twice");
  cr_assert_null(kit_finish(&kit));
}

Test(flat, what_is_to_be_sent) {
  struct kit kit;
  kit_init(&kit);
  int64_t handle = open_flat(&kit, "");
  cr_assert(handle > 0, "%s", hostkit_flat_error());
  char *answer =
      hostkit_flat_call(handle, "{\"op\":\"tool_result\",\"session\":\"full\",\"content\":\"ok\"}");
  json_t *parsed = json_loads(answer, 0, NULL);
  char *outgoing = json_dumps(json_object_get(parsed, "outgoing"), JSON_COMPACT);
  cr_expect_str_eq(outgoing, "[{\"role\":\"developer\",\"carrier\":false,\"text\":\"before\"},"
                             "{\"role\":\"carrier\",\"carrier\":true,\"text\":\"first, ok, last\"},"
                             "{\"role\":\"block\",\"carrier\":false,\"text\":\"block\"},"
                             "{\"role\":\"user\",\"carrier\":false,\"text\":\"after\"},"
                             "{\"role\":\"tool\",\"carrier\":false,\"text\":\"pair\",\"call_id\":"
                             "\"notif_1\",\"tool\":\"_system_notification\"}]");
  cr_expect_str_eq(json_string_value(json_object_get(parsed, "content")), "first, ok, last");
  cr_expect_str_eq(json_string_value(json_object_get(json_object_get(parsed, "reply"), "delivery")),
                   "17");
  free(outgoing);
  json_decref(parsed);
  hostkit_free(answer);
  cr_expect_eq(hostkit_flat_close(handle), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

/* The caller never learns of the delivery, so it must not stay leased. */
Test(flat, a_reply_that_cannot_be_composed_is_rolled_back) {
  struct kit kit;
  kit_init(&kit);
  int64_t handle = open_flat(&kit, "");
  char *answer = hostkit_flat_call(handle, "{\"op\":\"tool_result\",\"session\":\"odd\"}");
  cr_expect_not_null(strstr(answer, "TIDINGS_E_INVAL"), "%s", answer);
  hostkit_free(answer);
  cr_expect_eq(kit_log_lines(&kit, "A settle 17 2"), 1);
  cr_expect_eq(hostkit_flat_close(handle), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(flat, bad_requests) {
  struct kit kit;
  kit_init(&kit);
  int64_t handle = open_flat(&kit, "");
  static const char inval[] = "TIDINGS_E_INVAL";
  static const char schema[] = "TIDINGS_E_SCHEMA";
  assert_error(handle, NULL, inval, "request is a null pointer");
  assert_error(handle, "{\"op\":", inval, "request: not JSON: it ends where a value was expected");
  assert_error(handle, "[]", inval, "request is JSON but not an object");
  assert_error(handle, "{\"op\":\"info\",\"op\":\"info\"}", inval,
               "request: not JSON: the key \"op\" appears twice in one object");
  assert_error(handle, "{}", schema,
               "request.op is missing, expected one of tool_result, chat_request, push, wake, "
               "event, settle, "
               "query, swap, info, wake_descriptor, "
               "next_session");
  assert_error(handle, "{\"op\":\"dance\"}", schema,
               "request.op is \"dance\", expected one of tool_result, chat_request, push, wake, "
               "event, settle, "
               "query, swap, info, wake_descriptor, "
               "next_session");
  assert_error(handle, "{\"op\":\"tool_result\"}", schema,
               "tool_result.session is missing, expected a string");
  assert_error(handle, "{\"op\":\"tool_result\",\"session\":5}", schema,
               "tool_result.session is 5, expected a string");
  assert_error(handle, "{\"op\":\"tool_result\",\"session\":\"\"}", inval,
               "session is empty, expected 1 to 255 bytes");
  assert_error(handle, "{\"op\":\"tool_result\",\"session\":\"s\",\"contents\":\"x\"}", schema,
               "tool_result has an unknown member contents, expected only op, session, call_id, "
               "tool, content, room");
  assert_error(handle, "{\"op\":\"tool_result\",\"session\":\"s\",\"room\":-1}", schema,
               "tool_result.room is -1, expected a whole number from 0 to 9223372036854775807");
  assert_error(handle, "{\"op\":\"chat_request\",\"session\":\"s\",\"room\":\"much\"}", schema,
               "chat_request.room is \"much\", expected a whole number from 0 to "
               "9223372036854775807");
  assert_error(handle, "{\"op\":\"chat_request\",\"session\":\"s\",\"source\":\"me\"}", schema,
               "chat_request.source is \"me\", expected one of user, system");
  assert_error(handle, "{\"op\":\"chat_request\",\"session\":\"s\",\"messages\":[\"m\",1]}", schema,
               "chat_request.messages is [\"m\",1], expected an array of strings");
  assert_error(handle, "{\"op\":\"event\",\"event\":7}", schema,
               "event.event is 7, expected an object, or its JSON text in a string");
  assert_error(handle, "{\"op\":\"event\"}", schema,
               "event.event is missing, expected an object, or its JSON text in a string");
  assert_error(handle, "{\"op\":\"settle\",\"delivery\":17,\"outcome\":\"committed\"}", schema,
               "settle.delivery is 17, expected a string");
  assert_error(handle, "{\"op\":\"settle\",\"delivery\":\"-1\",\"outcome\":\"committed\"}", schema,
               "settle.delivery is \"-1\", expected a delivery id such as \"17\"");
  assert_error(
      handle, "{\"op\":\"settle\",\"delivery\":\"99999999999999999999\",\"outcome\":\"committed\"}",
      schema, "settle.delivery is \"99999999999999999999\", expected a delivery id such as \"17\"");
  assert_error(handle, "{\"op\":\"settle\",\"delivery\":\"17\",\"outcome\":\"won\"}", schema,
               "settle.outcome is \"won\", expected one of committed, rolled_back");
  assert_error(handle, "{\"op\":\"settle\",\"delivery\":\"404\",\"outcome\":\"committed\"}",
               "TIDINGS_E_NOT_FOUND", "no delivery 404");
  assert_error(handle, "{\"op\":\"swap\",\"drain_ms\":-1}", schema,
               "swap.drain_ms is -1, expected a whole number from 0 to 4294967295");
  assert_error(handle, "{\"op\":\"swap\",\"plugin\":\"a\\u0000b\"}", schema,
               "swap.plugin is \"a\\u0000b\", expected a string without NUL characters");
  assert_error(handle, "{\"op\":\"query\",\"query\":{\"name\":\"x\"}}", "TIDINGS_E_UNSUPPORTED",
               "unknown query");
  assert_error(handle + 1, "{\"op\":\"info\"}", "TIDINGS_E_NOT_FOUND", "handle 2 is not open");
  assert_error(0, "{\"op\":\"info\"}", "TIDINGS_E_NOT_FOUND", "handle 0 is not open");
  cr_expect_eq(hostkit_flat_push(handle, "s", "k", 4, "m"), TIDINGS_E_INVAL);
  cr_expect_str_eq(hostkit_flat_error(), "level is 4, expected 0 (info) to 3 (critical)");
  cr_expect_eq(hostkit_flat_push(handle, "s", "k", -1, "m"), TIDINGS_E_INVAL);
  cr_expect_str_eq(hostkit_flat_error(), "level is -1, expected 0 (info) to 3 (critical)");
  cr_expect_eq(hostkit_flat_push(handle, NULL, "k", 0, "m"), TIDINGS_E_INVAL);
  cr_expect_str_eq(hostkit_flat_error(), "session is a null pointer");
  cr_expect_eq(hostkit_flat_push(handle, "s", NULL, 0, "m"), TIDINGS_E_INVAL);
  cr_expect_str_eq(hostkit_flat_error(), "kind is a null pointer");
  cr_expect_eq(hostkit_flat_push(handle, "s", "k", 0, NULL), TIDINGS_E_INVAL);
  cr_expect_str_eq(hostkit_flat_error(), "text is a null pointer");
  cr_expect_eq(hostkit_flat_push(-5, "s", "k", 0, "m"), TIDINGS_E_NOT_FOUND);
  cr_expect_eq(hostkit_flat_close(handle), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(flat, a_depth_bomb) {
  size_t len = 3000000;
  char *bomb = malloc(len + 1);
  memset(bomb, '[', len);
  bomb[len] = '\0';
  memcpy(bomb, "{\"\\\"[\":", 7);
  assert_error(1, bomb, "TIDINGS_E_TOO_BIG",
               "request: nested deeper than 64 levels at line 1, column 71");
  free(bomb);
}

Test(flat, bad_options) {
  assert_not_opened(NULL, TIDINGS_E_INVAL, "options is a null pointer");
  assert_not_opened("{", TIDINGS_E_INVAL,
                    "options: not JSON: it ends where a key in double quotes was expected");
  assert_not_opened("{}", TIDINGS_E_SCHEMA, "options.plugin is missing, expected a string");
  assert_not_opened("{\"plugin\":\"p\",\"colour\":1}", TIDINGS_E_SCHEMA,
                    "options has an unknown member colour, expected only plugin, store, host_name, "
                    "configuration, role, owner_pid, hook_budget_ms, settle_on_return, probe, "
                    "total_budget_ms");
  assert_not_opened("{\"plugin\":\"p\",\"role\":\"boss\"}", TIDINGS_E_SCHEMA,
                    "options.role is \"boss\", expected one of host, producer");
  assert_not_opened("{\"plugin\":\"p\",\"settle_on_return\":1}", TIDINGS_E_SCHEMA,
                    "options.settle_on_return is 1, expected true or false");
  assert_not_opened("{\"plugin\":\"p\",\"probe\":true}", TIDINGS_E_SCHEMA,
                    "options.probe is true, expected a path or false");
  assert_not_opened("{\"plugin\":\"p\",\"configuration\":[]}", TIDINGS_E_SCHEMA,
                    "options.configuration is [], expected an object");
  assert_not_opened("{\"plugin\":\"/nowhere/x.so\",\"probe\":false}", TIDINGS_E_NOT_FOUND,
                    "cannot open the plugin /nowhere/x.so: No such file or directory");
}

static void *use_another_thread(void *unused) {
  (void)unused;
  cr_expect_str_eq(hostkit_flat_error(), "", "each thread has its own");
  cr_expect_eq(hostkit_flat_error_code(), TIDINGS_OK);
  return NULL;
}

Test(flat, errors_belong_to_their_thread) {
  pthread_t thread;
  cr_expect_eq(hostkit_flat_close(9), TIDINGS_E_NOT_FOUND);
  thread = kit_start(use_another_thread, NULL);
  pthread_join(thread, NULL);
  cr_expect_str_eq(hostkit_flat_error(), "handle 9 is not open");
}

static void *push_until_closed(void *argument) {
  int64_t handle = *(int64_t *)argument;
  int32_t code = TIDINGS_OK;
  while (!code) code = hostkit_flat_push(handle, "s", "k", 0, "m");
  cr_expect_eq(code, TIDINGS_E_NOT_FOUND, "%s", hostkit_flat_error());
  return NULL;
}

/* Unlike a pointer, a handle may be used while somebody closes it. */
Test(flat, close_under_calls) {
  struct kit kit;
  pthread_t threads[4];
  int32_t code = TIDINGS_E_BUSY;
  kit_init(&kit);
  int64_t handle = open_flat(&kit, "");
  for (int i = 0; i < 4; i++) threads[i] = kit_start(push_until_closed, &handle);
  for (int i = 0; i < 1000000 && kit_log_lines(&kit, "A event") < 100; i++) usleep(100);
  for (int i = 0; i < 100 && code == TIDINGS_E_BUSY; i++) /* a call may take long */
    code = hostkit_flat_close(handle);
  cr_assert_eq(code, TIDINGS_OK, "%s", hostkit_flat_error());
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  cr_assert_null(kit_finish(&kit));
}

static void *use_the_table(void *argument) {
  const atomic_bool *done = argument;
  while (!atomic_load(done)) (void)hostkit_flat_close(9);
  return NULL;
}

/* The thread that had the lock of the table is not in the child. */
Test(flat, children_forked_during_a_call) {
  atomic_bool done = false;
  pthread_t threads[4];
  int failed = 0;
  for (int i = 0; i < 4; i++) threads[i] = kit_start(use_the_table, &done);
  for (int i = 0; i < 400 && !failed; i++) {
    pid_t child = fork();
    if (!child) {
      alarm(60); /* ends a child that hangs */
      _exit(hostkit_flat_close(9) == TIDINGS_E_NOT_FOUND ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &failed, 0), child);
  }
  atomic_store(&done, true);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  cr_expect_eq(failed, 0, "a child ended with %d", failed);
}
