/* SPDX-License-Identifier: MIT
 *
 * sim/expect.c: writes the model's answers and states as JSON. Message ids are the model's numbers.
 */
#include "sim/expect.h"

#include "sim/model/parts.h"

#include <stdio.h>
#include <string.h>
#include <tidings/hostkit.h>
#include <time.h>

static const char *const state_names[] = {"idle",     "starting", "busy",
                                          "retrying", "waiting",  "error"};
static const char *const phase_names[] = {NULL, "streaming", "tools"};
static const char *const message_states[] = {"queued", "steering",  "offered", "leased",
                                             "fired",  "cancelled", "closed"};
static const char *const delivery_states[] = {"leased", "committed", "rolled_back", "rewound"};
static const char *const outcome_names[OUTCOMES] = {
    "delivered", "superseded", "withdrawn", "expired", "filtered", "dropped", "closed"};

static json_t *expected_ids(const struct model *model, const int *messages, unsigned count) {
  json_t *list = json_array();
  for (unsigned i = 0; i < count; i++)
    json_array_append_new(list, json_integer(model->messages[messages[i]].id));
  return list;
}

/* Lists the ids in the order of the messages' places, which moves may have changed since the turn
 * started. */
static json_t *turn_ids(const struct model *model, const int *messages, unsigned count) {
  json_t *list = json_array();
  for (unsigned place = 0; place < model->queue_length; place++) {
    for (unsigned i = 0; i < count; i++)
      if (messages[i] == model->queue[place])
        json_array_append_new(list, json_integer(model->messages[messages[i]].id));
  }
  if (json_array_size(list) == count) return list;
  json_decref(list); /* the plugin's own message has no place */
  return expected_ids(model, messages, count);
}

static json_t *words(uint32_t serial) {
  char text[NAME_SIZE];
  request_text_of_words(serial, text);
  return serial != 0 ? json_string(text) : json_null();
}

/* Writes a time like the queries: RFC 3339 in UTC. */
static json_t *moment(int64_t time_ms) {
  char text[NAME_SIZE];
  struct tm utc;
  time_t seconds = (time_t)(time_ms / 1000);
  (void)gmtime_r(&seconds, &utc);
  size_t len = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  (void)snprintf(text + len, sizeof text - len, ".%03dZ", (int)(time_ms % 1000));
  return json_string(text);
}

static json_t *expected_status(const struct model *model) {
  const struct model_run *run = &model->run;
  json_t *object = json_pack("{s:s, s:s?, s:o, s:I, s:o, s:o}", "state", state_names[run->state],
                             "phase", run->state == BUSY ? phase_names[run->phase] : NULL,
                             "messages", turn_ids(model, run->turn, run->turn_count), "attempt",
                             (json_int_t)run->attempt, "message", words(run->words), "orphaned",
                             turn_ids(model, run->orphaned, run->orphaned_count));
  return object;
}

static bool has_started(const struct model *model) {
  enum run_state state = model->run.state;
  return state == BUSY || state == RETRYING || state == WAITING;
}

/* -- replies ----------------------------------------------------------------------------------- */

static json_t *expected_notification(const struct model *model, int index) {
  char message[2 * TEXT_SIZE];
  const struct model_item *item = &model->items[index];
  const struct note_kind *kind = &act_note_kinds[item->note];
  bytes_message(model, index, message);
  return json_pack("{s:s, s:s, s:s, s:s}", "source", kind->source, "name", kind->name, "level",
                   act_level_names[item->level], "message", message);
}

static json_t *system_content(const struct model *model, const struct model_message *message) {
  const struct model_item *item = &model->items[message->text];
  const struct note_kind *kind = &act_note_kinds[item->note];
  return json_sprintf("%s (%s%s%s); see the notifications in this message.",
                      item->level == TIDINGS_LEVEL_CRITICAL ? "Critical notification"
                                                            : "Notification",
                      kind->source, kind->name[0] != '\0' ? "." : "", kind->name);
}

static json_t *turn_message(const struct model *model, int index) {
  char text[TEXT_SIZE];
  const struct model_message *message = &model->messages[index];
  act_text_of_message(message->text, text);
  return json_pack(
      "{s:i, s:o, s:o, s:o}", "id", message->id, "content",
      message->system ? system_content(model, message) : json_string(text), "queued_at",
      message->waited && !message->system ? json_integer(message->stamp_ms) : json_null(),
      "trigger", message->trigger ? json_pack("{s:i}", "hook", message->id) : json_null());
}

static json_t *expected_actions(const struct model *model, const struct answer *answer) {
  json_t *list = json_array();
  if (answer->abort_stream) {
    json_array_append_new(list,
                          json_pack("{s:s, s:s}", "type", "abort_stream", "cause", "critical"));
  }
  if (answer->stop_turn)
    json_array_append_new(list, json_pack("{s:s, s:s}", "type", "stop_turn", "cause", "requested"));
  if (answer->offered_count > 0) {
    bool system = model->messages[answer->offered[0]].system;
    json_t *messages = json_array();
    for (unsigned i = 0; i < answer->offered_count; i++)
      json_array_append_new(messages, turn_message(model, answer->offered[i]));
    json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "type", "start_turn", "source",
                                          system ? "system" : "user", "messages", messages));
  }
  return list;
}

