/* SPDX-License-Identifier: MIT
 *
 * good.c: a small sound plugin for the tests of hostkit. It keeps no sessions; each call writes a
 * line to the file "log" in its store folder, so that a test sees which calls arrived, and in which
 * build. It may use only libc.
 *
 * GOOD_BUILD_ID names the build. GOOD_NEWER adds unknown fields at the end of every struct, like a
 * later minor version; GOOD_MINOR is the minor version that it states. GOOD_QUERY and GOOD_WAKE are
 * the ids of its extensions. A file "refuse-ID" in the store folder makes build ID's open fail, but
 * not in the probe, whose folder is empty.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "good.h"

struct good_entry {
  struct tidings_entry entry;
  struct later later;
};

/* A reply with everything that it points to. */
struct good_reply {
  struct tidings_reply reply;
  struct later later;
  struct tidings_notification notifications[2];
  const struct tidings_notification *notification_list[2];
  struct tidings_part messages[6];
  const struct tidings_part *message_list[6];
  struct tidings_message turn;
  const struct tidings_message *turn_list[1];
  struct tidings_action actions[2];
  const struct tidings_action *action_list[2];
  struct tidings_span ids[3];
  const struct tidings_span *id_list[3];
  struct tidings_status status;
  char text[64]; /* all spans point here that a host could keep longer than the reply */
};

/* The plugin may change the reply that the host must not change. */
static struct good_reply *writable(const struct tidings_reply *reply) {
  struct good_reply *made = NULL;
  memcpy(&made, &reply, sizeof(void *));
  return made;
}

static struct tidings_part message(uint32_t role, uint32_t place, const char *text) {
  struct tidings_part made = {
      .size = sizeof made, .voice = role, .place = place, .text = span(text)};
  if (role == TIDINGS_VOICE_TOOL) {
    made.call_id = span("notif_1");
    made.tool = span("_system_notification");
  }
  return made;
}

static void fill_lists(struct good_reply *made) {
  made->notifications[0] = (struct tidings_notification){.size = sizeof made->notifications[0],
                                                         .level = TIDINGS_LEVEL_ERROR,
                                                         .id = 5,
                                                         .time_ms = 1700000000000,
                                                         .kind_source = span("tool"),
                                                         .kind_name = span("failed"),
                                                         .text = span(made->text),
                                                         .data = span("{\"exit\":101}"),
                                                         .count = 3};
  /* A plugin that does not know `count` has other bytes there, which the host must not read. */
  made->notifications[1] =
      (struct tidings_notification){.size = offsetof(struct tidings_notification, count),
                                    .kind_source = span("mcp"),
                                    .text = span("down"),
                                    .count = 77};
  made->messages[0] = message(TIDINGS_VOICE_USER, TIDINGS_PLACE_AFTER, "after");
  made->messages[1] = message(TIDINGS_VOICE_CARRIER, TIDINGS_PLACE_PREPEND, "first, ");
  made->messages[2] = message(TIDINGS_VOICE_DEVELOPER, TIDINGS_PLACE_BEFORE, "before");
  made->messages[3] = message(TIDINGS_VOICE_CARRIER, TIDINGS_PLACE_APPEND, ", last");
  made->messages[4] = message(TIDINGS_VOICE_TOOL, TIDINGS_PLACE_PAIR, "pair");
  made->messages[5] = message(TIDINGS_VOICE_BLOCK, TIDINGS_PLACE_AFTER, "block");
  made->turn = (struct tidings_message){.size = sizeof made->turn,
                                        .id = span("m1"),
                                        .content = span("hello"),
                                        .trigger = span("{\"by\":\"cron\"}"),
                                        .queued_at_ms = 12};
  made->turn_list[0] = &made->turn;
  made->actions[0] = (struct tidings_action){.size = sizeof made->actions[0],
                                             .type = TIDINGS_ACTION_ABORT_STREAM,
                                             .cause = TIDINGS_CAUSE_CRITICAL};
  made->actions[1] = (struct tidings_action){.size = sizeof made->actions[1],
                                             .type = TIDINGS_ACTION_START_TURN,
                                             .origin = TIDINGS_ORIGIN_SYSTEM,
                                             .messages = made->turn_list,
                                             .message_count = 1};
  made->ids[0] = span("s1");
  made->ids[1] = span("m1");
  made->ids[2] = span("o1");
  for (size_t i = 0; i < 2; i++) {
    made->notification_list[i] = &made->notifications[i];
    made->action_list[i] = &made->actions[i];
  }
  for (size_t i = 0; i < 6; i++) made->message_list[i] = &made->messages[i];
  for (size_t i = 0; i < 3; i++) made->id_list[i] = &made->ids[i];
}

