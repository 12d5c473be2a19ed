/* SPDX-License-Identifier: MIT
 *
 * tests/store/kit_plugin.c: a plugin in this process, called through its table of functions.
 */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "instance/instance.h"
#include "kit.h"

extern const struct tidings_entry tidings_entry;

atomic_llong kit_now_ms = 1700000000000;
atomic_uint kit_log_lines;

static void take_log(void *context, uint32_t severity, const struct tidings_span *message) {
  (void)context;
  (void)message;
  if (severity <= TIDINGS_LOG_WARNING) atomic_fetch_add(&kit_log_lines, 1);
}

static int64_t now_ms(void *context) {
  (void)context;
  return atomic_load(&kit_now_ms);
}

static uint64_t mono_ns(void *context) {
  struct timespec now;
  (void)context;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int32_t fill_random(void *context, void *buffer, size_t len) {
  static struct random numbers = {.state = 1};
  (void)context;
  if (len == sizeof(uint32_t)) { /* for sessions and deliveries; tests look at their rows */
    memset(buffer, 0, len);
    return 0;
  }
  for (size_t i = 0; i < len; i++) ((uint8_t *)buffer)[i] = (uint8_t)random_next(&numbers);
  return 0;
}

int plugin_try(const char *store, struct plugin_words words, struct tidings_plugin **ret_plugin,
               struct tidings_error *error) {
  const struct tidings_host host = {.size = sizeof host,
                                    .log = take_log,
                                    .now_ms = now_ms,
                                    .mono_ns = mono_ns,
                                    .random = words.random ? words.random : fill_random,
                                    .count_tokens = words.count_tokens};
  const struct tidings_open_options options = {
      .size = sizeof options,
      .store_dir = span_text(store),
      .role = words.role,
      .owner_pid = words.owner_pid,
      .configuration = span_text(words.configuration ? words.configuration : ""),
      .hook_budget_ms = words.budget_ms ? words.budget_ms : KIT_BUDGET_MS,
      .settle_on_return = words.settle_on_return,
  };
  return tidings_entry.open(&host, &options, ret_plugin, error);
}

struct tidings_plugin *plugin_at(const char *store, struct plugin_words words) {
  struct tidings_error error = new_error();
  struct tidings_plugin *plugin;
  int code = plugin_try(store, words, &plugin, &error);
  cr_assert_eq(code, 0, "open: %d %s", code, error.text);
  return plugin;
}

void plugin_end(struct tidings_plugin *plugin) {
  struct tidings_error error = new_error();
  int code = plugin->close(plugin, &error);
  cr_assert_eq(code, 0, "close: %d %s", code, error.text);
}

struct store *store_of(struct tidings_plugin *plugin) {
  return ((struct instance *)plugin)->store;
}

int event(struct tidings_plugin *plugin, struct tidings_error *error, const char *format, ...) {
  const struct tidings_reply *reply = NULL;
  char *text;
  va_list args;
  va_start(args, format);
  int len = vasprintf(&text, format, args);
  va_end(args);
  cr_assert_geq(len, 0);
  struct tidings_span span = span_of(text, (size_t)len);
  int code = plugin->on_event(plugin, &span, &reply, error);
  plugin->release(plugin, reply);
  free(text);
  return code;
}

void push(struct tidings_plugin *plugin, const char *session, const char *message) {
  struct tidings_error error = new_error();
  int code = event(plugin, &error,
                   "{\"type\":\"notification\",\"session\":\"%s\",\"data\":{\"kind\":\"test.said\","
                   "\"message\":\"%s\"}}",
                   session, message);
  cr_assert_eq(code, 0, "push: %d %s", code, error.text);
}

struct got tool_result(struct tidings_plugin *plugin, const char *session) {
  struct got got = {.error = new_error()};
  const struct tidings_tool_result result = {
      .size = sizeof result, .session = span_text(session), .call_id = span_text("c")};
  const struct tidings_reply *reply = NULL;
  got.code = plugin->on_tool_result(plugin, &result, &reply, &got.error);
  if (got.code || !reply) return got;
  got.delivery = reply->delivery_id;
  got.count = reply->notification_count;
  size_t len = 0;
  for (size_t i = 0; i < reply->notification_count && len < sizeof got.messages; i++) {
    len += (size_t)snprintf(got.messages + len, sizeof got.messages - len, "%s%.*s", i ? "|" : "",
                            SPAN_FORMAT(reply->notifications[i]->text));
  }
  plugin->release(plugin, reply);
  return got;
}

int settle_as(struct tidings_plugin *plugin, uint64_t delivery, uint32_t outcome,
              struct tidings_error *error) {
  const struct tidings_settlement settlement = {
      .size = sizeof settlement, .outcome = outcome, .delivery_id = delivery};
  return plugin->settle(plugin, &settlement, NULL, error);
}

char *ask(struct tidings_plugin *plugin, const char *request) {
  const struct tidings_query *query = tidings_entry.get_extension(TIDINGS_EXT_QUERY);
  const struct tidings_answer *answer;
  struct tidings_error error = new_error();
  struct tidings_span span = span_text(request);
  int code = query->query(plugin, &span, &answer, &error);
  cr_assert_eq(code, 0, "%s: %d %s", request, code, error.text);
  char *text = strndup(answer->json.ptr, answer->json.len);
  query->release_answer(plugin, answer);
  cr_assert_not_null(text);
  return text;
}
