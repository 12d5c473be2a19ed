/* SPDX-License-Identifier: MIT
 *
 * sim/plain.c: converts the plugin's answers to the form that expect.c writes: only facts that the
 * model knows, and message ids as numbers.
 */
#include "sim/expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *get(const json_t *object, const char *key) { return json_object_get(object, key); }

static json_t *copy(const json_t *object, const char *key) {
  json_t *value = get(object, key);
  return value ? json_incref(value) : json_null();
}

static json_t *plain_ids(const json_t *list, struct names *names) {
  json_t *numbers = json_array();
  size_t i = 0;
  const json_t *id = NULL;
  json_array_foreach(list, i, id) {
    json_array_append_new(numbers, json_integer(request_id_of_name(
                                       names, json_is_string(id) ? json_string_value(id) : "")));
  }
  return numbers;
}

static json_t *plain_state(const json_t *from, struct names *names) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "state", copy(from, "state"), "phase",
                   copy(from, "phase"), "messages", plain_ids(get(from, "messages"), names),
                   "attempt", copy(from, "attempt"), "message", copy(from, "message"), "orphaned",
                   plain_ids(get(from, "orphaned"), names), "started_at", copy(from, "started_at"));
}

static json_t *plain_notification(const json_t *from) {
  json_t *kind = get(from, "kind");
  return json_pack("{s:o, s:o, s:o, s:o}", "source", copy(kind, "source"), "name",
                   copy(kind, "name"), "level", copy(from, "level"), "message",
                   copy(from, "message"));
}

static json_t *notifications(const json_t *from) {
  json_t *list = json_array();
  size_t i = 0;
  const json_t *item = NULL;
  json_array_foreach(from, i, item) { json_array_append_new(list, plain_notification(item)); }
  return list;
}

static json_t *action(const json_t *from, struct names *names) {
  const char *type = json_string_value(get(from, "type"));
  if (!type || strcmp(type, "start_turn") != 0)
    return json_pack("{s:o, s:o}", "type", copy(from, "type"), "cause", copy(from, "cause"));
  json_t *messages = json_array();
  size_t i = 0;
  const json_t *message = NULL;
  json_array_foreach(get(from, "messages"), i, message) {
    json_t *id = get(message, "id");
    json_array_append_new(
        messages,
        json_pack("{s:i, s:o, s:o, s:o}", "id",
                  request_id_of_name(names, json_is_string(id) ? json_string_value(id) : ""),
                  "content", copy(message, "content"), "queued_at", copy(message, "queued_at"),
                  "trigger", copy(message, "trigger")));
  }
  return json_pack("{s:o, s:o, s:o}", "type", copy(from, "type"), "source", copy(from, "source"),
                   "messages", messages);
}

static json_t *plain_actions(const json_t *from, struct names *names) {
  json_t *list = json_array();
  size_t i = 0;
  const json_t *item = NULL;
  json_array_foreach(from, i, item) { json_array_append_new(list, action(item, names)); }
  return list;
}

json_t *plain_answer(const json_t *answer, struct names *names, const char *format,
                     uint64_t *ret_delivery) {
  *ret_delivery = 0;
  const json_t *error = get(answer, "error");
  if (error) return json_pack("{s:o}", "error", copy(error, "code"));
  const json_t *reply = get(answer, "reply");
  const json_t *state = get(reply, "status");
  if (!reply || !state || json_is_null(state)) return json_pack("{s:n}", "reply");
  const char *delivery = json_string_value(get(reply, "delivery"));
  *ret_delivery = delivery ? strtoull(delivery, NULL, 10) : 0;
  return json_pack("{s:{s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}}", "reply", "delivery",
                   delivery, "notifications", notifications(get(reply, "notifications")), "actions",
                   plain_actions(get(reply, "actions"), names), "steered",
                   plain_ids(get(reply, "steered"), names), "status", plain_state(state, names),
                   "duplicate", copy(reply, "duplicate"), "wake_at", copy(reply, "wake_at"),
                   "ledger", get(reply, "ledger"), "texts",
                   plain_texts(get(reply, "messages"), format));
}

static json_t *plain_queue(const json_t *from, struct names *names) {
  json_t *list = json_array();
  size_t i = 0;
  const json_t *message = NULL;
  json_array_foreach(from, i, message) {
    json_t *id = get(message, "id");
    json_array_append_new(
        list, json_pack("{s:i, s:o, s:o}", "id",
                        request_id_of_name(names, json_is_string(id) ? json_string_value(id) : ""),
                        "state", copy(message, "state"), "queued_at", copy(message, "queued_at")));
  }
  return list;
}

