/* SPDX-License-Identifier: MIT
 *
 * rules/policy/supersede.c: keeps only the newest of several items of one source with the same key,
 * or of several states of one handle, MCP server, budget or rate limit. The newest takes the place
 * of the oldest. Only a critical item supersedes a critical one. A silent item supersedes others,
 * and is then removed too.
 */
#include "rules/policy/steps.h"

/* Items that are about the same thing. */
struct subjects {
  struct tidings_span *names; /* equal for items about the same thing */
  size_t *items, *leaders;
  size_t *newest, *newest_critical; /* at the leader of each group */
  size_t count;
};

static struct tidings_span subject_state(const struct item *item) {
  switch (item->note.made_by) {
  case MADE_BY_HANDLE_STATE:
  case MADE_BY_RUN_FINISHED:
  case MADE_BY_RUN_FAILED: return item->note.handle;
  case MADE_BY_MCP_STATE: return item->facts.server;
  case MADE_BY_BUDGET_USAGE: return span_text("tokens");
  case MADE_BY_RATE_LIMITED:
    return item->facts.provider.len ? item->facts.provider : span_text("any");
  default: return span_of(NULL, 0);
  }
}

static struct tidings_span subject_of(const struct item *item, enum reason reason) {
  return reason == REASON_NEWER_KEY ? item->note.key : subject_state(item);
}

/* The owner of the name: keys belong to a source; the reports of a handle have several sources. */
static struct tidings_span subject_owner(const struct item *item, enum reason reason) {
  if (reason == REASON_NEWER_KEY) return item->note.source;
  switch (item->note.made_by) {
  case MADE_BY_MCP_STATE: return span_text("server");
  case MADE_BY_BUDGET_USAGE: return span_text("budget");
  case MADE_BY_RATE_LIMITED:
    return span_text(item->facts.provider.len ? "provider" : "any provider");
  default: return span_text("handle");
  }
}

int policy_subject(const struct item *item, enum reason reason, struct arena *arena,
                   struct tidings_span *ret) {
  struct tidings_span owner = subject_owner(item, reason), name = subject_of(item, reason);
  *ret = span_of(NULL, 0);
  if (!name.len) return 0;
  char *text = arena_alloc(arena, owner.len + 1 + name.len);
  if (!text) return -1;
  memcpy(text, owner.ptr, owner.len);
  text[owner.len] = '\0';
  memcpy(text + owner.len + 1, name.ptr, name.len);
  *ret = span_of(text, owner.len + 1 + name.len);
  return 0;
}

static int find_subjects(const struct work *work, enum reason reason, struct subjects *subjects) {
  struct arena *arena = work->arena;
  size_t most = 0;
  for (size_t i = 0; i < work->item_count; i++)
    most += is_left(work, i) && subject_of(&work->items[i], reason).len;
  if (most < 2) return 0;
  subjects->names = arena_array(arena, most, sizeof *subjects->names);
  subjects->items = arena_array(arena, most, sizeof *subjects->items);
  subjects->leaders = arena_array(arena, most, sizeof *subjects->leaders);
  subjects->newest = arena_array(arena, most, sizeof *subjects->newest);
  subjects->newest_critical = arena_array(arena, most, sizeof *subjects->newest_critical);
  if (!subjects->names || !subjects->items || !subjects->leaders || !subjects->newest ||
      !subjects->newest_critical)
    return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    if (!is_left(work, i) || !subject_of(&work->items[i], reason).len) continue;
    if (policy_subject(&work->items[i], reason, arena, &subjects->names[subjects->count]))
      return -1;
    subjects->items[subjects->count++] = i;
  }
  return policy_group_equal(subjects->names, subjects->count, arena, subjects->leaders);
}

static void note_newest(const struct work *work, size_t *newest, size_t i) {
  if (*newest == NO_ITEM || item_is_newer(&work->items[i], &work->items[*newest])) *newest = i;
}

static bool is_silent(const struct item *item) {
  return item->note.activation == ACTIVATION_SILENT;
}

static int supersede_by(struct work *work, enum reason reason) {
  struct subjects subjects = {.count = 0};
  if (find_subjects(work, reason, &subjects)) return -1;
  for (size_t s = 0; s < subjects.count; s++)
    subjects.newest[s] = subjects.newest_critical[s] = NO_ITEM;
  for (size_t s = 0; s < subjects.count; s++) {
    size_t i = subjects.items[s], leader = subjects.leaders[s];
    note_newest(work, &subjects.newest[leader], i);
    if (notification_is_critical(&work->items[i].note))
      note_newest(work, &subjects.newest_critical[leader], i);
  }
  for (size_t s = 0; s < subjects.count; s++) {
    size_t i = subjects.items[s];
    bool critical = notification_is_critical(&work->items[i].note);
    size_t stays = (critical ? subjects.newest_critical : subjects.newest)[subjects.leaders[s]];
    if (i == stays) continue;
    if (is_silent(&work->items[stays]))
      end_item(work, i, OUTCOME_WITHDRAWN, REASON_TAKEN_BACK, work->items[stays].n);
    else end_item(work, i, OUTCOME_SUPERSEDED, reason, work->items[stays].n);
    if (work->places[i] < work->places[stays]) work->places[stays] = work->places[i];
  }
  return 0;
}

int policy_supersede(struct work *work) {
  if (supersede_by(work, REASON_NEWER_KEY) || supersede_by(work, REASON_NEWER_STATE)) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    if (is_left(work, i) && is_silent(&work->items[i]))
      end_item(work, i, OUTCOME_WITHDRAWN, REASON_SILENT, 0);
  }
  return 0;
}
