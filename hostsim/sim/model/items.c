/* SPDX-License-Identifier: MIT
 *
 * sim/model/items.c: the pushed items, and which of them a delivery would show. It applies
 * docs/semantics.md, "What is removed before it is shown", step by step to plain arrays.
 */
#include "sim/model/parts.h"

#include <string.h>
#include <tidings/abi.h>

enum { CRITICAL = 3, CRITICAL_SHARE = 20 };

/* Counts pending items, and leased ones, because they may come back. */
static unsigned count_waiting(const struct model *model) {
  unsigned count = 0;
  for (unsigned i = 0; i < model->item_count; i++) count += model->items[i].held != ENDED;
  return count;
}

int items_push(struct model *model, const struct act *act, const struct sim_settings *settings) {
  bool subagent = act->kind == ACT_SUBAGENT;
  unsigned limit = settings->pending_limit;
  if (subagent || act->level != CRITICAL) limit -= limit / CRITICAL_SHARE;
  if (count_waiting(model) >= limit) return TIDINGS_E_FULL;
  struct model_item item = {
      .note = subagent ? NOTE_SUBAGENT : act->note, .text = act->serial, .time_ms = model->now_ms};
  item.pushed_ms = model->now_ms;
  item.activation = subagent ? ASKS_IDLE : act->activation;
  if (!subagent) {
    item.level = act->level;
    item.key = act->key;
    item.handle = act->handle;
    item.caused_by = act->caused_by;
    item.ttl_ms = act->ttl_ms;
    item.due_ms = act->due_ms;
    if (item.due_ms > item.time_ms) item.time_ms = item.due_ms;
  }
  model->items[model->item_count++] = item;
  return 0;
}

void items_end(struct model *model, struct model_item *item, enum outcome outcome) {
  item->held = ENDED;
  item->outcome = outcome;
  model->outcomes[outcome]++;
}

void items_poll(struct model *model, uint8_t handle) {
  for (unsigned i = 0; i < model->item_count; i++) {
    struct model_item *item = &model->items[i];
    if (item->handle != handle || item->level == CRITICAL) continue;
    if (item->held == PENDING) items_end(model, item, WITHDRAWN);
    else if (item->held == LEASED) item->recalled = true;
  }
}

bool items_are_about_the_same(const struct model *model, int older, int newer) {
  const struct model_item *a = &model->items[older], *b = &model->items[newer];
  return a->key != 0 && a->key == b->key &&
         strcmp(act_note_kinds[a->note].source, act_note_kinds[b->note].source) == 0 &&
         (a->level != CRITICAL || b->level == CRITICAL) && !(a->caused_by && a->level != CRITICAL);
}

bool items_is_due(const struct model *model, const struct model_item *item) {
  return item->due_ms <= model->now_ms;
}

static bool asks_for_something(const struct model_item *item) {
  return item->activation != SILENT && (item->level == CRITICAL || item->activation != PASSIVE);
}

int64_t items_next_ms(const struct model *model) {
  int64_t next_ms = 0;
  for (unsigned i = 0; i < model->item_count; i++) {
    const struct model_item *item = &model->items[i];
    if (item->held != PENDING || items_is_due(model, item) || !asks_for_something(item)) continue;
    if (next_ms == 0 || item->due_ms < next_ms) next_ms = item->due_ms;
  }
  return next_ms;
}

bool items_was_for_later(const struct model_item *item) { return item->due_ms > item->pushed_ms; }

/* An item for later counts by its time. */
bool items_is_newer(const struct model *model, int a, int b) {
  const struct model_item *item = &model->items[a], *other = &model->items[b];
  if ((items_was_for_later(item) || items_was_for_later(other)) && item->time_ms != other->time_ms)
    return item->time_ms > other->time_ms;
  return a > b;
}

/* Does a silent item withdraw others? It does unless the model's own call caused it; a critical one
 * always does. */
static bool takes_back(const struct model_item *item) {
  return item->activation == SILENT && (!item->caused_by || item->level == CRITICAL);
}

/* Did the delivery show the item, or was the item silent and ended by it? */
static bool counts_as_shown(const struct model *model, const struct model_delivery *delivery,
                            int i) {
  return delivery->item_outcomes[i] == 1 + DELIVERED ||
         (delivery->item_outcomes[i] == 1 + WITHDRAWN && takes_back(&model->items[i]));
}

/* Did a committed delivery show the item, or did it end silently without one? */
static bool was_shown(const struct model *model, int i) {
  if (model->items[i].took_back && takes_back(&model->items[i])) return true;
  for (unsigned d = 0; d < model->delivery_count; d++)
    if (model->deliveries[d].state == DELIVERY_COMMITTED &&
        counts_as_shown(model, &model->deliveries[d], i))
      return true;
  return false;
}

