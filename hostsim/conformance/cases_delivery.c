/* SPDX-License-Identifier: MIT
 *
 * conformance/cases_delivery.c: the two phases of a delivery, and many threads at once.
 */
#include "common/clock.h"
#include "conformance/trial.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static uint64_t lease_one(struct tidings_plugin *plugin) {
  const struct tidings_reply *reply = trial_deliver(plugin, "s");
  if (!reply || reply->delivery_id == 0) trial_fail("a delivery has an id");
  uint64_t id = reply->delivery_id;
  plugin->release(plugin, reply);
  return id;
}

static void unknown_id(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_error error = {.size = sizeof error};
  const uint64_t ids[] = {999999, UINT64_MAX};
  for (size_t i = 0; i < 2; i++) {
    trial_expect(TIDINGS_E_NOT_FOUND,
                 trial_settle(plugin, ids[i], TIDINGS_OUTCOME_COMMITTED, &error), &error,
                 "settle of an unknown delivery");
    trial_expect(TIDINGS_E_NOT_FOUND,
                 trial_settle(plugin, ids[i], TIDINGS_OUTCOME_ROLLED_BACK, &error), &error,
                 "roll back of an unknown delivery");
  }
  trial_close(plugin);
}

static void settle_twice(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_error error = {.size = sizeof error};
  trial_push(plugin, "s", "one");
  uint64_t id = lease_one(plugin);
  for (int i = 0; i < 3; i++) {
    trial_expect(TIDINGS_OK, trial_settle(plugin, id, TIDINGS_OUTCOME_COMMITTED, &error), &error,
                 "settle, again and again");
  }
  trial_expect(TIDINGS_E_STATE, trial_settle(plugin, id, TIDINGS_OUTCOME_ROLLED_BACK, &error),
               &error, "roll back what was committed");
  trial_expect_nothing(plugin, "s");
  trial_close(plugin);
}

static void roll_back(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_error error = {.size = sizeof error};
  trial_push(plugin, "s", "one");
  uint64_t id = lease_one(plugin);
  trial_expect_nothing(plugin, "s"); /* a leased notification is not pending */
  trial_expect(TIDINGS_OK, trial_settle(plugin, id, TIDINGS_OUTCOME_ROLLED_BACK, &error), &error,
               "roll back");
  trial_expect(TIDINGS_OK, trial_settle(plugin, id, TIDINGS_OUTCOME_ROLLED_BACK, &error), &error,
               "roll back again");
  trial_expect(TIDINGS_E_STATE, trial_settle(plugin, id, TIDINGS_OUTCOME_COMMITTED, &error), &error,
               "commit what was rolled back");
  trial_expect_delivery(plugin, "s", "one");
  trial_expect_nothing(plugin, "s");
  trial_close(plugin);
}

static void survives_reopen(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_error error = {.size = sizeof error};
  trial_push(plugin, "s", "one");
  uint64_t id = lease_one(plugin);
  trial_push(plugin, "s", "two");
  trial_close(plugin);
  plugin = trial_open(trial, NULL); /* the lease belongs to the process, not to the instance */
  trial_expect_delivery(plugin, "s", "two");
  trial_expect(TIDINGS_OK, trial_settle(plugin, id, TIDINGS_OUTCOME_COMMITTED, &error), &error,
               "settle what an earlier instance leased");
  trial_expect_nothing(plugin, "s");
  trial_close(plugin);
}

static void one_phase(struct trial *trial) {
  trial_load(trial);
  struct tidings_open_options options = trial_options(trial);
  options.settle_on_return = 1;
  struct tidings_plugin *plugin = trial_open(trial, &options);
  trial_push(plugin, "s", "one");
  const struct tidings_reply *reply = trial_deliver(plugin, "s");
  if (!reply || reply->notification_count != 1 || reply->delivery_id != 0)
    trial_fail("with settle_on_return a delivery hands out what is pending and has no id");
  plugin->release(plugin, reply);
  trial_expect_nothing(plugin, "s");
  trial_close(plugin);
}

