/* SPDX-License-Identifier: MIT
 *
 * tests/unit/policy/policy_model.c: the first half of the naive plan: the items that end before
 * lines are made.
 */
#include "policy_model.h"

#include <stdlib.h>

#include "policy_model_lines.h"

static bool left(const struct model *model, size_t i) {
  return model->dispositions[i].outcome == OUTCOME_NONE;
}

static void end(struct model *model, size_t i, enum outcome outcome, enum reason reason,
                uint64_t ref) {
  model->dispositions[i].outcome = (uint8_t)outcome;
  model->dispositions[i].reason = (uint8_t)reason;
  model->dispositions[i].ref = ref;
}

static bool critical(const struct items *items, size_t i) {
  return items->items[i].note.level == TIDINGS_LEVEL_CRITICAL;
}

/* Are both reports of this path about one change? Stamps decide, or, without them, the time between
 * the reports. */
static bool same_change(const struct item *a, size_t path_a, const struct item *b, size_t path_b) {
  bool stamped_a = a->facts.stamps && a->facts.stamps[path_a].len,
       stamped_b = b->facts.stamps && b->facts.stamps[path_b].len;
  if (!span_equal(a->facts.paths[path_a], b->facts.paths[path_b])) return false;
  return stamped_a && stamped_b ? span_equal(a->facts.stamps[path_a], b->facts.stamps[path_b])
                                : llabs((long long)(a->time_ms - b->time_ms)) <= 2000;
}

/* Finds the assistant's earliest edit that is the change which this item reports for this path. */
static const struct item *model_edit(const struct model *model, const struct items *items,
                                     const struct item *seen, size_t path) {
  const struct item *edit = NULL;
  for (size_t i = 0; i < items->count; i++) {
    const struct item *item = &items->items[i];
    if (model->dispositions[i].reason != REASON_CAUSED_BY || !model_is_file(item)) continue;
    for (size_t p = 0; p < item->facts.path_count; p++) {
      if (same_change(item, p, seen, path) && (!edit || item->time_ms < edit->time_ms)) edit = item;
    }
  }
  return edit;
}

/* Removes the paths that the assistant has changed, and withdraws the item if none is left. */
static void model_leave_out(struct model *model, const struct items *items, size_t i) {
  const struct item *item = &items->items[i];
  struct facts *left = &model->seen.items[i].facts;
  struct tidings_span *paths = arena_array(model->arena, MODEL_PATHS, sizeof *paths);
  struct tidings_span *stamps = arena_array(model->arena, MODEL_PATHS, sizeof *stamps);
  const struct item *edit = NULL;
  size_t count = 0;
  cr_assert(paths && stamps);
  for (size_t p = 0; p < item->facts.path_count; p++) {
    const struct item *own = model_edit(model, items, item, p);
    if (own) edit = own;
    if (own) continue;
    paths[count] = item->facts.paths[p];
    if (item->facts.stamps) stamps[count] = item->facts.stamps[p];
    count++;
  }
  if (!edit) return;
  model->shortened[i] = count > 0;
  if (!count) end(model, i, OUTCOME_WITHDRAWN, REASON_OWN_EDIT, edit->n);
  if (count) *left = (struct facts){.paths = paths, .stamps = stamps, .path_count = count};
  left->change = item->facts.change;
}

static void model_withdraw(struct model *model, const struct items *items) {
  for (size_t i = 0; i < items->count; i++) {
    if (left(model, i) && items->items[i].note.caused_by.len && !critical(items, i))
      end(model, i, OUTCOME_WITHDRAWN, REASON_CAUSED_BY, 0);
  }
  model->seen = *items;
  for (size_t i = 0; i < items->count; i++) {
    if (left(model, i) && model_is_file(&items->items[i])) model_leave_out(model, items, i);
  }
}

/* -- supersede --------------------------------------------------------------------------------- */

static bool same_key(const struct item *a, const struct item *b) {
  return a->note.key.len && span_equal(a->note.key, b->note.key) &&
         span_equal(a->note.source, b->note.source);
}

static bool is_about_handle(const struct item *item) {
  uint8_t maker = item->note.made_by;
  return maker == MADE_BY_HANDLE_STATE || maker == MADE_BY_RUN_FINISHED ||
         maker == MADE_BY_RUN_FAILED;
}

static bool same_state(const struct item *a, const struct item *b) {
  if (is_about_handle(a))
    return is_about_handle(b) && a->note.handle.len && span_equal(a->note.handle, b->note.handle);
  if (a->note.made_by != b->note.made_by) return false;
  if (a->note.made_by == MADE_BY_BUDGET_USAGE) return true;
  if (a->note.made_by == MADE_BY_RATE_LIMITED)
    return span_equal(a->facts.provider, b->facts.provider);
  return a->note.made_by == MADE_BY_MCP_STATE && a->facts.server.len &&
         span_equal(a->facts.server, b->facts.server);
}

