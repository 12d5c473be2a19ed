/* SPDX-License-Identifier: MIT
 *
 * host.c: a host of version 1.0 that uses the headers and dlopen alone: host PLUGIN STORE. All that
 * it hands out ends at an inaccessible page, and is gone when the call has returned. Compiled with
 * headers of a later minor it fills the fields that it does not know. Prints TAP.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <sys/random.h>
#include <time.h>

#include <tidings/tidings.h>

#include "guard.h"

#define GUARDED(object, known) guard_grown(&(object), (known), sizeof(object))

static int points;
static int failed;

static void check(bool good, const char *what) {
  printf("%s %d - %s\n", good ? "ok" : "not ok", ++points, what);
  if (!good) failed = 1;
}

/* -- what the host gives ----------------------------------------------------------------------- */

static void write_log(void *context, uint32_t severity, const struct tidings_span *line) {
  (void)context;
  printf("# log %u: %.*s\n", (unsigned)severity, (int)line->len, line->ptr);
}

static int64_t now_ms(void *context) {
  struct timespec now;
  (void)context;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t mono_ns(void *context) {
  struct timespec now;
  (void)context;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int32_t fill_random(void *context, void *buffer, size_t len) {
  (void)context;
  return getentropy(buffer, len);
}

static uint64_t count_tokens(void *context, const struct tidings_span *text) {
  ++*(int *)context;
  return text->len;
}

static struct tidings_span span(const char *text) {
  return (struct tidings_span){text, strlen(text)};
}

static bool is(struct tidings_span text, const char *expected) {
  return text.len == strlen(expected) && memcmp(text.ptr, expected, text.len) == 0;
}

/* -- calls, each with structs of its own ------------------------------------------------------- */

static struct tidings_error *make_error(void) {
  struct tidings_error error = {.size = sizeof error};
  return GUARDED(error, TIDINGS_ERROR_SIZE_1_0);
}

/* Ends a call that must have succeeded. */
static void expect_ok(int32_t code, struct tidings_error *error, const char *what) {
  if (code) printf("# %d: %s\n", (int)code, error->text);
  check(!code, what);
  guard_drop(error, sizeof *error);
}

static const struct tidings_reply *send_event(struct tidings_plugin *plugin, const char *text) {
  struct tidings_span event = span(text);
  struct tidings_span *given = guard_copy(&event, sizeof event);
  struct tidings_error *error = make_error();
  const struct tidings_reply *reply = NULL;
  expect_ok(plugin->on_event(plugin, given, &reply, error), error, text);
  guard_drop(given, sizeof event);
  return reply;
}

static const struct tidings_reply *send_result(struct tidings_plugin *plugin) {
  struct tidings_tool_result result = {.size = sizeof result,
                                       .session = span("s"),
                                       .call_id = span("c1"),
                                       .tool = span("bash"),
                                       .content = span("ok")};
  struct tidings_tool_result *given = GUARDED(result, TIDINGS_TOOL_RESULT_SIZE_1_0);
  struct tidings_error *error = make_error();
  const struct tidings_reply *reply = NULL;
  expect_ok(plugin->on_tool_result(plugin, given, &reply, error), error, "on_tool_result");
  guard_drop(given, sizeof result);
  return reply;
}

static const struct tidings_reply *send_request(struct tidings_plugin *plugin, const char *id) {
  struct tidings_span message = span(id);
  const struct tidings_span *given_message = guard_copy(&message, sizeof message);
  const struct tidings_span *const *list = guard_copy(&given_message, sizeof given_message);
  struct tidings_chat_request request = {.size = sizeof request,
                                         .session = span("s"),
                                         .origin = TIDINGS_ORIGIN_USER,
                                         .messages = list,
                                         .message_count = 1};
  struct tidings_chat_request *given = GUARDED(request, TIDINGS_CHAT_REQUEST_SIZE_1_0);
  struct tidings_error *error = make_error();
  const struct tidings_reply *reply = NULL;
  expect_ok(plugin->on_chat_request(plugin, given, &reply, error), error, "on_chat_request");
  guard_drop(given, sizeof request);
  guard_drop(list, sizeof given_message);
  guard_drop(given_message, sizeof message);
  return reply;
}

static void settle(struct tidings_plugin *plugin, uint64_t delivery_id, uint32_t outcome) {
  struct tidings_settlement settlement = {
      .size = sizeof settlement, .outcome = outcome, .delivery_id = delivery_id};
  struct tidings_settlement *given = GUARDED(settlement, TIDINGS_SETTLEMENT_SIZE_1_0);
  struct tidings_error *error = make_error();
  const struct tidings_reply *reply = NULL;
  expect_ok(plugin->settle(plugin, given, &reply, error), error, "settle");
  plugin->release(plugin, reply);
  guard_drop(given, sizeof settlement);
}

/* -- the run ----------------------------------------------------------------------------------- */

static uint64_t check_delivery(const struct tidings_reply *reply) {
  bool whole = reply && reply->size >= TIDINGS_REPLY_SIZE_1_0 && reply->delivery_id &&
               reply->notification_count == 1 && reply->part_count >= 1;
  check(whole, "a delivery has its notification and its parts");
  if (!whole) exit(1);
  const struct tidings_notification *note = reply->notifications[0];
  check(note->size >= TIDINGS_NOTIFICATION_SIZE_1_0 && note->level == TIDINGS_LEVEL_ERROR &&
            is(note->kind_source, "tool") && is(note->kind_name, "failed") &&
            is(note->text, "It failed.") && note->count == 1,
        "the notification is the one that was pushed");
  check(reply->parts[0]->size >= TIDINGS_PART_SIZE_1_0 && reply->parts[0]->text.len > 0,
        "the part has a text");
  check(reply->status && reply->status->size >= TIDINGS_STATUS_SIZE_1_0, "the status is whole");
  return reply->delivery_id;
}

static void notifications(struct tidings_plugin *plugin) {
  const struct tidings_reply *reply =
      send_event(plugin, "{\"type\": \"notification\", \"session\": \"s\", \"data\": {\"kind\": "
                         "\"tool.failed\", \"level\": \"error\", \"message\": \"It failed.\"}}");
  plugin->release(plugin, reply);
  reply = send_result(plugin);
  uint64_t id = check_delivery(reply);
  plugin->release(plugin, reply);
  settle(plugin, id, TIDINGS_ROLLED_BACK);
  reply = send_result(plugin);
  id = check_delivery(reply);
  plugin->release(plugin, reply);
  settle(plugin, id, TIDINGS_COMMITTED);
}

static void messages(struct tidings_plugin *plugin) {
  const struct tidings_reply *reply = send_event(
      plugin, "{\"type\": \"message.submitted\", \"session\": \"s\", \"data\": {\"id\": \"m1\", "
              "\"content\": \"Hello.\"}}");
  bool offered =
      reply && reply->action_count == 1 && reply->actions[0]->size >= TIDINGS_ACTION_SIZE_1_0 &&
      reply->actions[0]->type == TIDINGS_ACTION_START_TURN && reply->actions[0]->message_count == 1;
  check(offered, "a message is offered");
  if (!offered) exit(1);
  const struct tidings_message *message = reply->actions[0]->messages[0];
  check(message->size >= TIDINGS_MESSAGE_SIZE_1_0 && is(message->id, "m1") &&
            is(message->content, "Hello."),
        "it is the one that was submitted");
  plugin->release(plugin, reply);
  reply = send_request(plugin, "m1");
  check(reply && reply->delivery_id && reply->status->state == TIDINGS_STATE_BUSY,
        "the request starts the turn");
  uint64_t id = reply ? reply->delivery_id : 0;
  plugin->release(plugin, reply);
  settle(plugin, id, TIDINGS_COMMITTED);
}

static void extensions(const struct tidings_entry *entry, struct tidings_plugin *plugin) {
  const struct tidings_query *query = entry->get_extension(TIDINGS_EXT_QUERY);
  const struct tidings_wake *wake = entry->get_extension(TIDINGS_EXT_WAKE);
  check(query && query->size >= TIDINGS_QUERY_SIZE_1_0, "the query extension is whole");
  check(wake && wake->size >= TIDINGS_WAKE_SIZE_1_0, "the wake extension is whole");
  if (failed) exit(1);
  struct tidings_span request = span("{\"name\": \"pending\", \"session\": \"s\"}");
  const struct tidings_answer *answer = NULL;
  struct tidings_error *error = make_error();
  expect_ok(query->query(plugin, &request, &answer, error), error, "query");
  check(answer && answer->size >= TIDINGS_ANSWER_SIZE_1_0 && answer->json.len > 0 &&
            answer->json.ptr[0] == '{',
        "the answer is an object");
  query->release_answer(plugin, answer);
  int32_t fd = -1;
  error = make_error();
  expect_ok(wake->descriptor(plugin, &fd, error), error, "descriptor");
  char session[255];
  size_t len = 0;
  error = make_error();
  expect_ok(wake->next_session(plugin, session, sizeof session, &len, error), error,
            "next_session");
  check(len <= sizeof session, "its answer fits");
}

/* The plugin fills an error struct as far as its size goes. */
static void errors(struct tidings_plugin *plugin) {
  struct tidings_span event = span("{bad");
  const struct tidings_reply *reply = NULL;
  struct tidings_error *error = make_error();
  int32_t code = plugin->on_event(plugin, &event, &reply, error);
  check(code == TIDINGS_E_INVAL && error->code == code && error->text[0], "an error has a text");
  guard_drop(error, sizeof *error);
}

/* A sentence that is too long ends where the text ends. */
static void long_error(const struct tidings_entry *entry, struct tidings_plugin *plugin) {
  const struct tidings_query *query = entry->get_extension(TIDINGS_EXT_QUERY);
  static const char begin[] = "{\"name\": \"", mark[] = "\\u0001",
                    end[] = "\", \"session\": \"s\"}";
  char text[1024], *at = text;
  memcpy(at, begin, sizeof begin - 1);
  at += sizeof begin - 1;
  for (int i = 0; i < 80; i++, at += sizeof mark - 1) memcpy(at, mark, sizeof mark - 1);
  memcpy(at, end, sizeof end);
  struct tidings_span request = span(text);
  const struct tidings_answer *answer = NULL;
  struct tidings_error *error = make_error();
  int32_t code = query->query(plugin, &request, &answer, error);
  check(code == TIDINGS_E_UNSUPPORTED && !answer, "an unknown query");
  check(memchr(error->text, '\0', sizeof error->text) != NULL, "the text of its error has an end");
  check(guard_tail_is(error, TIDINGS_ERROR_SIZE_1_0, sizeof *error, GUARD_FILL),
        "and nothing is written after it");
  guard_drop(error, sizeof *error);
}

int main(int argc, char **argv) {
  int counted = 0;
  void *image = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!image) {
    printf("Bail out! %s\n", argc == 3 ? dlerror() : "usage: host PLUGIN STORE");
    return 2;
  }
  const struct tidings_entry *entry = dlsym(image, TIDINGS_ENTRY_SYMBOL);
  check(entry && entry->abi_major == TIDINGS_ABI_MAJOR && entry->size >= TIDINGS_ENTRY_SIZE_1_0,
        "the entry is whole");
  if (failed) return 1;
  struct tidings_host host = {.size = sizeof host,
                              .context = &counted,
                              .log = write_log,
                              .now_ms = now_ms,
                              .mono_ns = mono_ns,
                              .random = fill_random,
                              .count_tokens = count_tokens};
  struct tidings_host *given_host = GUARDED(host, TIDINGS_HOST_SIZE_1_0);
  struct tidings_open_options options = {
      .size = sizeof options, .store_dir = span(argv[2]), .host_name = span("Old")};
  struct tidings_open_options *given = GUARDED(options, TIDINGS_OPEN_OPTIONS_SIZE_1_0);
  struct tidings_plugin *plugin = NULL;
  struct tidings_error *error = make_error();
  expect_ok(entry->open(given_host, given, &plugin, error), error, "open");
  guard_drop(given, sizeof options);
  guard_drop(given_host, sizeof host); /* the plugin has a copy */
  if (failed) return 1;
  check(plugin->size >= TIDINGS_PLUGIN_SIZE_1_0, "the instance is whole");
  notifications(plugin);
  messages(plugin);
  extensions(entry, plugin);
  errors(plugin);
  long_error(entry, plugin);
  error = make_error();
  expect_ok(plugin->quiesce(plugin, error), error, "quiesce");
  error = make_error();
  expect_ok(plugin->close(plugin, error), error, "close");
  check(!dlclose(image), "the image can be unloaded");
  printf("1..%d\n", points);
  return failed;
}