static void chat_request_delivers(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  trial_push(plugin, "s", "one");
  struct tidings_chat_request request = {
      .size = sizeof request, .session = trial_span("s"), .content = trial_span("hello")};
  const struct tidings_reply *reply = NULL;
  struct tidings_error error = {.size = sizeof error};
  trial_expect(TIDINGS_OK, plugin->on_chat_request(plugin, &request, &reply, &error), &error,
               "on_chat_request");
  if (!reply || reply->notification_count != 1)
    trial_fail("a chat request carries what is pending");
  uint64_t id = reply->delivery_id;
  plugin->release(plugin, reply);
  trial_expect(TIDINGS_OK, trial_settle(plugin, id, TIDINGS_OUTCOME_COMMITTED, &error), &error,
               "settle");
  trial_expect_nothing(plugin, "s");
  trial_close(plugin);
}

/* Some threads push, others deliver and settle, all in one session. Each message is delivered
 * exactly once. */
#define PUSHERS 4u
#define DELIVERERS 4u
#define PUSHES 25u
#define DEADLINE_S 20

struct crowd {
  struct tidings_plugin *plugin;
  atomic_uint next_pusher;
  atomic_uint delivered;
  atomic_uint seen[PUSHERS * PUSHES];
};

static void *push_many(void *context) {
  struct crowd *crowd = context;
  unsigned pusher = atomic_fetch_add(&crowd->next_pusher, 1);
  for (unsigned i = 0; i < PUSHES; i++) {
    char message[32];
    snprintf(message, sizeof message, "%u", pusher * PUSHES + i);
    trial_push(crowd->plugin, "s", message);
  }
  return NULL;
}

static void note_delivered(struct crowd *crowd, const struct tidings_reply *reply) {
  for (size_t i = 0; i < reply->notification_count; i++) {
    const struct tidings_span *message = &reply->notifications[i]->text;
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)message->len, message->ptr);
    unsigned number = (unsigned)strtoul(text, NULL, 10);
    if (number >= PUSHERS * PUSHES || atomic_fetch_add(&crowd->seen[number], 1) != 0)
      trial_fail("'%s' was delivered twice, or never pushed", text);
    atomic_fetch_add(&crowd->delivered, 1);
  }
}

static void *deliver_many(void *context) {
  struct crowd *crowd = context;
  int64_t deadline_ms = clock_mono_ms() + (int64_t)DEADLINE_S * 1000;
  while (atomic_load(&crowd->delivered) < PUSHERS * PUSHES && clock_mono_ms() < deadline_ms) {
    const struct tidings_reply *reply = NULL;
    struct tidings_error error = {.size = sizeof error};
    int32_t code = trial_tool_result(crowd->plugin, "s", &reply, &error);
    if (code == TIDINGS_E_BUSY) continue; /* nothing is lost: try again in the next round */
    trial_expect(TIDINGS_OK, code, &error, "on_tool_result among threads");
    if (!reply) continue;
    uint64_t id = reply->delivery_id;
    note_delivered(crowd, reply);
    crowd->plugin->release(crowd->plugin, reply);
    if (id != 0) {
      code = trial_settle(crowd->plugin, id, TIDINGS_OUTCOME_COMMITTED, &error);
      if (code != TIDINGS_E_BUSY) /* after BUSY the plugin remembers the settle */
        trial_expect(TIDINGS_OK, code, &error, "settle among threads");
    }
  }
  return NULL;
}

static void threads(struct trial *trial) {
  trial_load(trial);
  struct crowd crowd = {.plugin = trial_open(trial, NULL)};
  pthread_t crew[PUSHERS + DELIVERERS];
  for (size_t i = 0; i < PUSHERS + DELIVERERS; i++)
    if (pthread_create(&crew[i], NULL, i < PUSHERS ? push_many : deliver_many, &crowd) != 0)
      trial_fail("no thread could be started");
  for (size_t i = 0; i < PUSHERS + DELIVERERS; i++) pthread_join(crew[i], NULL);
  if (atomic_load(&crowd.delivered) != PUSHERS * PUSHES)
    trial_fail("%u were pushed, %u delivered", PUSHERS * PUSHES, atomic_load(&crowd.delivered));
  trial_expect_nothing(crowd.plugin, "s");
  trial_close(crowd.plugin);
}