static void model_supersede(struct model *model, const struct items *items, enum reason reason,
                            bool (*same)(const struct item *a, const struct item *b)) {
  bool was_left[MOST_ITEMS];
  for (size_t i = 0; i < items->count; i++) was_left[i] = left(model, i);
  for (size_t i = 0; i < items->count; i++) {
    size_t winner = i;
    for (size_t j = i + 1; was_left[i] && j < items->count; j++) {
      if (was_left[j] && same(&items->items[i], &items->items[j]) &&
          (!critical(items, i) || critical(items, j)))
        winner = j;
    }
    if (winner == i) continue;
    end(model, i, OUTCOME_SUPERSEDED, reason, items->items[winner].n);
    if (model->places[i] < model->places[winner]) model->places[winner] = model->places[i];
  }
}

/* -- annihilate -------------------------------------------------------------------------------- */

static bool is_state(const struct item *item, struct tidings_span server, const char *name) {
  return item->note.made_by == MADE_BY_MCP_STATE && span_is(item->note.name, name) &&
         span_equal(item->facts.server, server);
}

/* Withdraws the server's pending items between its last return and this one, if both ends are
 * critical or both are not. */
static void model_return(struct model *model, const struct items *items, size_t back) {
  struct tidings_span server = items->items[back].facts.server;
  size_t since = 0, loss = MOST_ITEMS;
  bool alike = true;
  for (size_t j = 0; j < back; j++) {
    bool was_back = is_state(&items->items[j], server, "reconnected") && !model->gone[j];
    if (was_back) since = j + 1;
  }
  for (size_t j = since; j < back; j++) {
    bool lost = is_state(&items->items[j], server, "disconnected");
    if (!left(model, j) || !(lost || is_state(&items->items[j], server, "unresponsive"))) continue;
    if (lost) loss = j;
    alike = alike && critical(items, j) == critical(items, back);
  }
  if (loss == MOST_ITEMS || !alike) return;
  for (size_t j = since; j < back; j++) {
    if (left(model, j) && (is_state(&items->items[j], server, "disconnected") ||
                           is_state(&items->items[j], server, "unresponsive")))
      end(model, j, OUTCOME_ANNIHILATED, REASON_OPPOSITE, items->items[back].n);
  }
  end(model, back, OUTCOME_ANNIHILATED, REASON_OPPOSITE, items->items[loss].n);
}

static void model_annihilate(struct model *model, const struct items *items, int64_t now_ms) {
  for (size_t i = 0; i < items->count; i++) {
    const struct item *item = &items->items[i];
    int64_t wait_ms = item->facts.retry_after_ms;
    model->gone[i] = !left(model, i);
    if (left(model, i) && item->note.made_by == MADE_BY_RATE_LIMITED && !critical(items, i) &&
        wait_ms > 0 && now_ms - item->time_ms >= wait_ms)
      end(model, i, OUTCOME_ANNIHILATED, REASON_OVER, 0);
  }
  for (size_t i = 0; i < items->count; i++) {
    struct tidings_span server = items->items[i].facts.server;
    if (left(model, i) && server.len && is_state(&items->items[i], server, "reconnected"))
      model_return(model, items, i);
  }
  model_undo(model, items, NULL);
}

static bool is_wanted(uint8_t wanted, const struct notification *note) {
  return wanted == WANTED_ALL ||
         (wanted == WANTED_CRITICAL && note->level == TIDINGS_LEVEL_CRITICAL);
}

/* Does a rule forbid the item, or want only critical ones? */
static bool forbidden(const struct settings *settings, const struct notification *note,
                      enum reason reason) {
  if (reason == REASON_MASTER_SWITCH) return !settings->notifications_enabled;
  for (size_t i = 0; reason == REASON_TOOL && i < settings->tool_count; i++) {
    const struct tool_rule *rule = &settings->tools[i];
    if (note->tool.len && span_equal(rule->tool, note->tool) &&
        span_equal(rule->name, note->name) && !is_wanted(rule->wanted, note))
      return true;
  }
  for (size_t i = 0; reason != REASON_TOOL && i < settings->kind_count; i++) {
    const struct kind_rule *rule = &settings->kinds[i];
    bool source = span_equal(rule->source, note->source) ||
                  (span_is(note->source, "tool") && span_is(rule->source, "handle"));
    enum reason of_rule = rule->whole_source ? REASON_SOURCE
                          : rule->flat       ? REASON_FLAT_KIND
                                             : REASON_KIND;
    if (source && of_rule == reason && (rule->whole_source || span_equal(rule->name, note->name)) &&
        !is_wanted(rule->wanted, note))
      return true;
  }
  return false;
}

/* The last rule of the tool that forbids the item says why. The random rules have no `enable`. */
static uint64_t tool_ref(const struct settings *settings, const struct notification *note) {
  uint64_t ref = 0;
  for (size_t i = 0; i < settings->tool_count; i++) {
    const struct tool_rule *rule = &settings->tools[i];
    if (!span_equal(rule->tool, note->tool) || !span_equal(rule->name, note->name) ||
        is_wanted(rule->wanted, note))
      continue;
    ref = rule->wanted == WANTED_CRITICAL ? 2 : 0;
  }
  return ref;
}