json_t *plain_status(const json_t *answer, struct names *names) {
  const json_t *from = get(answer, "answer");
  json_t *plain = plain_state(from, names);
  json_object_set_new(plain, "queued", plain_queue(get(from, "queued"), names));
  json_object_set_new(plain, "compacting", copy(from, "compacting"));
  const json_t *attachment = get(from, "attachment");
  json_t *owner = json_null();
  if (json_is_object(attachment)) {
    bool alive = json_is_true(get(attachment, "alive"));
    owner = json_pack("{s:b, s:o, s:o}", "alive", alive, "epoch", copy(attachment, "epoch"), "pid",
                      alive ? copy(attachment, "pid") : json_null());
  }
  json_object_set_new(plain, "attachment", owner);
  return plain;
}

json_t *plain_pending(const json_t *answer, struct names *names) {
  (void)names;
  const json_t *from = get(answer, "answer");
  json_t *items = json_array();
  size_t i = 0;
  const json_t *item = NULL;
  json_array_foreach(get(from, "items"), i, item) {
    json_t *plain = plain_notification(item);
    json_object_set_new(plain, "time", copy(item, "time"));
    json_array_append_new(items, plain);
  }
  return json_pack("{s:o, s:o, s:o}", "count", copy(from, "count"), "leased", copy(from, "leased"),
                   "items", items);
}

json_t *plain_stats(const json_t *answer, struct names *names) {
  (void)names;
  const json_t *from = get(answer, "answer");
  json_t *outcomes = json_copy(get(from, "outcomes"));
  json_object_del(outcomes, "annihilated"); /* off by default */
  return json_pack("{s:o, s:o, s:o, s:o}", "pushed", copy(from, "pushed"), "pending",
                   copy(from, "pending"), "leased", copy(from, "leased"), "outcomes",
                   outcomes ? outcomes : json_null());
}

/* Counts the items of each outcome. */
static json_t *count_outcomes(const json_t *items) {
  json_t *counts = json_object();
  size_t i = 0;
  const json_t *item = NULL;
  json_array_foreach(items, i, item) {
    const char *outcome = json_string_value(get(item, "outcome"));
    json_int_t before = outcome ? json_integer_value(get(counts, outcome)) : 0;
    json_object_set_new(counts, outcome ? outcome : "", json_integer(before + 1));
  }
  return counts;
}

/* Lists the deliveries with their contents. */
static json_t *plain_deliveries(const json_t *from) {
  json_t *list = json_array();
  size_t i = 0;
  const json_t *delivery = NULL;
  json_array_foreach(from, i, delivery) {
    const char *carrier = json_string_value(get(delivery, "carrier"));
    if (carrier && (strcmp(carrier, "tool_result") == 0 || strcmp(carrier, "chat_request") == 0)) {
      json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "carrier", carrier, "outcome",
                                            copy(delivery, "outcome"), "items",
                                            count_outcomes(get(delivery, "items"))));
    }
  }
  return list;
}

/* Lists the changes of the run's state, and the last state of each message. */
json_t *plain_history(const json_t *answer, struct names *names) {
  const json_t *from = get(answer, "answer");
  json_t *changes = json_array(), *messages = json_object();
  char key[NAME_SIZE];
  size_t i = 0, n = 0;
  const json_t *transition = NULL, *message = NULL;
  json_array_foreach(get(from, "transitions"), i, transition) {
    if (!json_equal(get(transition, "from"), get(transition, "to"))) {
      json_array_append_new(changes,
                            json_pack("{s:o, s:o, s:o}", "event", copy(transition, "event"), "from",
                                      copy(transition, "from"), "to", copy(transition, "to")));
    }
    json_array_foreach(get(transition, "messages"), n, message) {
      json_t *id = get(message, "id");
      int number = request_id_of_name(names, json_is_string(id) ? json_string_value(id) : "");
      (void)snprintf(key, sizeof key, "%d", number);
      if (number < SYSTEM_ID) json_object_set_new(messages, key, copy(message, "state"));
    }
  }
  return json_pack("{s:o, s:o, s:o}", "changes", changes, "messages", messages, "deliveries",
                   plain_deliveries(get(from, "deliveries")));
}
