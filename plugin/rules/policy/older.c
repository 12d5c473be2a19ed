/* SPDX-License-Identifier: MIT
 *
 * rules/policy/older.c: keeps the newest state of files valid if a newer report is shown before an
 * older one. That happens with newest first and a cap, or if the older report has no room. An item
 * that waits ends as superseded if a newer report of the same files is shown.
 */
#include "rules/policy/steps.h"

static bool reports_files(const struct item *item) {
  return item->note.made_by == MADE_BY_FILE_CHANGED && item->facts.path_count;
}

/* Keys, handles and servers need no second look: for each of them only the newest item is left, and
 * perhaps a critical one, which gives way to no other. */
int policy_note_lines(struct work *work) {
  size_t count = 0;
  for (size_t i = 0; i < work->item_count; i++)
    count += is_left(work, i) && reports_files(&work->items[i]);
  if (count < 2) return 0;
  work->made = arena_array(work->arena, work->line_count, sizeof *work->made);
  if (!work->made) return -1;
  memcpy(work->made, work->lines, work->line_count * sizeof *work->made);
  work->made_count = work->line_count;
  return 0;
}

static size_t gather(const struct work *work, enum outcome outcome, struct item *items) {
  size_t count = 0;
  for (size_t i = 0; i < work->item_count; i++)
    if (work->dispositions[i].outcome == outcome && reports_files(&work->items[i]))
      items[count++] = work->items[i];
  return count;
}

static bool waits(const struct work *work, const struct line *line) {
  for (size_t i = first_of(work, line); i != NO_ITEM; i = work->next[i])
    if (is_left(work, i)) return true;
  return false;
}

/* A line does not wait any more if all its items end here. In this function its `count` says
 * whether it waited before. */
static void end_items(struct work *work, const struct disposition *ended, size_t count) {
  for (size_t l = 0; l < work->made_count; l++) work->made[l].count = waits(work, &work->made[l]);
  for (size_t i = 0, e = 0; i < work->item_count && e < count; i++)
    if (work->items[i].n == ended[e].n) work->dispositions[i] = ended[e++];
  for (size_t l = 0; l < work->made_count; l++) {
    const struct line *line = &work->made[l];
    if (!line->count || waits(work, line)) continue;
    work->deferred--;
    work->outdated++;
    if (work->is_too_large && work->is_too_large[first_of(work, line)]) work->too_large--;
  }
}

int policy_end_older(struct work *work) {
  if (!work->made_count || !work->line_count || work->line_count == work->made_count) return 0;
  struct item *pending = arena_array(work->arena, work->item_count, sizeof *pending);
  struct item *shown = arena_array(work->arena, work->item_count, sizeof *shown);
  if (!pending || !shown) return -1;
  size_t count = gather(work, OUTCOME_NONE, pending), ended_count = 0,
         shown_count = gather(work, OUTCOME_DELIVERED, shown);
  struct disposition *ended = arena_array(work->arena, count, sizeof *ended);
  if (!ended) return -1;
  if (!count || !shown_count) return 0;
  if (plan_outdated(pending, count, shown, shown_count, work->arena, ended, &ended_count))
    return -1;
  end_items(work, ended, ended_count);
  return 0;
}