/* -- room -------------------------------------------------------------------------------------- */

/* Returns how many bytes a tool result, or a chat request, gets if it has this much room. Settles
 * the delivery with `outcome`.
 */
static uint64_t bytes_in_room(struct tidings_plugin *plugin, bool chat, uint64_t room,
                              uint32_t outcome, size_t *ret_shown) {
  struct tidings_tool_result result = {
      .size = sizeof result, .session = trial_span("s"), .room_bytes = room};
  struct tidings_chat_request request = {
      .size = sizeof request, .session = trial_span("s"), .room_bytes = room};
  const struct tidings_reply *reply = NULL;
  struct tidings_error error = {.size = sizeof error};
  uint64_t bytes = 0;
  trial_expect(TIDINGS_OK,
               chat ? plugin->on_chat_request(plugin, &request, &reply, &error)
                    : plugin->on_tool_result(plugin, &result, &reply, &error),
               &error, "a carrier with room");
  for (size_t i = 0; reply && i < reply->part_count; i++) bytes += reply->parts[i]->text.len;
  *ret_shown = reply ? reply->notification_count : 0;
  uint64_t id = reply ? reply->delivery_id : 0;
  plugin->release(plugin, reply);
  if (id) trial_expect(TIDINGS_OK, trial_settle(plugin, id, outcome, &error), &error, "settle");
  if (room && bytes > room)
    trial_fail("a reply with %llu bytes of text, and room for %llu", (unsigned long long)bytes,
               (unsigned long long)room);
  return bytes;
}

static void room(struct trial *trial) {
  enum { NOTES = 20 };
  size_t shown = 0, delivered = 0;
  trial_load(trial);
  if (trial->entry->abi_minor < 1) trial_skip("room_bytes is a field of ABI 1.1");
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  for (int i = 0; i < NOTES; i++) trial_push(plugin, "s", "a notification of some length");
  uint64_t all = bytes_in_room(plugin, false, 0, TIDINGS_OUTCOME_ROLLED_BACK, &shown);
  if (shown != NOTES) trial_fail("without a bound %zu of %d were delivered", shown, NOTES);
  bytes_in_room(plugin, false, all, TIDINGS_OUTCOME_ROLLED_BACK, &shown);
  if (shown != NOTES) trial_fail("with room for all, %zu of %d were delivered", shown, NOTES);
  bytes_in_room(plugin, true, all - 1, TIDINGS_OUTCOME_ROLLED_BACK, &shown);
  if (shown == 0 || shown >= NOTES)
    trial_fail("with a byte less %zu of %d were delivered", shown, NOTES);
  bytes_in_room(plugin, true, 1, TIDINGS_OUTCOME_COMMITTED, &shown);
  if (shown) trial_fail("%zu were delivered in one byte", shown);
  for (int i = 0; delivered < NOTES && i < NOTES; i++) {
    bytes_in_room(plugin, i % 2, all * 2 / 3, TIDINGS_OUTCOME_COMMITTED, &shown);
    delivered += shown;
  }
  if (delivered != NOTES) trial_fail("%zu of %d were delivered in the end", delivered, NOTES);
  trial_expect_nothing(plugin, "s");
  trial_close(plugin);
}

const struct conformance_case cases_delivery[] = {
    {"delivery.chat-request", "a chat request carries what is pending", chat_request_delivers},
    {"delivery.roll-back", "what was rolled back is delivered again", roll_back},
    {"delivery.one-phase", "settle_on_return settles at once", one_phase},
    {"delivery.room", "no reply has more text than its carrier has room for; the rest comes later",
     room},
    {"settle.unknown-id", "an unknown delivery is NOT_FOUND", unknown_id},
    {"settle.twice", "settling twice is harmless, the other way is STATE", settle_twice},
    {"settle.after-reopen", "leases outlive the instance", survives_reopen},
    {"threads.one-session", "pushes and deliveries from many threads: each exactly once", threads},
    {NULL, NULL, NULL},
};
