/* SPDX-License-Identifier: MIT
 *
 * kit_host.c: a host of version 1.0 that uses hostkit: kit_host PLUGIN STORE. All that it hands in
 * ends at an inaccessible page; of what it gets it checks that fields which the plugin does not
 * know are zero. Compiled with headers of a later minor it fills the fields that it does not know.
 * Prints TAP.
 */
#include <stdbool.h>
#include <unistd.h>

#include <tidings/hostkit.h>

#include "guard.h"

#define GUARDED(object, known) guard_grown(&(object), (known), sizeof(object))
/* Of a struct that hostkit hands out, `known` bytes are the plugin's, and zeros come after them. */
#define IS_WHOLE(pointer, known)                                                                   \
  ((pointer)->size >= (known) &&                                                                   \
   guard_tail_is((pointer), (known),                                                               \
                 (pointer)->size < sizeof *(pointer) ? (pointer)->size : sizeof *(pointer), 0))

static int points;
static int failed;

static void check(bool good, const char *what) {
  printf("%s %d - %s\n", good ? "ok" : "not ok", ++points, what);
  if (!good) failed = 1;
}

static struct tidings_span span(const char *text) {
  return (struct tidings_span){text, strlen(text)};
}

static bool is(struct tidings_span text, const char *expected) {
  return text.len == strlen(expected) && memcmp(text.ptr, expected, text.len) == 0;
}

static struct tidings_error *make_error(void) {
  struct tidings_error error = {.size = sizeof error};
  return GUARDED(error, TIDINGS_ERROR_SIZE_1_0);
}

static void expect_ok(int32_t code, struct tidings_error *error, const char *what) {
  if (code) printf("# %s: %s\n", hostkit_error_name(code), error->text);
  check(!code, what);
  guard_drop(error, sizeof *error);
}

/* -- calls ------------------------------------------------------------------------------------- */

static struct hostkit *open_kit(const char *plugin, const char *store) {
  struct hostkit_options options = {
      .size = sizeof options, .plugin_path = plugin, .store_dir = store, .host_name = "Old"};
  struct hostkit_options *given = GUARDED(options, HOSTKIT_OPTIONS_SIZE_1_0);
  struct tidings_error *error = make_error();
  struct hostkit *kit = NULL;
  expect_ok(hostkit_open(given, &kit, error), error, "hostkit_open");
  guard_drop(given, sizeof options);
  if (failed) exit(1);
  return kit;
}

/* A sentence that is too long ends where the text ends. */
static void long_error(void) {
  char path[1024];
  memset(path, 'x', sizeof path);
  path[0] = '/';
  path[sizeof path - 1] = '\0';
  struct hostkit_options options = {.size = sizeof options, .plugin_path = path};
  struct tidings_error *error = make_error();
  struct hostkit *kit = NULL;
  check(hostkit_open(&options, &kit, error) != 0 && !kit, "a plugin that is not there");
  check(strnlen(error->text, sizeof error->text) == sizeof error->text - 1, "fills the text");
  check(guard_tail_is(error, TIDINGS_ERROR_SIZE_1_0, sizeof *error, GUARD_FILL),
        "and nothing after it");
  guard_drop(error, sizeof *error);
}

static void push(struct hostkit *kit) {
  struct hostkit_notification note = {.size = sizeof note,
                                      .session = span("s"),
                                      .kind_source = span("tool"),
                                      .kind_name = span("failed"),
                                      .text = span("It failed."),
                                      .level = TIDINGS_LEVEL_ERROR};
  struct hostkit_notification *given = GUARDED(note, HOSTKIT_NOTIFICATION_SIZE_1_0);
  struct tidings_error *error = make_error();
  expect_ok(hostkit_push(kit, given, NULL, error), error, "hostkit_push");
  guard_drop(given, sizeof note);
}