/* Was `by` pushed after the item, which is for later, and before its time? */
static bool replaces(const struct model *model, int by, int item) {
  return by > item && model->items[item].due_ms != 0 &&
         model->items[by].pushed_ms < model->items[item].time_ms;
}

/* Has `delivery` (NULL: any committed one) shown something newer about the same? Only two shown
 * items count: the newest, if it is newer than the item, and the last pushed, if it was pushed
 * before the item's time. After a clock has gone back, times and order of pushes may disagree. */
static bool has_newer(const struct model *model, int item, const struct model_delivery *delivery) {
  int newest = -1, last = -1;
  for (int i = 0; i < (int)model->item_count; i++) {
    if (i == item || !items_are_about_the_same(model, item, i)) continue;
    if (delivery ? !counts_as_shown(model, delivery, i) : !was_shown(model, i)) continue;
    if (newest < 0 || items_is_newer(model, i, newest)) newest = i;
    last = i;
  }
  return newest >= 0 && (items_is_newer(model, newest, item) || replaces(model, last, item));
}

/* Finds the newest leased delivery that has shown a newer item with the same key; -1: none has. */
static int find_leased(const struct model *model, int item) {
  for (int d = (int)model->delivery_count; d-- > 0;)
    if (model->deliveries[d].state == DELIVERY_LEASED &&
        has_newer(model, item, &model->deliveries[d]))
      return d;
  return -1;
}

static bool is_outdated(const struct model *model, unsigned item) {
  return has_newer(model, (int)item, NULL);
}

/* Does a fork copy this leased item? Not if it was withdrawn meanwhile, or is outdated. */
bool items_is_copied(const struct model *model, unsigned i) {
  const struct model_item *item = &model->items[i];
  bool stands = !item->recalled || item->outcome == DELIVERED;
  return item->held == LEASED && stands && !is_outdated(model, i);
}

/* Refuses a fork whose child would have too many items: the child has the same limit, but after a
 * rewind the parent may have more items. */
int items_check_fork(const struct model *model, const struct sim_settings *settings) {
  unsigned count = 0;
  for (unsigned i = 0; i < model->item_count; i++) {
    const struct model_item *item = &model->items[i];
    unsigned limit = settings->pending_limit;
    if (item->held == ENDED || (item->held == LEASED && !items_is_copied(model, i))) continue;
    if (item->level != CRITICAL) limit -= limit / CRITICAL_SHARE;
    if (count++ >= limit) return TIDINGS_E_FULL;
  }
  return 0;
}

void items_give_way(struct model *model) {
  for (unsigned i = 0; i < model->item_count; i++) {
    struct model_item *item = &model->items[i];
    if (item->held != PENDING) continue;
    int leased = find_leased(model, (int)i);
    if (is_outdated(model, i)) {
      items_end(model, item, SUPERSEDED);
    } else if (leased >= 0) {
      item->held = LEASED;
      item->outcome = SUPERSEDED;
      item->delivery = leased;
      model->deliveries[leased].item_outcomes[i] = 1 + SUPERSEDED;
    }
  }
}

void items_ask_again(struct model *model) {
  for (unsigned i = 0; i < model->item_count; i++)
    if (model->items[i].held == PENDING) model->items[i].has_asked = false;
  model->run.asked_count = 0;
}

/* -- the plan ---------------------------------------------------------------------------------- */

/* Each line is one item, because nothing is coalesced by default. */
struct line {
  int item, place;
};

static void take_item(struct plan *plan, int item, enum outcome outcome) {
  plan->taken[plan->taken_count].item = item;
  plan->taken[plan->taken_count++].outcome = outcome;
}

static bool is_filtered(const struct model_item *item, const struct sim_settings *settings) {
  const struct note_kind *kind = &act_note_kinds[item->note];
  switch (settings->filter) {
  case FILTER_CI: return strcmp(kind->source, "ci") == 0;
  case FILTER_TOOL_FAILED:
    return strcmp(kind->source, "tool") == 0 && strcmp(kind->name, "failed") == 0;
  case FILTER_ALL: return true;
  default: return false;
  }
}

bool items_is_expired(const struct model *model, const struct model_item *item) {
  return item->ttl_ms > 0 && model->now_ms >= item->time_ms + item->ttl_ms;
}

static bool is_critical(const struct model *model, int item) {
  return model->items[item].level == CRITICAL;
}

static bool has_same_source(const struct model *model, int a, int b) {
  return strcmp(act_note_kinds[model->items[a].note].source,
                act_note_kinds[model->items[b].note].source) == 0;
}

/* Finds the newest item that supersedes this one: one with the same source and key, which is
 * critical if this one is. */
