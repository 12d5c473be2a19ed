/* SPDX-License-Identifier: MIT
 *
 * rules/policy/withdraw.c: removes items that the model already knows, because it did or saw the
 * thing itself.
 *
 * Watchers also see a file that one of the model's own calls has changed, and their reports are
 * withdrawn with it. Equal stamps prove that both saw the same file; different stamps prove that
 * another program has changed it too. If one side has no stamp, a watcher's report shortly before
 * or after the edit counts as the same change. Watchers report later than the call's own carrier,
 * so the report of an edit stays pending, without ever being shown, until no watcher's report can
 * arrive any more.
 */
#include <stdlib.h>

#include "rules/policy/steps.h"

enum {
  WATCHER_MS = 2000, /* how far a watcher's notification may be from the change that it saw */
  PROOF_MS = 60000   /* how long an edit with a stamp waits for a watcher; a long time is cheap,
                        because a stamp withdraws nothing by mistake */
};

struct edit {                      /* a path that the assistant's own call has changed */
  struct tidings_span path, stamp; /* stamp empty: not given */
  int64_t time_ms;
  uint64_t n;
};

static int by_path(const void *left, const void *right) {
  const struct edit *a = left, *b = right;
  size_t common = a->path.len < b->path.len ? a->path.len : b->path.len;
  int order = common ? memcmp(a->path.ptr, b->path.ptr, common) : 0;
  if (order) return order;
  if (a->path.len != b->path.len) return a->path.len < b->path.len ? -1 : 1;
  return a->n < b->n ? -1 : a->n > b->n;
}

static bool is_near(int64_t a, int64_t b, int64_t within_ms) {
  int64_t apart;
  return !__builtin_sub_overflow(a, b, &apart) && apart >= -within_ms && apart <= within_ms;
}

static struct tidings_span stamp_of(const struct item *item, size_t path) {
  return item->facts.stamps ? item->facts.stamps[path] : span_of(NULL, 0);
}

static bool is_same_change(const struct edit *edit, const struct edit *seen) {
  if (edit->stamp.len && seen->stamp.len) return span_equal(edit->stamp, seen->stamp);
  return is_near(edit->time_ms, seen->time_ms, WATCHER_MS);
}

/* The first edit, by n, that made the change which was seen; NULL: there is none. */
static const struct edit *find_edit(const struct edit *edits, size_t count,
                                    const struct edit *seen) {
  const struct edit wanted = {.path = seen->path};
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (by_path(&edits[middle], &wanted) < 0) low = middle + 1;
    else high = middle;
  }
  for (; low < count && span_equal(edits[low].path, seen->path); low++) {
    if (is_same_change(&edits[low], seen)) return &edits[low];
  }
  return NULL;
}

/* All of an item's paths must be the assistant's own doing. */
static const struct edit *own_edit(const struct edit *edits, size_t count,
                                   const struct item *item) {
  const struct edit *edit = NULL;
  for (size_t i = 0; i < item->facts.path_count; i++) {
    const struct edit seen = {
        .path = item->facts.paths[i], .stamp = stamp_of(item, i), .time_ms = item->time_ms};
    edit = find_edit(edits, count, &seen);
    if (!edit) return NULL;
  }
  return edit;
}

int policy_withdraw(struct work *work) {
  size_t most = 0, count = 0;
  for (size_t i = 0; i < work->item_count; i++) {
    const struct item *item = &work->items[i];
    if (!item->note.caused_by.len || notification_is_critical(&item->note) || !is_left(work, i))
      continue;
    end_item(work, i, OUTCOME_WITHDRAWN, REASON_CAUSED_BY, 0);
    if (is_file_change(item)) most += item->facts.path_count;
  }
  if (!most) return 0;
  struct edit *edits = arena_zalloc(work->arena, most, sizeof *edits);
  if (!edits) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    const struct item *item = &work->items[i];
    if (work->dispositions[i].reason != REASON_CAUSED_BY || !is_file_change(item)) continue;
    for (size_t p = 0; p < item->facts.path_count; p++)
      edits[count++] = (struct edit){.path = item->facts.paths[p],
                                     .stamp = stamp_of(item, p),
                                     .time_ms = item->time_ms,
                                     .n = item->n};
  }
  qsort(edits, count, sizeof *edits, by_path);
  for (size_t i = 0; i < work->item_count; i++) {
    const struct item *item = &work->items[i];
    const struct edit *edit =
        is_left(work, i) && is_file_change(item) ? own_edit(edits, count, item) : NULL;
    if (edit) end_item(work, i, OUTCOME_WITHDRAWN, REASON_OWN_EDIT, edit->n);
  }
  return 0;
}

bool policy_is_awaited(const struct work *work, size_t index) {
  const struct item *item = &work->items[index];
  return work->dispositions[index].reason == REASON_CAUSED_BY && is_file_change(item) &&
         is_near(item->time_ms, work->now_ms, item->facts.stamps ? PROOF_MS : WATCHER_MS);
}

size_t plan_withdrawal(const struct item *items, size_t item_count, struct tidings_span handle,
                       enum reason reason, bool critical, struct disposition *dispositions) {
  size_t count = 0;
  for (size_t i = 0; i < item_count; i++) {
    const struct notification *note = &items[i].note;
    bool waits = span_is(note->source, "tool") && span_is(note->name, "waiting");
    if (!note->message.len || !span_equal(note->handle, handle) ||
        (reason == REASON_RUNNING && !waits) || (notification_is_critical(note) && !critical))
      continue;
    dispositions[count++] = (struct disposition){
        .n = items[i].n, .outcome = OUTCOME_WITHDRAWN, .reason = (uint8_t)reason};
  }
  return count;
}