static void model_filter(struct model *model, const struct items *items,
                         const struct settings *settings) {
  static const enum reason reasons[] = {REASON_MASTER_SWITCH, REASON_SOURCE, REASON_KIND,
                                        REASON_FLAT_KIND, REASON_TOOL};
  for (size_t i = 0; i < items->count; i++) {
    for (size_t r = 0; r < sizeof reasons / sizeof *reasons && left(model, i); r++) {
      const struct notification *note = &items->items[i].note;
      uint64_t ref = reasons[r] == REASON_TOOL ? tool_ref(settings, note) : 0;
      if (forbidden(settings, note, reasons[r])) end(model, i, OUTCOME_FILTERED, reasons[r], ref);
    }
  }
}

/* -- what is older than what is shown ---------------------------------------------------------- */

static bool names(const struct item *item, struct tidings_span path) {
  for (size_t p = 0; item->note.made_by == MADE_BY_FILE_CHANGED && p < item->facts.path_count; p++)
    if (span_equal(item->facts.paths[p], path)) return true;
  return false;
}

/* Finds the newest shown report of this file, if it differs from this item; else returns 0. */
static uint64_t newer_report(const struct model *model, const struct items *items, size_t i,
                             struct tidings_span path) {
  const struct item *item = &items->items[i];
  size_t newest = i;
  for (size_t j = 0; j < items->count; j++)
    if (model->dispositions[j].outcome == OUTCOME_DELIVERED && names(&items->items[j], path))
      newest = j;
  const struct item *newer = &items->items[newest];
  bool says_more =
      newer->facts.change != item->facts.change || span_equal(newer->note.tool, item->note.tool);
  return newest > i && says_more && (!critical(items, i) || critical(items, newest)) ? newer->n : 0;
}

/* Ended items of a line no longer wait; the line no longer waits if all its items have ended. */
static void leave_line(struct model *model, const struct model_line *line, const bool *ended) {
  size_t count = 0;
  for (size_t i = 0; i < line->count; i++) count += ended[line->items[i]];
  model->waiting -= count;
  if (!count || count < line->count) return;
  model->deferred--;
  if (model->is_too_large[line->items[0]]) model->too_large--;
}

static void model_end_older(struct model *model, const struct items *items) {
  uint64_t newer[MOST_ITEMS] = {0};
  bool ended[MOST_ITEMS] = {false};
  for (size_t i = 0; i < items->count; i++) {
    const struct item *item = &items->items[i];
    bool all = left(model, i) && item->note.made_by == MADE_BY_FILE_CHANGED;
    for (size_t p = 0; all && p < item->facts.path_count; p++) {
      newer[i] = newer_report(model, items, i, item->facts.paths[p]);
      all = newer[i] != 0;
    }
    ended[i] = all && newer[i];
  }
  for (size_t l = 0; l < model->made_count; l++) leave_line(model, &model->made[l], ended);
  for (size_t i = 0; i < items->count; i++)
    if (ended[i]) end(model, i, OUTCOME_SUPERSEDED, REASON_NEWER_STATE, newer[i]);
}

void model_plan(struct model *model, const struct items *items, const struct settings *settings,
                int64_t now_ms, const struct room *room, struct arena *arena) {
  *model = (struct model){.arena = arena};
  for (size_t i = 0; i < items->count; i++) {
    const struct item *item = &items->items[i];
    model->dispositions[i].n = model->places[i] = item->n;
  }
  model_withdraw(model, items);
  items = &model->seen;
  if (settings->annihilate) model_annihilate(model, items, now_ms);
  model_filter(model, items, settings);
  model_supersede(model, items, REASON_NEWER_KEY, same_key);
  model_supersede(model, items, REASON_NEWER_STATE, same_state);
  for (size_t i = 0; i < items->count; i++) {
    const struct item *item = &items->items[i];
    if (left(model, i) && item->note.ttl_ms && now_ms - item->time_ms >= item->note.ttl_ms)
      end(model, i, OUTCOME_EXPIRED, REASON_TTL, 0);
  }
  model_lines(model, items, settings, room);
  for (size_t a = 0; a < model->shown; a++) {
    const struct model_line *line = &model->lines[a];
    for (size_t i = 0; i < line->count; i++) {
      end(model, line->items[i], OUTCOME_DELIVERED,
          line->file_count && !model_names(model, items, line, line->items[i]) ? REASON_COUNTED
          : line->shortened                                                    ? REASON_SHORTENED
                                                                               : REASON_SHOWN,
          line->count > 1 ? items->items[line->items[0]].n : 0);
    }
  }
  model_end_older(model, items);
  for (size_t i = 0; i < items->count; i++) {
    const struct item *item = &items->items[i];
    bool edit = model->dispositions[i].reason == REASON_CAUSED_BY && model_is_file(item);
    long long awaited_ms = item->facts.stamps ? 60000 : 2000;
    if (!edit || llabs((long long)(item->time_ms - now_ms)) > awaited_ms) continue;
    model->dispositions[i] = (struct disposition){.n = item->n}; /* watchers may be late */
    model->awaited++;
  }
}