static int find_newest(const struct model *model, const bool *left, int item) {
  int newest = item;
  for (int i = 0; i < (int)model->item_count && model->items[item].key != 0; i++) {
    if (left[i] && model->items[i].key == model->items[item].key &&
        items_is_newer(model, i, newest) && has_same_source(model, i, item) &&
        (!is_critical(model, item) || is_critical(model, i)))
      newest = i;
  }
  return newest;
}

static bool item_goes_before(const struct model *model, uint8_t order, const struct line *a,
                             const struct line *b) {
  uint8_t level_a = model->items[a->item].level, level_b = model->items[b->item].level;
  if (order == BY_LEVEL && level_a != level_b) return level_a > level_b;
  return order == BY_NEWEST ? a->place > b->place : a->place < b->place;
}

static void sort(const struct model *model, uint8_t order, struct line *lines, unsigned count) {
  for (unsigned i = 1; i < count; i++) {
    struct line line = lines[i];
    unsigned at = i;
    for (; at > 0 && item_goes_before(model, order, &line, &lines[at - 1]); at--)
      lines[at] = lines[at - 1];
    lines[at] = line;
  }
}

/* Counts the lines of the same source and level before this one. */
static unsigned round_of(const struct model *model, const struct line *lines, unsigned line) {
  unsigned round = 0;
  for (unsigned i = 0; i < line; i++)
    round += model->items[lines[i].item].level == model->items[lines[line].item].level &&
             has_same_source(model, lines[i].item, lines[line].item);
  return round;
}

/* Returns the item for which the running turn was started, which always has room. */
static int pinned_item(const struct model *model) {
  const struct model_run *run = &model->run;
  if (run->turn_count != 1 || !model->messages[run->turn[0]].system) return -1;
  return (int)model->messages[run->turn[0]].text;
}

static unsigned turn_rank(const struct model *model, int item) {
  bool pinned = item == pinned_item(model);
  if (is_critical(model, item)) return pinned ? 0 : 1;
  return pinned ? 2 : 2 + CRITICAL - model->items[item].level;
}

/* Chooses the lines that have room. Critical items come first, then pinned ones, then the others by
 * level; within a level the sources take turns. */
static void choose(const struct model *model, const struct line *lines, unsigned count,
                   unsigned room, bool *ret_kept) {
  if (room >= count) memset(ret_kept, true, count * sizeof *ret_kept);
  for (unsigned i = 0; i < count && room < count; i++) {
    unsigned before = 0, round = round_of(model, lines, i);
    unsigned rank = turn_rank(model, lines[i].item);
    for (unsigned other = 0; other < count; other++) {
      unsigned other_rank = turn_rank(model, lines[other].item);
      unsigned other_round = round_of(model, lines, other);
      before += other_rank != rank     ? other_rank < rank
                : other_round != round ? other_round < round
                                       : other < i;
    }
    ret_kept[i] = before < room;
  }
}

/* Counts the bytes of a block with at most so many lines, which choose() picks; the others wait. */
static uint32_t block_bytes(const struct model *model, const struct sim_settings *settings,
                            const struct line *lines, unsigned count, unsigned most) {
  bool kept[MODEL_ITEMS];
  int items[MODEL_ITEMS];
  unsigned shown = 0;
  choose(model, lines, count, most, kept);
  for (unsigned i = 0; i < count; i++)
    if (kept[i]) items[shown++] = lines[i].item;
  return bytes_of_block(model, settings, model_is_bare(model, settings), items, shown,
                        count - shown);
}

/* Counts how many lines fit, by adding one after the other until one has no room. Each changes the
 * length of the line about waiting items. */
static unsigned count_fitting(const struct model *model, const struct sim_settings *settings,
                              const struct line *lines, unsigned count, unsigned most,
                              uint32_t room) {
  if (most == 0 || block_bytes(model, settings, lines, count, most) <= room) return most;
  for (unsigned fit = 0;; fit++)
    if (block_bytes(model, settings, lines, count, fit + 1) > room) return fit;
}

/* For an item for later, finds the last item with the same key that was pushed after it and before
 * its time; -1: there is none. */
static int find_replacement(const struct model *model, const struct sim_settings *settings,
                            int item) {
  int last = -1;
  for (int i = item + 1; i < (int)model->item_count && model->items[item].key != 0; i++) {
    const struct model_item *other = &model->items[i];
    bool counts = replaces(model, i, item) && other->held == PENDING &&
                  !is_filtered(other, settings) &&
                  (!other->caused_by || other->level == CRITICAL) &&
                  (other->activation != SILENT || items_is_due(model, other));
    if (counts && other->key == model->items[item].key && has_same_source(model, i, item) &&
        (!is_critical(model, item) || is_critical(model, i)))
      last = i;
  }
  return last;
}