static struct tidings_reply *send_result(struct hostkit *kit) {
  struct tidings_tool_result result = {
      .size = sizeof result, .session = span("s"), .content = span("ok")};
  struct tidings_tool_result *given = GUARDED(result, TIDINGS_TOOL_RESULT_SIZE_1_0);
  struct tidings_error *error = make_error();
  struct tidings_reply *reply = NULL;
  expect_ok(hostkit_tool_result(kit, given, &reply, error), error, "hostkit_tool_result");
  guard_drop(given, sizeof result);
  return reply;
}

static struct tidings_reply *send_request(struct hostkit *kit) {
  struct tidings_span message = span("m1");
  const struct tidings_span *list[] = {&message};
  struct tidings_chat_request request = {
      .size = sizeof request, .session = span("s"), .messages = list, .message_count = 1};
  struct tidings_chat_request *given = GUARDED(request, TIDINGS_CHAT_REQUEST_SIZE_1_0);
  struct tidings_error *error = make_error();
  struct tidings_reply *reply = NULL;
  expect_ok(hostkit_chat_request(kit, given, &reply, error), error, "hostkit_chat_request");
  guard_drop(given, sizeof request);
  return reply;
}

static void settle(struct hostkit *kit, const struct tidings_reply *reply) {
  struct tidings_error *error = make_error();
  struct tidings_reply *more = NULL;
  expect_ok(hostkit_settle(kit, reply ? reply->delivery_id : 0, TIDINGS_COMMITTED, &more, error),
            error, "hostkit_settle");
  hostkit_reply_free(more);
}

/* -- what comes back --------------------------------------------------------------------------- */

static void check_reply(const struct tidings_reply *reply) {
  bool whole = reply && IS_WHOLE(reply, TIDINGS_REPLY_SIZE_1_0) && reply->delivery_id &&
               reply->notification_count == 1 && reply->part_count >= 1 && reply->status;
  check(whole, "the reply is whole");
  if (!whole) exit(1);
  const struct tidings_notification *note = reply->notifications[0];
  check(IS_WHOLE(note, TIDINGS_NOTIFICATION_SIZE_1_0) && is(note->text, "It failed.") &&
            is(note->kind_source, "tool") && note->count == 1,
        "the notification is whole");
  check(IS_WHOLE(reply->parts[0], TIDINGS_PART_SIZE_1_0), "the part is whole");
  check(IS_WHOLE(reply->status, TIDINGS_STATUS_SIZE_1_0), "the status is whole");
}

static void check_outgoing(const struct tidings_reply *reply, const char *text) {
  struct tidings_span content = span("ok");
  struct hostkit_outgoing *outgoing = NULL;
  struct tidings_error *error = make_error();
  expect_ok(hostkit_compose(&content, reply, &outgoing, error), error, "hostkit_compose");
  if (failed) exit(1);
  const struct hostkit_part *carrier = outgoing->parts[outgoing->carrier];
  check(IS_WHOLE(outgoing, HOSTKIT_OUTGOING_SIZE_1_0), "what is to be sent is whole");
  check(IS_WHOLE(carrier, HOSTKIT_PART_SIZE_1_0) && carrier->is_carrier &&
            strstr(carrier->text, text) != NULL && strstr(carrier->text, "ok") != NULL,
        "the carrier has the notification");
  hostkit_outgoing_free(outgoing);
  char *json = NULL;
  error = make_error();
  expect_ok(hostkit_reply_json(reply, &json, error), error, "hostkit_reply_json");
  check(json && strstr(json, text) != NULL, "its JSON has it too");
  hostkit_free(json);
}

/* hostkit composes any reply, such as one that this host has made. */
static void own_reply(void) {
  struct tidings_part part = {.size = sizeof part, .text = span("Mine.")};
  struct tidings_part *given_part = GUARDED(part, TIDINGS_PART_SIZE_1_0);
  const struct tidings_part *list[] = {given_part};
  struct tidings_status status = {.size = sizeof status};
  struct tidings_status *given_status = GUARDED(status, TIDINGS_STATUS_SIZE_1_0);
  struct tidings_reply reply = {
      .size = sizeof reply, .parts = list, .part_count = 1, .status = given_status};
  struct tidings_reply *given = GUARDED(reply, TIDINGS_REPLY_SIZE_1_0);
  check_outgoing(given, "Mine.");
  guard_drop(given, sizeof reply);
  guard_drop(given_status, sizeof status);
  guard_drop(given_part, sizeof part);
}

