/* SPDX-License-Identifier: MIT
 */
#include "cli/tail/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/json_value.h"

/* Among events of one time, the cause comes before its effect. */
enum rank { RANK_PUSH, RANK_DELIVERY, RANK_SETTLED, RANK_OUTCOME, RANK_REWOUND, RANK_TURN };

struct tail_event {
  const char *time; /* the time of `event`; texts of RFC 3339 sort like the times */
  enum rank rank;
  size_t place; /* its place in the answer */
  json_t *event;
};

/* An item of the answer that a delivery has taken. In the list, the items of a delivery are
 * neighbours, in the answer's order. */
struct taken {
  const char *delivery;
  size_t place;
  const json_t *item;
};

struct taking {
  struct tail_event *list;
  size_t count, room;
  struct taken *items;
  size_t item_count;
  bool failed; /* no memory */
};

/* Takes `event` over; NULL: out of memory. */
static void add(struct taking *taking, enum rank rank, json_t *event) {
  if (event && taking->count == taking->room) {
    size_t room = taking->room ? taking->room * 2 : 64;
    struct tail_event *larger = realloc(taking->list, room * sizeof *larger);
    if (larger) {
      taking->list = larger;
      taking->room = room;
    }
  }
  if (!event || taking->count == taking->room) {
    taking->failed = true;
    json_decref(event);
    return;
  }
  taking->list[taking->count] = (struct tail_event){
      .time = json_value_text(event, "time"), .rank = rank, .place = taking->count, .event = event};
  taking->count++;
}

static json_t *new_event(const char *time, const char *what, const json_t *from,
                         const char *const *names) {
  json_t *event = json_pack("{s:s, s:s}", "time", time, "event", what);
  for (; event && *names; names++) {
    json_t *value = json_object_get(from, *names);
    if (value && !json_is_null(value) && json_object_set(event, *names, value)) {
      json_decref(event);
      event = NULL;
    }
  }
  return event;
}

/* -- what is new in an answer ------------------------------------------------------------------ */

static void take_pushes(struct tail *tail, const json_t *answer, struct taking *taking) {
  static const char *const names[] = {"id",     "kind",        "level", "message",
                                      "handle", "occurred_at", NULL};
  const json_t *item = NULL;
  uint64_t last = tail->last_push;
  size_t i = 0;
  json_array_foreach(json_object_get(answer, "items"), i, item) {
    uint64_t id = strtoull(json_value_text(item, "id"), NULL, 10);
    if (id <= tail->last_push) continue;
    add(taking, RANK_PUSH, new_event(json_value_text(item, "time"), "push", item, names));
    last = id;
  }
  tail->last_push = last;
}

static int compare_taken(const void *a, const void *b) {
  const struct taken *one = a, *other = b;
  int order = strcmp(one->delivery, other->delivery);
  return order ? order : one->place < other->place ? -1 : 1;
}

static void index_items(const json_t *answer, struct taking *taking) {
  const json_t *items = json_object_get(answer, "items"), *item = NULL;
  size_t i = 0;
  taking->items = calloc(json_array_size(items) + 1, sizeof *taking->items);
  taking->failed = !taking->items;
  json_array_foreach(items, i, item) {
    const char *delivery = json_value_text(item, "delivery");
    if (taking->items && delivery[0])
      taking->items[taking->item_count++] = (struct taken){delivery, i, item};
  }
  if (taking->item_count)
    qsort(taking->items, taking->item_count, sizeof *taking->items, compare_taken);
}

