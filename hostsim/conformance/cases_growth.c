/* SPDX-License-Identifier: MIT
 *
 * conformance/cases_growth.c: the size rule, struct by struct. A struct with exactly the length of
 * version 1.0 is at the end of a page, and the next page cannot be read. A longer struct, of a
 * later minor version, has zeros in the fields that the plugin does not know.
 */
#include "conformance/trial.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LATER_BYTES = 64 };

/* The fields after those of version 1.0. */
enum tail { TAIL_NONE, TAIL_ZEROS, TAIL_COUNT };

/* Copies the first `known` bytes and the tail to the end of a page, and sets the size to this
 * length. The copy stays until the case's process ends. */
static void *grown(const void *data, size_t known, enum tail tail) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint32_t size = (uint32_t)(known + (tail == TAIL_ZEROS ? LATER_BYTES : 0));
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || size > page || mprotect(pages + page, page, PROT_NONE))
    trial_skip("a page cannot be made inaccessible");
  char *copy = pages + page - size;
  memcpy(copy, data, known);
  memcpy(copy, &size, sizeof size);
  return copy;
}

static struct tidings_error *grown_error(enum tail tail) {
  struct tidings_error error = {.size = sizeof error};
  return grown(&error, TIDINGS_ERROR_SIZE_1_0, tail);
}

static void growth_host(struct trial *trial) {
  trial_load(trial);
  struct tidings_open_options options = trial_options(trial);
  for (enum tail tail = TAIL_NONE; tail < TAIL_COUNT; tail++) {
    struct tidings_host *host = grown(&trial->simhost.host, TIDINGS_HOST_SIZE_1_0, tail);
    struct tidings_plugin *plugin = NULL;
    struct tidings_error error = {.size = sizeof error};
    trial_expect(TIDINGS_OK, trial->entry->open(host, &options, &plugin, &error), &error, "open");
    memset(host, 0xA5, TIDINGS_HOST_SIZE_1_0); /* the plugin has a copy */
    trial_push(plugin, "s", "one");
    trial_expect_delivery(plugin, "s", "one");
    trial_close(plugin);
  }
}

static void growth_open_options(struct trial *trial) {
  trial_load(trial);
  struct tidings_open_options options = trial_options(trial);
  for (enum tail tail = TAIL_NONE; tail < TAIL_COUNT; tail++)
    trial_close(trial_open(trial, grown(&options, TIDINGS_OPEN_OPTIONS_SIZE_1_0, tail)));
}

static void growth_tool_result(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_tool_result result = {
      .size = sizeof result, .session = trial_span("s"), .content = trial_span("ok")};
  for (enum tail tail = TAIL_NONE; tail < TAIL_COUNT; tail++) {
    const struct tidings_reply *reply = NULL;
    struct tidings_error error = {.size = sizeof error};
    trial_push(plugin, "s", "one");
    trial_expect(TIDINGS_OK,
                 plugin->on_tool_result(plugin, grown(&result, TIDINGS_TOOL_RESULT_SIZE_1_0, tail),
                                        &reply, &error),
                 &error, "on_tool_result");
    if (!reply || reply->notification_count != 1) trial_fail("nothing was delivered on it");
    uint64_t id = reply->delivery_id;
    plugin->release(plugin, reply);
    trial_expect(TIDINGS_OK, trial_settle(plugin, id, TIDINGS_OUTCOME_COMMITTED, &error), &error,
                 "settle");
  }
  trial_close(plugin);
}

static void growth_chat_request(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_span id = trial_span("m1");
  const struct tidings_span *const ids[] = {&id};
  struct tidings_chat_request request = {
      .size = sizeof request, .session = trial_span("s"), .messages = ids, .message_count = 1};
  for (enum tail tail = TAIL_NONE; tail < TAIL_COUNT; tail++) {
    const struct tidings_reply *reply = NULL;
    struct tidings_error error = {.size = sizeof error};
    if (tail == TAIL_NONE) {
      trial_send(plugin, "{\"type\":\"message.submitted\",\"session\":\"s\",\"data\":{\"id\":"
                         "\"m1\",\"content\":\"hello\"}}");
    }
    trial_expect(TIDINGS_OK,
                 plugin->on_chat_request(
                     plugin, grown(&request, TIDINGS_CHAT_REQUEST_SIZE_1_0, tail), &reply, &error),
                 &error, "on_chat_request");
    if (!reply || reply->status->message_count != 1)
      trial_fail("the message did not start its turn");
    uint64_t delivery = reply->delivery_id;
    plugin->release(plugin, reply);
    trial_expect(TIDINGS_OK, trial_settle(plugin, delivery, TIDINGS_OUTCOME_ROLLED_BACK, &error),
                 &error, "settle"); /* now the notification is pending again */
  }
  trial_close(plugin);
}

static void growth_settlement(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  for (enum tail tail = TAIL_NONE; tail < TAIL_COUNT; tail++) {
    struct tidings_error error = {.size = sizeof error};
    trial_push(plugin, "s", "one");
    const struct tidings_reply *reply = trial_deliver(plugin, "s");
    if (!reply || reply->delivery_id == 0) trial_fail("nothing was delivered");
    struct tidings_settlement settlement = {.size = sizeof settlement,
                                            .outcome = TIDINGS_OUTCOME_COMMITTED,
                                            .delivery_id = reply->delivery_id};
    plugin->release(plugin, reply);
    trial_expect(
        TIDINGS_OK,
        plugin->settle(plugin, grown(&settlement, TIDINGS_SETTLEMENT_SIZE_1_0, tail), NULL, &error),
        &error, "settle");
    trial_expect_nothing(plugin, "s");
  }
  trial_close(plugin);
}

static void growth_error(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  static const char zeros[LATER_BYTES];
  for (enum tail tail = TAIL_NONE; tail < TAIL_COUNT; tail++) {
    struct tidings_error *error = grown_error(tail);
    uint32_t size = error->size;
    trial_expect(TIDINGS_E_INVAL, trial_event(plugin, "{bad", 4, error), error,
                 "an event that is not JSON");
    if (error->size != size) trial_fail("error.size was changed from %u to %u", size, error->size);
    if (tail == TAIL_ZEROS &&
        memcmp((const char *)error + TIDINGS_ERROR_SIZE_1_0, zeros, sizeof zeros) != 0)
      trial_fail("a field that the plugin does not know was written");
  }
  trial_close(plugin);
}

const struct conformance_case cases_growth[] = {
    {"growth.host", "a host struct of exactly version 1.0, and a longer one", growth_host},
    {"growth.open-options", "options of exactly version 1.0, and longer ones", growth_open_options},
    {"growth.tool-result", "a tool result of exactly version 1.0, and a longer one",
     growth_tool_result},
    {"growth.chat-request", "a chat request of exactly version 1.0, and a longer one",
     growth_chat_request},
    {"growth.settlement", "a settlement of exactly version 1.0, and a longer one",
     growth_settlement},
    {"growth.error", "an error struct of exactly version 1.0, and a longer one", growth_error},
    {NULL, NULL, NULL},
};