static void messages(struct hostkit *kit) {
  struct tidings_span event = span("{\"type\":\"message.submitted\",\"session\":\"s\",\"data\":"
                                   "{\"id\":\"m1\",\"content\":\"Hello.\"}}");
  struct tidings_error *error = make_error();
  struct tidings_reply *reply = NULL;
  expect_ok(hostkit_event(kit, &event, &reply, error), error, "hostkit_event");
  bool offered = reply && reply->action_count == 1 &&
                 IS_WHOLE(reply->actions[0], TIDINGS_ACTION_SIZE_1_0) &&
                 reply->actions[0]->message_count == 1;
  check(offered, "the action is whole");
  if (!offered) exit(1);
  const struct tidings_message *message = reply->actions[0]->messages[0];
  check(IS_WHOLE(message, TIDINGS_MESSAGE_SIZE_1_0) && is(message->content, "Hello."),
        "the message is whole");
  hostkit_reply_free(reply);
  reply = send_request(kit);
  settle(kit, reply);
  hostkit_reply_free(reply);
}

static void extensions(struct hostkit *kit) {
  struct tidings_span request = span("{\"name\":\"pending\",\"session\":\"s\"}");
  char *json = NULL;
  struct tidings_error *error = make_error();
  expect_ok(hostkit_query(kit, &request, &json, error), error, "hostkit_query");
  check(json && strstr(json, "\"count\":") != NULL, "the answer is whole");
  hostkit_free(json);
  int32_t fd = -1;
  error = make_error();
  expect_ok(hostkit_wake_descriptor(kit, &fd, error), error, "hostkit_wake_descriptor");
  close(fd);
  char session[255];
  size_t len = 0;
  error = make_error();
  expect_ok(hostkit_next_session(kit, session, sizeof session, &len, error), error,
            "hostkit_next_session");
  check(len == 1 && session[0] == 's', "it names the session");
  struct tidings_span name = {session, len};
  struct tidings_reply *reply = NULL;
  error = make_error();
  expect_ok(hostkit_wake(kit, &name, &reply, error), error, "hostkit_wake");
  check(reply && reply->status, "whose status comes back");
  hostkit_reply_free(reply);
}

/* An info of exactly the caller's length; hostkit knows less, or more. */
static void info(struct hostkit *kit) {
  struct hostkit_info info = {.size = sizeof info};
  struct hostkit_info *given = guard_copy(&info, sizeof info);
  check(!hostkit_info(kit, given) && given->size == sizeof info && given->generation == 2 &&
            given->has_query == 1 && given->has_wake == 1,
        "hostkit_info");
  check(guard_tail_is(given, HOSTKIT_INFO_SIZE_1_0, sizeof info, 0), "and nothing more");
  guard_drop(given, sizeof info);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    printf("Bail out! usage: kit_host PLUGIN STORE\n");
    return 2;
  }
  long_error();
  struct hostkit *kit = open_kit(argv[1], argv[2]);
  push(kit);
  struct tidings_reply *reply = send_result(kit);
  check_reply(reply);
  check_outgoing(reply, "It failed.");
  own_reply();
  settle(kit, reply);
  hostkit_reply_free(reply);
  messages(kit);
  extensions(kit);
  struct tidings_error *error = make_error();
  expect_ok(hostkit_swap(kit, NULL, 1000, error), error, "hostkit_swap");
  info(kit);
  error = make_error();
  expect_ok(hostkit_close(kit, 1000, error), error, "hostkit_close");
  printf("1..%d\n", points);
  return failed;
}
