/* SPDX-License-Identifier: MIT
 *
 * host.c: a host of version 1.1 that uses the headers and dlopen alone, and what 1.1 added: a bound
 * for all waits of an instance, the room of a carrier, and the extension for whole stores: host
 * PLUGIN STORE. All that it hands out ends at an inaccessible page, and is gone when the call has
 * returned. Compiled with headers of a later minor it fills the fields that it does not know.
 * Prints TAP.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <sys/random.h>
#include <time.h>

#include <tidings/store.h>
#include <tidings/tidings.h>

#include "guard.h"

#define GUARDED(object, known) guard_grown(&(object), (known), sizeof(object))
#define OPEN_OPTIONS_SIZE_1_1 TIDINGS_SIZE_TO(struct tidings_open_options, total_budget_ms)
#define TOOL_RESULT_SIZE_1_1 TIDINGS_SIZE_TO(struct tidings_tool_result, room_bytes)
#define CHAT_REQUEST_SIZE_1_1 TIDINGS_SIZE_TO(struct tidings_chat_request, room_bytes)

enum { ROOM = 600 };

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

static struct tidings_span span(const char *text) {
  return (struct tidings_span){text, strlen(text)};
}

/* -- calls ------------------------------------------------------------------------------------- */

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

static struct tidings_plugin *open_store(const struct tidings_entry *entry, const char *store) {
  struct tidings_host host = {.size = sizeof host,
                              .log = write_log,
                              .now_ms = now_ms,
                              .mono_ns = mono_ns,
                              .random = fill_random};
  struct tidings_open_options options = {.size = sizeof options,
                                         .store_dir = span(store),
                                         .host_name = span("Old"),
                                         .total_budget_ms = 600000};
  struct tidings_open_options *given = GUARDED(options, OPEN_OPTIONS_SIZE_1_1);
  struct tidings_plugin *plugin = NULL;
  struct tidings_error *error = make_error();
  expect_ok(entry->open(&host, given, &plugin, error), error, "open with a bound for all waits");
  guard_drop(given, sizeof options);
  if (failed) exit(1);
  return plugin;
}

/* A first line, which no room cuts, and one that is longer than the room. */
static void push(struct tidings_plugin *plugin) {
  char text[1024];
  (void)snprintf(text, sizeof text,
                 "{\"type\": \"notification\", \"session\": \"s\", \"data\": {\"kind\": "
                 "\"tool.failed\", \"level\": \"error\", \"message\": \"It failed.\\n%0*d\"}}",
                 ROOM + 100, 1);
  struct tidings_span event = span(text);
  const struct tidings_reply *reply = NULL;
  struct tidings_error *error = make_error();
  expect_ok(plugin->on_event(plugin, &event, &reply, error), error, "push");
  plugin->release(plugin, reply);
}

/* The carrier of either kind; *ret_shown: bytes of the parts. Rolled back, so that the next one has
 * the same. */
static void carry(struct tidings_plugin *plugin, bool chat_request, uint64_t room,
                  uint64_t *ret_shown) {
  struct tidings_tool_result result = {
      .size = sizeof result, .session = span("s"), .call_id = span("c"), .room_bytes = room};
  struct tidings_chat_request request = {
      .size = sizeof request, .session = span("s"), .room_bytes = room};
  const struct tidings_reply *reply = NULL;
  struct tidings_error *error = make_error();
  uint64_t shown = 0;
  if (chat_request) {
    struct tidings_chat_request *given = GUARDED(request, CHAT_REQUEST_SIZE_1_1);
    expect_ok(plugin->on_chat_request(plugin, given, &reply, error), error, "on_chat_request");
    guard_drop(given, sizeof request);
  } else {
    struct tidings_tool_result *given = GUARDED(result, TOOL_RESULT_SIZE_1_1);
    expect_ok(plugin->on_tool_result(plugin, given, &reply, error), error, "on_tool_result");
    guard_drop(given, sizeof result);
  }
  check(reply && reply->delivery_id && reply->part_count, "it carries the notification");
  if (failed) exit(1);
  for (size_t i = 0; i < reply->part_count; i++) shown += reply->parts[i]->text.len;
  struct tidings_settlement settlement = {
      .size = sizeof settlement, .outcome = TIDINGS_ROLLED_BACK, .delivery_id = reply->delivery_id};
  plugin->release(plugin, reply);
  error = make_error();
  expect_ok(plugin->settle(plugin, &settlement, NULL, error), error, "settle");
  *ret_shown = shown;
}

static void rooms(struct tidings_plugin *plugin) {
  for (int i = 0; i < 2; i++) {
    uint64_t whole, cut;
    carry(plugin, i == 1, 0, &whole);
    carry(plugin, i == 1, ROOM, &cut);
    check(whole > ROOM, "without a bound the text is whole");
    check(cut <= ROOM, "with one it is cut");
  }
}

/* Today's plugin reads what 1.2 added, too. */
#ifdef TIDINGS_STORE_REQUEST_SIZE_1_2
#define STORE_REQUEST_SIZE_READ TIDINGS_STORE_REQUEST_SIZE_1_2
#else
#define STORE_REQUEST_SIZE_READ TIDINGS_STORE_REQUEST_SIZE_1_1
#endif

static void check_store(const struct tidings_entry *entry, const char *place) {
  const struct tidings_store *store = entry->get_extension(TIDINGS_EXT_STORE);
  check(store && store->size >= TIDINGS_STORE_SIZE_1_1, "the extension for stores is whole");
  if (failed) exit(1);
  struct tidings_store_request request = {.size = sizeof request, .from = span(place)};
  struct tidings_store_request *given = GUARDED(request, STORE_REQUEST_SIZE_READ);
  const struct tidings_answer *answer = NULL;
  struct tidings_error *error = make_error();
  expect_ok(store->check(given, &answer, error), error, "check");
  check(answer && answer->json.len && answer->json.ptr[0] == '{', "the answer is an object");
  store->release_answer(answer);
  guard_drop(given, sizeof request);
}

int main(int argc, char **argv) {
  void *image = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!image) {
    printf("Bail out! %s\n", argc == 3 ? dlerror() : "usage: host PLUGIN STORE");
    return 2;
  }
  const struct tidings_entry *entry = dlsym(image, TIDINGS_ENTRY_SYMBOL);
  check(entry && entry->abi_major == TIDINGS_ABI_MAJOR && entry->abi_minor >= 1 &&
            entry->size >= TIDINGS_ENTRY_SIZE_1_0,
        "the entry is whole, and of 1.1 or later");
  if (failed) return 1;
  struct tidings_plugin *plugin = open_store(entry, argv[2]);
  push(plugin);
  rooms(plugin);
  struct tidings_error *error = make_error();
  expect_ok(plugin->close(plugin, error), error, "close");
  check_store(entry, argv[2]);
  check(!dlclose(image), "the image can be unloaded");
  printf("1..%d\n", points);
  return failed;
}
