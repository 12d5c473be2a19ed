/* SPDX-License-Identifier: MIT
 *
 * plugin.c: a plugin of version 1.0. All that it hands out ends at an inaccessible page and is gone
 * when it was given back, so that a host which reads more than the struct has crashes. It stores
 * nothing: each hook answers with one of everything.
 */
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include <tidings/tidings.h>

#include "guard.h"

struct instance {
  int fds[2]; /* of the wake descriptor */
  int rings;
};

static struct instance instance;
static struct tidings_plugin *table;
static struct tidings_query *query_table;
static struct tidings_wake *wake_table;

static struct tidings_span span(const char *text) {
  return (struct tidings_span){text, strlen(text)};
}

static int32_t fail(struct tidings_error *error, int32_t code, const char *text) {
  if (!error || error->size < TIDINGS_ERROR_SIZE_1_0) return code;
  error->code = code;
  (void)snprintf(error->text, sizeof error->text, "%s", text);
  return code;
}

/* -- replies ----------------------------------------------------------------------------------- */

#define GUARDED(object) guard_copy(&(object), sizeof(object))

static const struct tidings_status *make_status(void) {
  struct tidings_span id = span("m1");
  const struct tidings_span *first = GUARDED(id);
  struct tidings_status status = {.size = sizeof status,
                                  .state = TIDINGS_STATE_BUSY,
                                  .messages = GUARDED(first),
                                  .message_count = 1,
                                  .detail = span("detail")};
  return GUARDED(status);
}

static const struct tidings_action *make_action(void) {
  struct tidings_message message = {
      .size = sizeof message, .id = span("m1"), .content = span("Hello.")};
  const struct tidings_message *first = GUARDED(message);
  struct tidings_action action = {.size = sizeof action,
                                  .type = TIDINGS_ACTION_START_TURN,
                                  .messages = GUARDED(first),
                                  .message_count = 1};
  return GUARDED(action);
}

static const struct tidings_reply *make_reply(void) {
  struct tidings_notification note = {.size = sizeof note,
                                      .level = TIDINGS_LEVEL_ERROR,
                                      .kind_source = span("tool"),
                                      .kind_name = span("failed"),
                                      .text = span("It failed."),
                                      .count = 1};
  struct tidings_part part = {.size = sizeof part, .text = span("It failed.\n")};
  const struct tidings_notification *first_note = GUARDED(note);
  const struct tidings_part *first_part = GUARDED(part);
  const struct tidings_action *first_action = make_action();
  struct tidings_reply reply = {.size = sizeof reply,
                                .delivery_id = 17,
                                .notifications = GUARDED(first_note),
                                .notification_count = 1,
                                .parts = GUARDED(first_part),
                                .part_count = 1,
                                .actions = GUARDED(first_action),
                                .action_count = 1,
                                .status = make_status(),
                                .ledger = span("{}")};
  return GUARDED(reply);
}

static void release(struct tidings_plugin *plugin, const struct tidings_reply *reply) {
  (void)plugin;
  if (!reply) return;
  const struct tidings_action *action = reply->actions[0];
  guard_drop(reply->status->messages[0], sizeof(struct tidings_span));
  guard_drop(reply->status->messages, sizeof(void *));
  guard_drop(reply->status, sizeof *reply->status);
  guard_drop(action->messages[0], sizeof(struct tidings_message));
  guard_drop(action->messages, sizeof(void *));
  guard_drop(action, sizeof *action);
  guard_drop(reply->actions, sizeof(void *));
  guard_drop(reply->parts[0], sizeof(struct tidings_part));
  guard_drop(reply->parts, sizeof(void *));
  guard_drop(reply->notifications[0], sizeof(struct tidings_notification));
  guard_drop(reply->notifications, sizeof(void *));
  guard_drop(reply, sizeof *reply);
}

/* -- functions --------------------------------------------------------------------------------- */

static int32_t on_tool_result(struct tidings_plugin *plugin,
                              const struct tidings_tool_result *result,
                              const struct tidings_reply **ret_reply, struct tidings_error *error) {
  (void)plugin;
  if (result->size < TIDINGS_TOOL_RESULT_SIZE_1_0 || result->flags || !result->content.len)
    return fail(error, TIDINGS_E_INVAL, "result");
  *ret_reply = make_reply();
  return 0;
}

static int32_t on_chat_request(struct tidings_plugin *plugin,
                               const struct tidings_chat_request *request,
                               const struct tidings_reply **ret_reply,
                               struct tidings_error *error) {
  (void)plugin;
  if (request->size < TIDINGS_CHAT_REQUEST_SIZE_1_0 || request->message_count != 1 ||
      request->messages[0]->len != 2)
    return fail(error, TIDINGS_E_INVAL, "request");
  *ret_reply = make_reply();
  return 0;
}

static int32_t on_event(struct tidings_plugin *plugin, const struct tidings_span *event,
                        const struct tidings_reply **ret_reply, struct tidings_error *error) {
  (void)plugin;
  if (!event->len || event->ptr[event->len - 1] != '}')
    return fail(error, TIDINGS_E_INVAL, "event: not JSON");
  *ret_reply = make_reply();
  return 0;
}

