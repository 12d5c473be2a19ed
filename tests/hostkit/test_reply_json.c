/* SPDX-License-Identifier: MIT
 *
 * test_reply_json.c: the JSON form of replies, byte by byte.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "kit.h"

static void assert_json(const struct tidings_reply *reply, const char *expected) {
  char *json = NULL;
  cr_assert_eq(hostkit_reply_json(reply, &json, NULL), TIDINGS_OK);
  cr_expect_str_eq(json, expected);
  hostkit_free(json);
}

Test(reply_json, no_reply) {
  assert_json(NULL, "{\"delivery\":null,\"notifications\":[],\"messages\":[],\"actions\":[],"
                    "\"steered\":[],\"status\":null,"
                    "\"duplicate\":false,\"wake_at\":null}");
}

Test(reply_json, everything) {
  struct kit kit;
  kit_init(&kit);
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  struct tidings_tool_result result = {.size = sizeof result, .session = kit_span("full")};
  struct tidings_reply *reply = NULL;
  cr_assert_eq(hostkit_tool_result(hostkit, &result, &reply, NULL), TIDINGS_OK);
  assert_json(
      reply,
      "{\"delivery\":\"17\",\"notifications\":["
      "{\"kind\":{\"source\":\"tool\",\"name\":\"failed\"},\"level\":\"error\",\"message\":\"it "
      "failed\",\"data\":{\"exit\":101},\"count\":3},"
      "{\"kind\":{\"source\":\"mcp\",\"name\":\"\"},\"level\":\"info\",\"message\":\"down\"}],"
      "\"messages\":[{\"role\":\"user\",\"place\":\"after\",\"text\":\"after\"},"
      "{\"role\":\"carrier\",\"place\":\"prepend\",\"text\":\"first, \"},"
      "{\"role\":\"developer\",\"place\":\"before\",\"text\":\"before\"},"
      "{\"role\":\"carrier\",\"place\":\"append\",\"text\":\", last\"},"
      "{\"role\":\"tool\",\"place\":\"pair\",\"text\":\"pair\",\"call_id\":\"notif_1\",\"tool\":\"_"
      "system_notification\"},"
      "{\"role\":\"block\",\"place\":\"after\",\"text\":\"block\"}],"
      "\"actions\":[{\"type\":\"abort_stream\",\"cause\":\"critical\"},"
      "{\"type\":\"start_turn\",\"source\":\"system\",\"messages\":["
      "{\"id\":\"m1\",\"content\":\"hello\",\"queued_at\":12,\"trigger\":{\"by\":\"cron\"}}]}],"
      "\"steered\":[\"s1\"],\"status\":{\"state\":\"busy\",\"phase\":\"tools\",\"messages\":["
      "\"m1\"],\"started_at\":34,\"attempt\":2,"
      "\"message\":\"working\",\"orphaned\":[\"o1\"]},\"duplicate\":true,\"wake_at\":56,\"ledger\":"
      "\"pending: 2\"}");
  hostkit_reply_free(reply);
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

Test(reply_json, an_idle_session) {
  struct tidings_status status = {.size = sizeof status};
  struct tidings_reply reply = {.size = sizeof reply, .delivery_id = UINT64_MAX, .status = &status};
  assert_json(&reply, "{\"delivery\":\"18446744073709551615\",\"notifications\":[],\"messages\":[],"
                      "\"actions\":[],\"steered\":[],"
                      "\"status\":{\"state\":\"idle\",\"messages\":[],\"started_at\":null,"
                      "\"attempt\":0,\"message\":null,\"orphaned\":[]},"
                      "\"duplicate\":false,\"wake_at\":null}");
}

/* A later minor may have more states, and a plugin with a fault more bytes than UTF-8 allows. */
Test(reply_json, what_should_not_come) {
  struct tidings_status status = {.size = sizeof status, .state = 42};
  struct tidings_span ids[] = {{.ptr = "a\xFF\xC0z", .len = 4},
                               {.ptr = "\xE2\x82", .len = 2},
                               {.ptr = "\xED\xA0\x80", .len = 3},
                               {.ptr = "\xF0\x9F\x98\x80", .len = 4},
                               {.ptr = "a\0b", .len = 3}};
  const struct tidings_span *const list[] = {&ids[0], &ids[1], &ids[2], &ids[3], &ids[4]};
  struct tidings_reply reply = {
      .size = sizeof reply, .status = &status, .steered = list, .steered_count = 5};
  assert_json(&reply, "{\"delivery\":null,\"notifications\":[],\"messages\":[],\"actions\":[],"
                      "\"steered\":[\"a\xEF\xBF\xBD\xEF\xBF\xBDz\","
                      "\"\xEF\xBF\xBD\xEF\xBF\xBD\",\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\","
                      "\"\xF0\x9F\x98\x80\",\"a\\u0000b\"],"
                      "\"status\":{\"state\":\"42\",\"messages\":[],\"started_at\":null,"
                      "\"attempt\":0,\"message\":null,\"orphaned\":[]},"
                      "\"duplicate\":false,\"wake_at\":null}");
}

Test(reply_json, null_pointer) {
  cr_assert_eq(hostkit_reply_json(NULL, NULL, NULL), TIDINGS_E_INVAL);
}