static int32_t give_reply(struct good_plugin *good, uint64_t delivery_id, int full,
                          const struct tidings_reply **ret_reply) {
  struct good_reply *made = calloc(1, sizeof *made);
  if (!made) return TIDINGS_E_NOMEM;
  memset(&made->later, 0xEE, sizeof made->later);
  (void)snprintf(made->text, sizeof made->text, "it failed");
  made->status = (struct tidings_status){.size = sizeof made->status};
  made->reply = (struct tidings_reply){.size = sizeof made->reply + LATER_BYTES,
                                       .delivery_id = delivery_id,
                                       .status = &made->status};
  if (full) {
    fill_lists(made);
    made->status = (struct tidings_status){.size = sizeof made->status,
                                           .state = TIDINGS_STATE_BUSY,
                                           .phase = TIDINGS_PHASE_TOOLS,
                                           .attempt = 2,
                                           .messages = &made->id_list[1],
                                           .message_count = 1,
                                           .started_at_ms = 34,
                                           .detail = span("working"),
                                           .orphaned = &made->id_list[2],
                                           .orphaned_count = 1};
    made->reply.flags = TIDINGS_REPLY_DUPLICATE;
    made->reply.notifications = made->notification_list;
    made->reply.notification_count = 2;
    made->reply.parts = made->message_list;
    made->reply.part_count = 6;
    made->reply.actions = made->action_list;
    made->reply.action_count = 2;
    made->reply.steered = made->id_list;
    made->reply.steered_count = 1;
    made->reply.wake_at_ms = 56;
    made->reply.ledger = span("pending: 2");
  }
  atomic_fetch_add(&good->out, 1);
  *ret_reply = &made->reply;
  return TIDINGS_OK;
}

/* Session "full" gets a reply with everything, session "odd" a reply with an unknown role, and all
 * others none. */
static int32_t deliver(struct good_plugin *good, const char *what,
                       const struct tidings_span *session, const struct tidings_reply **ret_reply,
                       struct tidings_error *error) {
  if (atomic_load(&good->closed)) return fail(error, TIDINGS_E_CLOSED, "quiesced");
  if (session->len == 0)
    return fail(error, TIDINGS_E_INVAL, "session is empty, expected 1 to 255 bytes");
  int32_t code = write_line(good, what, session, error);
  if (code || (!is(session, "full") && !is(session, "odd"))) return code;
  code = give_reply(good, 17, 1, ret_reply);
  if (!code && is(session, "odd")) writable(*ret_reply)->messages[0].voice = 99;
  return code;
}

static int32_t write_room(struct good_plugin *good, uint64_t bytes, struct tidings_error *error) {
  char text[24];
  int len = snprintf(text, sizeof text, "%llu", (unsigned long long)bytes);
  struct tidings_span span = {text, (size_t)len};
  return bytes ? write_line(good, "room", &span, error) : TIDINGS_OK;
}

/* Stays in the call until a process has opened the FIFO "gate" in the store folder for writing and
 * has closed it. */