static int32_t settle(struct tidings_plugin *plugin, const struct tidings_settlement *settlement,
                      const struct tidings_reply **ret_reply, struct tidings_error *error) {
  (void)plugin;
  if (settlement->size < TIDINGS_SETTLEMENT_SIZE_1_0 || settlement->delivery_id != 17)
    return fail(error, TIDINGS_E_NOT_FOUND, "settlement");
  if (ret_reply) *ret_reply = make_reply();
  return 0;
}

static int32_t quiesce(struct tidings_plugin *plugin, struct tidings_error *error) {
  (void)plugin, (void)error;
  return 0;
}

static int32_t close_instance(struct tidings_plugin *plugin, struct tidings_error *error) {
  (void)error;
  close(instance.fds[0]);
  close(instance.fds[1]);
  guard_drop(plugin, sizeof *plugin);
  return 0;
}

static int32_t open_instance(const struct tidings_host *host,
                             const struct tidings_open_options *options,
                             struct tidings_plugin **ret_plugin, struct tidings_error *error) {
  struct tidings_plugin functions = {.size = sizeof functions,
                                     .on_tool_result = on_tool_result,
                                     .on_chat_request = on_chat_request,
                                     .on_event = on_event,
                                     .settle = settle,
                                     .release = release,
                                     .quiesce = quiesce,
                                     .close = close_instance};
  if (host->size < TIDINGS_HOST_SIZE_1_0 || options->size < TIDINGS_OPEN_OPTIONS_SIZE_1_0)
    return fail(error, TIDINGS_E_INVAL, "shorter than 1.0");
  if (pipe(instance.fds)) return fail(error, TIDINGS_E_STORE, strerror(errno));
  instance.rings = 1;
  *ret_plugin = table = GUARDED(functions);
  return 0;
}

/* -- extensions -------------------------------------------------------------------------------- */

static int32_t query(struct tidings_plugin *plugin, const struct tidings_span *request,
                     const struct tidings_answer **ret_answer, struct tidings_error *error) {
  (void)plugin;
  if (request->len > 256) return fail(error, TIDINGS_E_UNSUPPORTED, "unknown query");
  struct tidings_answer answer = {.size = sizeof answer, .json = span("{\"count\":1}")};
  *ret_answer = GUARDED(answer);
  return 0;
}

static void release_answer(struct tidings_plugin *plugin, const struct tidings_answer *answer) {
  (void)plugin;
  guard_drop(answer, sizeof *answer);
}

static int32_t descriptor(struct tidings_plugin *plugin, int32_t *ret_fd,
                          struct tidings_error *error) {
  (void)plugin, (void)error;
  *ret_fd = instance.fds[0];
  return 0;
}

static int32_t next_session(struct tidings_plugin *plugin, char *buffer, size_t buffer_size,
                            size_t *ret_len, struct tidings_error *error) {
  (void)plugin, (void)buffer_size, (void)error;
  buffer[0] = 's';
  *ret_len = instance.rings ? 1 : 0;
  instance.rings = 0;
  return 0;
}

static const void *get_extension(const char *id) {
  return strcmp(id, TIDINGS_EXT_QUERY) == 0  ? (const void *)query_table
         : strcmp(id, TIDINGS_EXT_WAKE) == 0 ? (const void *)wake_table
                                             : NULL;
}

/* -- the entry --------------------------------------------------------------------------------- */

/* The symbol stands at the end of the first of two pages, the second of which is closed. */
#define ENTRY_BYTES 48
_Static_assert(sizeof(struct tidings_entry) == ENTRY_BYTES, "the entry of version 1.0");
extern char old_entry_pages[2 * 4096];
char old_entry_pages[2 * 4096] __attribute__((aligned(4096), used));
__asm__(".globl tidings_entry\n"
        ".type tidings_entry, @object\n"
        ".size tidings_entry, 48\n"
        ".set tidings_entry, old_entry_pages + 4096 - 48\n");

__attribute__((constructor)) static void make_tables(void) {
  struct tidings_entry entry = {.size = sizeof entry,
                                .abi_major = TIDINGS_ABI_MAJOR,
                                .abi_minor = TIDINGS_ABI_MINOR,
                                .name = "old",
                                .version = "1.0.0",
                                .build_id = "",
                                .open = open_instance,
                                .get_extension = get_extension};
  struct tidings_query queries = {
      .size = sizeof queries, .query = query, .release_answer = release_answer};
  struct tidings_wake wakes = {
      .size = sizeof wakes, .descriptor = descriptor, .next_session = next_session};
  memcpy(old_entry_pages + 4096 - ENTRY_BYTES, &entry, sizeof entry);
  (void)mprotect(old_entry_pages + 4096, 4096, PROT_NONE);
  query_table = GUARDED(queries);
  wake_table = GUARDED(wakes);
}