static json_t *shown(const struct model *model, const struct answer *answer) {
  json_t *list = json_array();
  for (unsigned i = 0; i < answer->shown_count; i++)
    json_array_append_new(list, expected_notification(model, answer->shown[i]));
  return list;
}

json_t *expect_answer(const struct model *model, const struct answer *answer,
                      const struct sim_settings *settings) {
  if (answer->error != 0) return json_pack("{s:s}", "error", hostkit_error_name(answer->error));
  if (answer->silent) return json_pack("{s:n}", "reply");
  json_t *reply = expected_status(model);
  json_object_set_new(reply, "started_at",
                      has_started(model) ? json_integer(model->run.started_ms) : json_null());
  return json_pack("{s:{s:b, s:o, s:o, s:o, s:o, s:b, s:o, s:b, s:o}, s:b}", "reply", "delivery",
                   answer->delivery >= 0, "notifications", shown(model, answer), "actions",
                   expected_actions(model, answer), "steered",
                   expected_ids(model, answer->steered, answer->steered_count), "status", reply,
                   "duplicate", answer->duplicate, "wake_at",
                   answer->wakes ? json_integer(answer->wake_at_ms) : json_null(), "ledger",
                   answer->ledger, "texts", expect_texts(model, answer, settings), "optional",
                   answer->optional);
}

/* -- queries ----------------------------------------------------------------------------------- */

/* Lists the messages that are not over, by their places. */
static json_t *expected_queue(const struct model *model) {
  json_t *list = json_array();
  for (unsigned i = 0; i < model->queue_length; i++) {
    const struct model_message *message = &model->messages[model->queue[i]];
    if (!message_is_over(message)) {
      json_array_append_new(
          list,
          json_pack("{s:i, s:s, s:o}", "id", message->id, "state", message_states[message->state],
                    "queued_at", message->waited ? json_integer(message->stamp_ms) : json_null()));
    }
  }
  return list;
}

json_t *expect_status(const struct model *model, const int pids[PEERS]) {
  json_t *object = expected_status(model);
  json_object_set_new(object, "queued", expected_queue(model));
  json_object_set_new(object, "compacting", json_boolean(model->run.compacting));
  json_object_set_new(object, "started_at",
                      has_started(model) ? json_integer(model->run.started_ms) : json_null());
  bool lives = model_owner_lives(model);
  json_t *owner = json_null();
  if (model->owned) {
    owner = json_pack("{s:b, s:I, s:o}", "alive", lives, "epoch", (json_int_t)model->epoch, "pid",
                      lives ? json_integer(pids[model->owner]) : json_null());
  }
  json_object_set_new(object, "attachment", owner);
  return object;
}

static void add_pending(const struct model *model, unsigned item, json_t *items) {
  json_t *shown_item = expected_notification(model, (int)item);
  json_object_set_new(shown_item, "time", moment(model->items[item].pushed_ms));
  json_array_append_new(items, shown_item);
}

static json_t *pack_pending(json_t *items, unsigned leased) {
  return json_pack("{s:I, s:I, s:o}", "count", (json_int_t)json_array_size(items), "leased",
                   (json_int_t)leased, "items", items);
}

json_t *expect_pending(const struct model *model) {
  json_t *items = json_array();
  unsigned leased = 0;
  for (unsigned i = 0; i < model->item_count; i++) {
    leased += model->items[i].held == LEASED;
    if (model->items[i].held == PENDING) add_pending(model, i, items);
  }
  return pack_pending(items, leased);
}

/* Does the resumed child name this delivery? It names every delivery that the plugin has named. */
static bool is_named(const struct model *model, unsigned i) {
  return items_is_copied(model, i) && model->deliveries[model->items[i].delivery].public_id != 0;
}

/* Does the newer item replace this one in the child? The copies there have the times of their
 * pushes, but not the order. */
static bool replaces_in_child(const struct model *model, unsigned newer, unsigned i) {
  const struct model_item *by = &model->items[newer], *item = &model->items[i];
  return item->due_ms != 0 && by->pushed_ms > item->pushed_ms && by->pushed_ms < item->time_ms;
}

static bool has_newer_named(const struct model *model, unsigned i) {
  for (unsigned newer = 0; newer < model->item_count; newer++)
    if (is_named(model, newer) && model->items[newer].outcome == DELIVERED &&
        (items_is_newer(model, (int)newer, (int)i) || replaces_in_child(model, newer, i)) &&
        items_are_about_the_same(model, (int)i, (int)newer))
      return true;
  return false;
}