static void wait_at_gate(struct good_plugin *good) {
  char byte;
  int fd = openat(good->folder, "gate", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  while (read(fd, &byte, 1) > 0) continue;
  close(fd);
}

/* A result of the tool `wait` waits at the gate. */
static int32_t on_tool_result(struct tidings_plugin *plugin,
                              const struct tidings_tool_result *result,
                              const struct tidings_reply **ret_reply, struct tidings_error *error) {
  if (result->size >= TIDINGS_SIZE_TO(struct tidings_tool_result, room_bytes) &&
      write_room(self(plugin), result->room_bytes, error))
    return TIDINGS_E_STORE;
  if (is(&result->tool, "wait")) wait_at_gate(self(plugin));
  return deliver(self(plugin), "tool_result", &result->session, ret_reply, error);
}

static int32_t on_chat_request(struct tidings_plugin *plugin,
                               const struct tidings_chat_request *request,
                               const struct tidings_reply **ret_reply,
                               struct tidings_error *error) {
  for (size_t i = 0; i < request->message_count; i++) {
    if (write_line(self(plugin), "sends", request->messages[i], error)) return TIDINGS_E_STORE;
  }
  if (request->size >= TIDINGS_SIZE_TO(struct tidings_chat_request, room_bytes) &&
      write_room(self(plugin), request->room_bytes, error))
    return TIDINGS_E_STORE;
  return deliver(self(plugin),
                 request->origin == TIDINGS_ORIGIN_SYSTEM ? "system_request" : "chat_request",
                 &request->session, ret_reply, error);
}

/* Writes a byte to the FIFO "rings". The next build reads it there; a host may have read it too. */
static void ring(struct good_plugin *good) {
  atomic_fetch_add(&good->rings, 1);
  if (good->fifo >= 0 && write(good->fifo, "", 1) != 1)
    atomic_fetch_add(&good->out, 1); /* the host gets this reply */
}

/* Takes the code with which a `wake` must fail from the file "wake-fails" in the store folder; 0:
 * there is no such file. */
static int32_t take_failure(struct good_plugin *good) {
  char text[8] = "";
  int fd = openat(good->folder, "wake-fails", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return TIDINGS_OK;
  bool taken = read(fd, text, sizeof text - 1) > 0 && unlinkat(good->folder, "wake-fails", 0) == 0;
  close(fd);
  return taken ? (int32_t)strtol(text, NULL, 10) : TIDINGS_E_STORE;
}

static int starts(const struct tidings_span *text, const char *start) {
  return text->len > strlen(start) && memcmp(text->ptr, start, strlen(start)) == 0;
}

/* The event `wait` waits at the gate, and `ring` rings. From `keep` to `give back` a reply counts
 * as not released, so that close answers BUSY. `reply` gets a reply, `past` one whose time has come
 * long ago, and `later` one whose time comes in the year 2100. */
static int32_t on_event(struct tidings_plugin *plugin, const struct tidings_span *event,
                        const struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct good_plugin *good = self(plugin);
  if (atomic_load(&good->closed)) return fail(error, TIDINGS_E_CLOSED, "quiesced");
  if (is(event, "wait")) wait_at_gate(good);
  if (is(event, "ring") || is(event, "{\"type\":\"ring\"}")) ring(good);
  if (is(event, "keep")) atomic_fetch_add(&good->out, 1);
  if (is(event, "give back")) atomic_fetch_sub(&good->out, 1);
  int32_t code = write_line(good, "event", event, error);
  int64_t wake_at_ms = starts(event, "{\"type\":\"past\",")    ? 56
                       : starts(event, "{\"type\":\"later\",") ? 4102444800000
                                                               : 0;
  if (code) return code;
  if (starts(event, "{\"type\":\"wake\",")) code = take_failure(good);
  if (code) return fail(error, code, "this wake was to fail");
  if (is(event, "reply") || wake_at_ms) code = give_reply(good, 0, 0, ret_reply);
  if (!code && wake_at_ms) writable(*ret_reply)->reply.wake_at_ms = wake_at_ms;
  return code;
}

static int32_t settle(struct tidings_plugin *plugin, const struct tidings_settlement *settlement,
                      const struct tidings_reply **ret_reply, struct tidings_error *error) {
  char text[64];
  if (settlement->delivery_id == 404) return fail(error, TIDINGS_E_NOT_FOUND, "no delivery 404");
  (void)snprintf(text, sizeof text, "%llu %u", (unsigned long long)settlement->delivery_id,
                 (unsigned)settlement->outcome);
  struct tidings_span line = span(text);
  int32_t code = write_line(self(plugin), "settle", &line, error);
  return code || !ret_reply ? code : give_reply(self(plugin), 0, 0, ret_reply);
}

static void release(struct tidings_plugin *plugin, const struct tidings_reply *reply) {
  if (!reply) return;
  struct good_reply *made = writable(reply);
  memset(made, 0xDD, sizeof *made); /* shows in a test if somebody has kept a pointer */
  free(made);
  atomic_fetch_sub(&self(plugin)->out, 1);
}

static int32_t quiesce(struct tidings_plugin *plugin, struct tidings_error *error) {
  if (atomic_load(&self(plugin)->out)) return fail(error, TIDINGS_E_BUSY, "1 reply is out");
  atomic_store(&self(plugin)->closed, 1);
  return TIDINGS_OK;
}

static void free_instance(struct good_plugin *good) {
  if (good->log >= 0) close(good->log);
  if (good->lock >= 0) close(good->lock);
  if (good->fifo >= 0) close(good->fifo);
  if (good->folder >= 0) close(good->folder);
  free(good->configuration);
  free(good);
}

static int32_t close_instance(struct tidings_plugin *plugin, struct tidings_error *error) {
  int32_t code = quiesce(plugin, error);
  if (!code) free_instance(self(plugin));
  return code;
}

static int32_t open_folder(struct good_plugin *good, const struct tidings_span *store,
                           struct tidings_error *error) {
  char path[4096];
  if (store->len == 0 || store->len >= sizeof path)
    return fail(error, TIDINGS_E_STORE, "store_dir is empty");
  memcpy(path, store->ptr, store->len);
  path[store->len] = '\0';
  if (mkdir(path, 0700) && errno != EEXIST)
    return fail(error, TIDINGS_E_STORE, "cannot make the store folder");
  good->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  good->lock = openat(good->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  good->log = openat(good->folder, "log", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (good->folder < 0 || good->lock < 0 || good->log < 0)
    return fail(error, TIDINGS_E_STORE, "cannot open the store folder");
  if (flock(good->lock, LOCK_EX | LOCK_NB))
    return fail(error, TIDINGS_E_STORE, "the store is open in this process already");
  if (faccessat(good->folder, "refuse-" GOOD_BUILD_ID, F_OK, 0) == 0)
    return fail(error, TIDINGS_E_STORE, "build " GOOD_BUILD_ID " does not want this store");
  return TIDINGS_OK;
}

static void set_functions(struct tidings_plugin *plugin) {
  plugin->on_tool_result = on_tool_result;
  plugin->on_chat_request = on_chat_request;
  plugin->on_event = on_event;
  plugin->settle = settle;
  plugin->release = release;
  plugin->quiesce = quiesce;
  plugin->close = close_instance;
}

static int32_t open_instance(const struct tidings_host *host,
                             const struct tidings_open_options *options,
                             struct tidings_plugin **ret_plugin, struct tidings_error *error) {
  struct tidings_span configuration =
      options->configuration.len ? options->configuration : span("{}");
  if (configuration.ptr[0] != '{')
    return fail(error, TIDINGS_E_SCHEMA, "configuration is not an object");
  struct good_plugin *good = calloc(1, sizeof *good);
  if (!good) return fail(error, TIDINGS_E_NOMEM, "no memory");
  good->plugin.size = sizeof good->plugin + LATER_BYTES;
  memset(&good->later, 0xEE, sizeof good->later);
  set_functions(&good->plugin);
  good->host = host;
  good->folder = good->lock = good->log = good->fifo = -1;
  good->configuration = strndup(configuration.ptr, configuration.len);
  int32_t code = good->configuration ? open_folder(good, &options->store_dir, error)
                                     : fail(error, TIDINGS_E_NOMEM, "no memory");
  if (code) {
    free_instance(good);
    return code;
  }
  struct tidings_span said = span("opened " GOOD_BUILD_ID);
  host->log(host->context, TIDINGS_LOG_INFO, &said);
  *ret_plugin = &good->plugin;
  return TIDINGS_OK;
}

/* The contract's symbol. It has more fields than its type, so it has another name in C. */
extern TIDINGS_EXPORT const struct good_entry longer_entry __asm__(TIDINGS_ENTRY_SYMBOL);
const struct good_entry longer_entry = {
    .entry = {.size = sizeof(struct tidings_entry) + LATER_BYTES,
              .abi_major = TIDINGS_ABI_MAJOR,
              .abi_minor = GOOD_MINOR,
              .name = "good",
              .version = "1.2.3",
              .build_id = GOOD_BUILD_ID,
              .open = open_instance,
              .get_extension = good_get_extension},
    .later = {.bytes = {0xEE}},
};