static bool is_silent(const struct model *model, int item) {
  return model->items[item].activation == SILENT;
}

/* Numbers a plan's items in the order of their pushes, but puts an item for later where its time
 * belongs. */
static void find_places(const struct model *model, const bool *planned, int *ret_places) {
  int64_t order_ms[MODEL_ITEMS], newest_ms = INT64_MIN;
  for (unsigned i = 0; i < model->item_count; i++) {
    const struct model_item *item = &model->items[i];
    bool by_time = items_was_for_later(item);
    if (planned[i] && !by_time && item->time_ms > newest_ms) newest_ms = item->time_ms;
    order_ms[i] = by_time ? item->time_ms : newest_ms;
    ret_places[i] = 0;
  }
  for (unsigned i = 0; i < model->item_count; i++)
    for (unsigned other = 0; other < model->item_count; other++)
      ret_places[i] += planned[other] &&
                       (order_ms[other] != order_ms[i] ? order_ms[other] < order_ms[i] : other < i);
}

/* Finds the items that are shown, in order. `plan` has the outcomes of the items that are not
 * shown. */
static unsigned find_plan_lines(const struct model *model, const struct sim_settings *settings,
                                struct plan *plan, struct line *lines) {
  bool left[MODEL_ITEMS], planned[MODEL_ITEMS];
  int places[MODEL_ITEMS];
  unsigned count = 0;
  plan->shown_count = plan->taken_count = 0;
  plan->end = 0;
  for (int i = 0; i < (int)model->item_count; i++) {
    const struct model_item *item = &model->items[i];
    enum outcome removed = item->caused_by && !is_critical(model, i) ? WITHDRAWN
                           : is_filtered(item, settings)             ? FILTERED
                                                                     : OUTCOMES;
    bool due = items_is_due(model, item);
    if (!due) removed = OUTCOMES;
    int by =
        removed != OUTCOMES || item->held != PENDING ? -1 : find_replacement(model, settings, i);
    if (by >= 0) removed = is_silent(model, by) ? WITHDRAWN : SUPERSEDED;
    left[i] = item->held == PENDING && due && removed == OUTCOMES;
    if (item->held == PENDING && removed != OUTCOMES) take_item(plan, i, removed);
    planned[i] = item->held == PENDING && due && by < 0;
  }
  find_places(model, planned, places);
  for (int i = 0; i < (int)model->item_count; i++) {
    int newest = find_newest(model, left, i);
    if (!left[i] || newest == i) continue;
    take_item(plan, i, is_silent(model, newest) ? WITHDRAWN : SUPERSEDED);
    if (places[i] < places[newest]) places[newest] = places[i];
  }
  for (int i = 0; i < (int)model->item_count; i++)
    if (left[i] && find_newest(model, left, i) == i) {
      if (is_silent(model, i)) take_item(plan, i, WITHDRAWN);
      else if (items_is_expired(model, &model->items[i])) take_item(plan, i, EXPIRED);
      else lines[count++] = (struct line){i, places[i]};
    }
  sort(model, settings->order, lines, count);
  return count;
}

void items_plan(const struct model *model, const struct sim_settings *settings, unsigned most,
                uint32_t room, struct plan *ret_plan) {
  bool kept[MODEL_ITEMS];
  struct line lines[MODEL_ITEMS];
  unsigned count = find_plan_lines(model, settings, ret_plan, lines);
  unsigned shown = count < most ? count : most;
  if (room != UINT32_MAX) shown = count_fitting(model, settings, lines, count, shown, room);
  choose(model, lines, count, shown, kept);
  for (unsigned i = 0; i < count; i++) {
    if (lines[i].item >= ret_plan->end) ret_plan->end = lines[i].item + 1;
    if (kept[i]) {
      ret_plan->shown[ret_plan->shown_count++] = lines[i].item;
      take_item(ret_plan, lines[i].item, DELIVERED);
    }
  }
  ret_plan->waiting = count - ret_plan->shown_count;
}

uint32_t items_room(const struct model *model, const struct sim_settings *settings, unsigned most,
                    uint32_t less) {
  struct line lines[MODEL_ITEMS];
  struct plan plan;
  unsigned count = find_plan_lines(model, settings, &plan, lines);
  uint32_t room = block_bytes(model, settings, lines, count, most < count ? most : count);
  room -= room > less ? less : 0;
  for (unsigned i = 0; i < count; i++) {
    uint32_t alone = bytes_of_block(model, settings, model_is_bare(model, settings), &lines[i].item,
                                    1, count - 1);
    if (alone > room) room = alone;
  }
  return room;
}
