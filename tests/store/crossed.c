/* SPDX-License-Identifier: MIT
 *
 * tests/store/crossed.c: makes four calls in a known session, each in its own function, so that
 * crossed.py can count the files and functions that each call runs.
 */
#include <string.h>

#include "simple.h"

static struct tidings_plugin *plugin;

static struct tidings_span span_of_text(const char *text) {
  return (struct tidings_span){text, strlen(text)};
}

__attribute__((noinline)) void crossed_push(void);
__attribute__((noinline)) void crossed_push(void) {
  const struct tidings_span event =
      span_of_text("{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"kind\":\"ci.red\","
                   "\"message\":\"red\"}}");
  const struct tidings_reply *reply = NULL;
  SIMPLE_CHECK(plugin->on_event(plugin, &event, &reply, NULL) == 0);
  if (reply) plugin->release(plugin, reply);
}

/* Returns the delivery; 0: nothing was pending. */
__attribute__((noinline)) uint64_t crossed_tool_result(void);
__attribute__((noinline)) uint64_t crossed_tool_result(void) {
  const struct tidings_tool_result result = {.size = sizeof result,
                                             .session = span_of_text("s"),
                                             .call_id = span_of_text("call"),
                                             .tool = span_of_text("bash")};
  const struct tidings_reply *reply = NULL;
  SIMPLE_CHECK(plugin->on_tool_result(plugin, &result, &reply, NULL) == 0);
  if (!reply) return 0;
  uint64_t delivery = reply->delivery_id;
  plugin->release(plugin, reply);
  return delivery;
}

__attribute__((noinline)) void crossed_settle(uint64_t delivery);
__attribute__((noinline)) void crossed_settle(uint64_t delivery) {
  const struct tidings_settlement settlement = {
      .size = sizeof settlement, .outcome = TIDINGS_OUTCOME_COMMITTED, .delivery_id = delivery};
  SIMPLE_CHECK(plugin->settle(plugin, &settlement, NULL, NULL) == 0);
}

__attribute__((noinline)) void crossed_quiet(void);
__attribute__((noinline)) void crossed_quiet(void) { SIMPLE_CHECK(!crossed_tool_result()); }

static void warm_up(void) {
  const struct tidings_span opened =
      span_of_text("{\"type\":\"session.opened\",\"session\":\"s\"}");
  const struct tidings_span pushed =
      span_of_text("{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"kind\":\"ci.red\","
                   "\"message\":\"m\"}}");
  const struct tidings_tool_result result = {.size = sizeof result, .session = span_of_text("s")};
  const struct tidings_reply *reply = NULL;
  SIMPLE_CHECK(plugin->on_event(plugin, &opened, &reply, NULL) == 0);
  if (reply) plugin->release(plugin, reply);
  SIMPLE_CHECK(plugin->on_event(plugin, &pushed, &reply, NULL) == 0);
  if (reply) plugin->release(plugin, reply);
  SIMPLE_CHECK(plugin->on_tool_result(plugin, &result, &reply, NULL) == 0 && reply);
  const struct tidings_settlement settlement = {.size = sizeof settlement,
                                                .outcome = TIDINGS_OUTCOME_COMMITTED,
                                                .delivery_id = reply->delivery_id};
  plugin->release(plugin, reply);
  SIMPLE_CHECK(plugin->settle(plugin, &settlement, NULL, NULL) == 0);
}

int main(void) {
  char *folder = simple_folder();
  plugin = simple_open(folder, TIDINGS_ROLE_HOST);
  warm_up();
  crossed_push();
  crossed_push();
  uint64_t delivery = crossed_tool_result();
  SIMPLE_CHECK(delivery);
  crossed_settle(delivery);
  SIMPLE_CHECK(!crossed_tool_result()); /* it looks, and finds nothing; the next one need not */
  crossed_quiet();
  SIMPLE_CHECK(plugin->close(plugin, NULL) == 0);
  simple_remove(folder);
  return 0;
}
