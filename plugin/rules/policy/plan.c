/* SPDX-License-Identifier: MIT
 *
 * rules/policy/plan.c: the order of the steps, and the outcomes at the end.
 */
#include "rules/policy/plan.h"

#include <stdlib.h>

#include "rules/policy/steps.h"

static int begin(struct work *work) {
  if (policy_put_in_order(work)) return -1;
  work->dispositions = arena_zalloc(work->arena, work->item_count, sizeof *work->dispositions);
  work->places = arena_zalloc(work->arena, work->item_count, sizeof *work->places);
  if (!work->dispositions || !work->places) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    work->dispositions[i].n = work->items[i].n;
    work->places[i] = rank_of(work, i);
  }
  return 0;
}

/* The steps that end items, however much room there is. An expired item still supersedes older
 * ones, so none of these is shown in its place. */
static int remove_items(struct work *work) {
  if (policy_withdraw(work) || policy_annihilate(work)) return -1;
  policy_filter(work);
  if (policy_supersede(work)) return -1;
  policy_expire(work);
  return 0;
}

static void end_shown(struct work *work) {
  for (size_t l = 0; l < work->line_count; l++) {
    const struct line *line = &work->lines[l];
    uint64_t ref = line->count > 1 ? line->item->n : 0;
    enum reason reason = line->shortened ? REASON_SHORTENED : REASON_SHOWN;
    for (size_t i = first_of(work, line); i != NO_ITEM; i = work->next[i]) {
      bool counted = line->files && !policy_is_listed(work, line, i);
      end_item(work, i, OUTCOME_DELIVERED, counted ? REASON_COUNTED : reason, ref);
    }
  }
}

static int by_number(const void *left, const void *right) {
  const struct disposition *a = left, *b = right;
  return a->n < b->n ? -1 : a->n > b->n;
}

/* An item that no step ended and no line shows stays pending, and so does one that was withdrawn
 * and is awaited. */
static size_t finish_dispositions(struct work *work) {
  size_t count = 0;
  for (size_t i = 0; i < work->item_count; i++) {
    if (!is_left(work, i) && !policy_is_awaited(work, i))
      work->dispositions[count++] = work->dispositions[i];
  }
  if (work->order) qsort(work->dispositions, count, sizeof *work->dispositions, by_number);
  return count;
}

/* Takes back what was dropped for lack of room, because nothing is shown in its place. */
static void take_back_drops(struct work *work) {
  for (size_t i = 0; i < work->item_count; i++) {
    if (work->dispositions[i].outcome == OUTCOME_DROPPED)
      end_item(work, i, OUTCOME_NONE, REASON_NONE, 0);
  }
  work->deferred += work->dropped;
}

/* The steps that choose among the lines. */
static int choose_lines(struct work *work) {
  policy_rank(work);
  if (work->room && policy_defer_too_large(work)) return -1;
  if (policy_cap(work) || policy_tokens(work)) return -1;
  if (!work->room) return 0;
  if (policy_fit_room(work)) return -1;
  if (!work->line_count) take_back_drops(work);
  return 0;
}

/* Might the plan be different if the rest were among the items? No, if no step reached the end of
 * the lines that go first, and each line of the rest can be shown at some time. */
static bool falls_short(const struct work *work, const struct rest *rest) {
  size_t max = work->settings->max_items, used = work->line_count + work->too_large;
  if (!rest || !rest->lines) return false;
  if (work->room && !policy_has_room_for(work, rest->bytes)) return true;
  return used >= rest->reach && (!max || max + work->too_large > rest->reach);
}

static int make_plan(struct work *work, const struct rest *rest, struct plan *ret_plan) {
  if (begin(work) || remove_items(work) || policy_coalesce(work)) return -1;
  if (policy_note_lines(work) || choose_lines(work)) return -1;
  end_shown(work);
  if (policy_end_older(work)) return -1;
  size_t disposition_count = finish_dispositions(work);
  *ret_plan = (struct plan){.lines = work->lines,
                            .line_count = work->line_count,
                            .dispositions = work->dispositions,
                            .disposition_count = disposition_count,
                            .deferred = work->deferred,
                            .too_large = work->too_large,
                            .too_large_newest = work->too_large_newest,
                            .outdated = work->outdated,
                            .falls_short = falls_short(work, rest)};
  return 0;
}

int plan_delivery_in(const struct room *room, const struct rest *rest, const struct item *items,
                     size_t item_count, const struct settings *settings, int64_t now_ms,
                     const struct token_counter *counter, struct arena *arena,
                     struct plan *ret_plan) {
  struct work work = {.items = items,
                      .item_count = item_count,
                      .settings = settings,
                      .now_ms = now_ms,
                      .counter = counter,
                      .arena = arena};
  int code = room ? policy_begin_room(&work, room) : 0;
  if (rest) work.deferred += rest->lines;
  if (!code) code = make_plan(&work, rest, ret_plan);
  policy_end_room(&work);
  return code;
}

int plan_delivery(const struct item *items, size_t item_count, const struct settings *settings,
                  int64_t now_ms, const struct token_counter *counter, struct arena *arena,
                  struct plan *ret_plan) {
  return plan_delivery_in(NULL, NULL, items, item_count, settings, now_ms, counter, arena,
                          ret_plan);
}

int plan_left(const struct item *items, size_t item_count, const struct settings *settings,
              int64_t now_ms, struct arena *arena, bool *ret_left) {
  struct work work = {.items = items,
                      .item_count = item_count,
                      .settings = settings,
                      .now_ms = now_ms,
                      .arena = arena};
  if (begin(&work) || remove_items(&work)) return -1;
  for (size_t i = 0; i < item_count; i++)
    ret_left[work.order ? work.order[i] : i] = is_left(&work, i);
  return 0;
}

/* A single report needs its facts only if its message is so long that it may name more files than a
 * list does. Two reports need theirs because one may be older than the other. */
bool plan_needs_facts(const struct item *items, size_t item_count,
                      const struct settings *settings) {
  size_t reports = 0;
  for (size_t i = 0; i < item_count; i++) {
    bool reports_files = items[i].note.made_by == MADE_BY_FILE_CHANGED;
    if (reports_files && (reports++ || items[i].note.message.len > FILES_LISTED * sizeof "a,"))
      return true;
    uint8_t maker = items[i].note.made_by;
    if (maker == MADE_BY_MCP_STATE || maker == MADE_BY_RATE_LIMITED) return true;
    if (items[i].note.caused_by.len) return true;
    if (items[i].note.made_by && (settings->annihilate || settings->coalesce_window_ms))
      return true;
  }
  return false;
}