/* Sorts items by commit, but an item for later as if it had been pushed at its time. */
static void put_in_order(const struct model *model, unsigned *items, unsigned count) {
  int64_t order_ms[MODEL_ITEMS] = {0}, newest_ms = INT64_MIN;
  for (unsigned i = 0; i < count; i++) {
    const struct model_item *item = &model->items[items[i]];
    unsigned at = i, which = items[i];
    bool by_time = items_was_for_later(item);
    int64_t own_ms = by_time || item->time_ms > newest_ms ? item->time_ms : newest_ms;
    if (!by_time) newest_ms = own_ms;
    for (; at > 0 && order_ms[at - 1] > own_ms; at--) {
      order_ms[at] = order_ms[at - 1];
      items[at] = items[at - 1];
    }
    order_ms[at] = own_ms;
    items[at] = which;
  }
}

json_t *expect_child(const struct model *model, bool resumed) {
  unsigned copied[MODEL_ITEMS], count = 0;
  json_t *items = json_array();
  for (unsigned i = 0; i < model->item_count; i++)
    if (model->items[i].held == PENDING || items_is_copied(model, i)) copied[count++] = i;
  put_in_order(model, copied, count);
  for (unsigned n = 0; n < count; n++) {
    unsigned i = copied[n];
    bool is_leased = items_is_copied(model, i),
         gone = (is_leased && model->items[i].recalled) ||
                (resumed && (is_named(model, i) || has_newer_named(model, i)));
    if (!gone && (model->items[i].held == PENDING || is_leased)) add_pending(model, i, items);
  }
  return pack_pending(items, 0);
}

json_t *expect_stats(const struct model *model) {
  json_t *outcomes = json_object();
  unsigned leased = 0, pending = 0;
  for (unsigned i = 0; i < model->item_count; i++) {
    leased += model->items[i].held == LEASED;
    pending += model->items[i].held == PENDING;
  }
  for (unsigned i = 0; i < OUTCOMES; i++)
    json_object_set_new(outcomes, outcome_names[i], json_integer((json_int_t)model->outcomes[i]));
  return json_pack("{s:I, s:I, s:I, s:o}", "pushed", (json_int_t)model->item_count, "pending",
                   (json_int_t)pending, "leased", (json_int_t)leased, "outcomes", outcomes);
}

/* Returns the outcome that a delivery states for an item. An unsettled delivery has delivered no
 * item. */
static const char *item_outcome_of(const struct model_delivery *delivery, unsigned item) {
  static const char *const unsettled[] = {"leased", NULL, "pending", NULL};
  const char *before = unsettled[delivery->state];
  return delivery->item_outcomes[item] == 1 && before
             ? before
             : outcome_names[delivery->item_outcomes[item] - 1];
}

static json_t *expected_deliveries(const struct model *model) {
  json_t *list = json_array();
  for (unsigned i = 0; i < model->delivery_count; i++) {
    const struct model_delivery *delivery = &model->deliveries[i];
    json_t *items = json_object();
    for (unsigned item = 0; item < model->item_count; item++) {
      if (delivery->item_outcomes[item] == 0) continue;
      const char *outcome = item_outcome_of(delivery, item);
      json_int_t before = json_integer_value(json_object_get(items, outcome));
      json_object_set_new(items, outcome, json_integer(before + 1));
    }
    json_array_append_new(list,
                          json_pack("{s:s, s:s, s:o}", "carrier",
                                    delivery->on_tool_result ? "tool_result" : "chat_request",
                                    "outcome", delivery_states[delivery->state], "items", items));
  }
  return list;
}

static const char *cause_name(unsigned cause) {
  switch (cause) {
  case RECOVERED: return "recovered";
  case ACT_TOOL_RESULT: return "tool_result";
  case ACT_CHAT_REQUEST: return "chat_request";
  case ACT_SETTLE: return "rolled_back";
  default: break;
  }
  if (cause <= ACT_SUBAGENT) return "notification";
  return cause <= ACT_WAKE ? act_event_types[cause] : "nothing";
}

json_t *expect_history(const struct model *model) {
  json_t *changes = json_array(), *messages = json_object();
  char key[NAME_SIZE];
  for (unsigned i = 0; i < model->change_count; i++) {
    const struct model_change *change = &model->changes[i];
    json_array_append_new(changes,
                          json_pack("{s:s, s:s, s:s}", "event", cause_name(change->cause), "from",
                                    state_names[change->from], "to", state_names[change->to]));
  }
  for (unsigned i = 0; i < model->message_count; i++) {
    const struct model_message *message = &model->messages[i];
    (void)snprintf(key, sizeof key, "%d", message->id);
    if (!message->system)
      json_object_set_new(messages, key, json_string(message_states[message->state]));
  }
  return json_pack("{s:o, s:o, s:o}", "changes", changes, "messages", messages, "deliveries",
                   expected_deliveries(model));
}