/* Returns the index of a delivery's first item. */
static size_t first_of(const struct taking *taking, const char *delivery) {
  size_t low = 0, high = taking->item_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcmp(taking->items[middle].delivery, delivery) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

static void take_outcomes(const json_t *delivery, const char *time, struct taking *taking) {
  static const char *const names[] = {"id",      "kind",   "level",    "message",
                                      "outcome", "reason", "delivery", NULL};
  const char *id = json_value_text(delivery, "id");
  for (size_t i = first_of(taking, id);
       i < taking->item_count && strcmp(taking->items[i].delivery, id) == 0; i++)
    add(taking, RANK_OUTCOME, new_event(time, "outcome", taking->items[i].item, names));
}

static void take_settled(const json_t *delivery, struct taking *taking) {
  static const char *const names[] = {"id", "settled_by", NULL};
  const char *time = json_value_text(delivery, "settled_at");
  const char *outcome = json_value_text(delivery, "outcome");
  bool rewound = strcmp(outcome, "rewound") == 0; /* then it was committed first */
  json_t *event = new_event(time, "settled", delivery, names);
  if (event &&
      json_object_set_new(event, "outcome", json_string(rewound ? "committed" : outcome))) {
    json_decref(event);
    event = NULL;
  }
  add(taking, RANK_SETTLED, event);
  take_outcomes(delivery, time, taking);
}

/* `seen`: an earlier answer listed the delivery. `before`: its outcome in the newest such answer;
 * empty: it was settled before that, and is listed again because it was taken back or has come
 * back. */
static void take_delivery(const json_t *delivery, bool seen, const char *before,
                          struct taking *taking) {
  static const char *const made[] = {"id", "carrier", "tool", "call_id", NULL};
  const char *outcome = json_value_text(delivery, "outcome");
  bool changed = strcmp(outcome, before) != 0, rewound = strcmp(outcome, "rewound") == 0;
  if (!seen)
    add(taking, RANK_DELIVERY,
        new_event(json_value_text(delivery, "time"), "delivery", delivery, made));
  if (changed && strcmp(outcome, "leased") != 0 &&
      (!rewound || !seen || strcmp(before, "leased") == 0))
    take_settled(delivery, taking);
  if (changed && rewound)
    add(taking, RANK_REWOUND,
        new_event(json_value_text(delivery, "rewound_at"), "rewound", delivery, made));
}

/* The delivery's number in its session. Older plugins gave it only in the id. */
static uint64_t number_of(const json_t *delivery, const char *id) {
  const json_t *number = json_object_get(delivery, "number");
  return number ? (uint64_t)json_integer_value(number) : strtoull(id, NULL, 10) & UINT32_MAX;
}

static void take_deliveries(struct tail *tail, const json_t *answer, struct taking *taking) {
  json_t *known = json_object();
  const json_t *delivery = NULL;
  uint64_t last = tail->last_delivery;
  size_t i = 0;
  json_array_foreach(json_object_get(answer, "deliveries"), i, delivery) {
    const char *id = json_value_text(delivery, "id");
    uint64_t number = number_of(delivery, id);
    take_delivery(delivery, number <= tail->last_delivery, json_value_text(tail->deliveries, id),
                  taking);
    if (number > last) last = number;
    if (!known || json_object_set(known, id, json_object_get(delivery, "outcome")))
      taking->failed = true;
  }
  json_decref(tail->deliveries);
  tail->deliveries = known;
  tail->last_delivery = last;
}

static void take_turns(const json_t *answer, struct taking *taking) {
  static const char *const names[] = {"from", "to", "abort_stream", "messages", NULL};
  const json_t *transition = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(answer, "transitions"), i, transition) {
    json_t *event = new_event(json_value_text(transition, "time"), "turn", transition, names);
    if (event && json_object_set(event, "step", json_object_get(transition, "event"))) {
      json_decref(event);
      event = NULL;
    }
    add(taking, RANK_TURN, event);
  }
}

/* -- in order ---------------------------------------------------------------------------------- */

static int compare_events(const void *a, const void *b) {
  const struct tail_event *one = a, *other = b;
  int order = strcmp(one->time, other->time);
  if (order) return order;
  if (one->rank != other->rank) return one->rank < other->rank ? -1 : 1;
  return one->place < other->place ? -1 : 1;
}

/* Forgets everything if the session was forgotten and the answer is about a new one of the same
 * name: then it has `messages`, although only new events were requested. */
static void forget_other_session(struct tail *tail, const json_t *answer) {
  if (!tail->end[0] || !json_object_get(answer, "messages")) return;
  tail_finish(tail);
}

json_t *tail_take(struct tail *tail, const json_t *answer) {
  struct taking taking = {.count = 0};
  forget_other_session(tail, answer);
  json_t *list = json_array();
  index_items(answer, &taking);
  take_pushes(tail, answer, &taking);
  take_deliveries(tail, answer, &taking);
  take_turns(answer, &taking);
  (void)snprintf(tail->end, sizeof tail->end, "%s", json_value_text(answer, "end"));
  if (taking.count) qsort(taking.list, taking.count, sizeof *taking.list, compare_events);
  for (size_t i = 0; i < taking.count; i++)
    if (!list || json_array_append_new(list, taking.list[i].event)) taking.failed = true;
  free(taking.list);
  free(taking.items);
  if (!taking.failed) return list;
  json_decref(list);
  return NULL;
}

void tail_finish(struct tail *tail) {
  json_decref(tail->deliveries);
  *tail = (struct tail){.last_push = 0};
}
