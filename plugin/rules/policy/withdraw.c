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

struct edits {
  struct edit *by_stamp, *by_time; /* the same ones, by path, then by stamp and time, or by time */
  size_t count;
};

static int compare_texts(struct tidings_span a, struct tidings_span b) {
  size_t common = a.len < b.len ? a.len : b.len;
  int order = common ? memcmp(a.ptr, b.ptr, common) : 0;
  if (order) return order;
  return a.len < b.len ? -1 : a.len > b.len;
}

static int compare_times(const void *left, const void *right) {
  const struct edit *a = left, *b = right;
  if (a->time_ms != b->time_ms) return a->time_ms < b->time_ms ? -1 : 1;
  return a->n < b->n ? -1 : a->n > b->n;
}

static int by_path_and_time(const void *left, const void *right) {
  const struct edit *a = left, *b = right;
  int order = compare_texts(a->path, b->path);
  return order ? order : compare_times(a, b);
}

static int by_path_and_stamp(const void *left, const void *right) {
  const struct edit *a = left, *b = right;
  int order = compare_texts(a->path, b->path);
  if (!order) order = compare_texts(a->stamp, b->stamp);
  return order ? order : compare_times(a, b);
}

static bool is_near(int64_t a, int64_t b, int64_t within_ms) {
  int64_t apart;
  return !__builtin_sub_overflow(a, b, &apart) && apart >= -within_ms && apart <= within_ms;
}

static struct tidings_span stamp_of(const struct item *item, size_t path) {
  return item->facts.stamps ? item->facts.stamps[path] : span_of(NULL, 0);
}

/* The first one that is not before `wanted` and has its path; NULL: there is none. */
static const struct edit *first_from(const struct edit *edits, size_t count,
                                     const struct edit *wanted,
                                     int (*compare)(const void *left, const void *right)) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare(&edits[middle], wanted) < 0) low = middle + 1;
    else high = middle;
  }
  return low < count && span_equal(edits[low].path, wanted->path) ? &edits[low] : NULL;
}

/* The earliest edit that made the change which was seen; NULL: there is none. */
static const struct edit *find_edit(const struct edits *edits, const struct edit *seen) {
  struct edit near = {.path = seen->path};
  if (__builtin_sub_overflow(seen->time_ms, (int64_t)WATCHER_MS, &near.time_ms))
    near.time_ms = INT64_MIN;
  bool stamped = seen->stamp.len > 0;
  const struct edit *edit =
      stamped ? first_from(edits->by_stamp, edits->count, &near, by_path_and_stamp)
              : first_from(edits->by_time, edits->count, &near, by_path_and_time);
  if (edit && ((stamped && edit->stamp.len) || !is_near(edit->time_ms, seen->time_ms, WATCHER_MS)))
    edit = NULL;
  if (!stamped) return edit;
  const struct edit same = {.path = seen->path, .stamp = seen->stamp, .time_ms = INT64_MIN};
  const struct edit *proof = first_from(edits->by_stamp, edits->count, &same, by_path_and_stamp);
  if (!proof || !span_equal(proof->stamp, seen->stamp)) return edit;
  return edit && compare_times(edit, proof) < 0 ? edit : proof;
}

static const struct edit *own_edit(const struct edits *edits, const struct item *item,
                                   size_t path) {
  const struct edit seen = {
      .path = item->facts.paths[path], .stamp = stamp_of(item, path), .time_ms = item->time_ms};
  return find_edit(edits, &seen);
}

/* Makes the item report only the files that others have changed. */
static int leave_out_own(struct work *work, size_t i, const bool *own) {
  if (!work->own_items) {
    work->own_items = arena_array(work->arena, work->item_count, sizeof *work->own_items);
    if (!work->own_items) return -1;
    memcpy(work->own_items, work->items, work->item_count * sizeof *work->own_items);
    work->items = work->own_items;
  }
  return policy_leave_out(&work->own_items[i], own, work->arena);
}

static int withdraw_own(struct work *work, const struct edits *edits, size_t i) {
  const struct item *item = &work->items[i];
  const struct edit *last = NULL;
  bool *own = arena_array(work->arena, item->facts.path_count, sizeof *own);
  size_t count = 0;
  if (!own) return -1;
  for (size_t p = 0; p < item->facts.path_count; p++) {
    const struct edit *edit = own_edit(edits, item, p);
    own[p] = edit != NULL;
    count += own[p];
    if (edit) last = edit;
  }
  if (!last) return 0;
  if (count < item->facts.path_count) return leave_out_own(work, i, own);
  end_item(work, i, OUTCOME_WITHDRAWN, REASON_OWN_EDIT, last->n);
  return 0;
}

static int gather_edits(const struct work *work, size_t most, struct edits *edits) {
  edits->by_stamp = arena_array(work->arena, most, sizeof *edits->by_stamp);
  edits->by_time = arena_array(work->arena, most, sizeof *edits->by_time);
  if (!edits->by_stamp || !edits->by_time) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    const struct item *item = &work->items[i];
    if (work->dispositions[i].reason != REASON_CAUSED_BY || !is_file_change(item)) continue;
    for (size_t p = 0; p < item->facts.path_count; p++)
      edits->by_stamp[edits->count++] = (struct edit){.path = item->facts.paths[p],
                                                      .stamp = stamp_of(item, p),
                                                      .time_ms = item->time_ms,
                                                      .n = item->n};
  }
  memcpy(edits->by_time, edits->by_stamp, edits->count * sizeof *edits->by_time);
  qsort(edits->by_stamp, edits->count, sizeof *edits->by_stamp, by_path_and_stamp);
  qsort(edits->by_time, edits->count, sizeof *edits->by_time, by_path_and_time);
  return 0;
}

int policy_withdraw(struct work *work) {
  struct edits edits = {.count = 0};
  size_t most = 0;
  for (size_t i = 0; i < work->item_count; i++) {
    const struct item *item = &work->items[i];
    if (!item->note.caused_by.len || notification_is_critical(&item->note) || !is_left(work, i))
      continue;
    end_item(work, i, OUTCOME_WITHDRAWN, REASON_CAUSED_BY, 0);
    if (is_file_change(item)) most += item->facts.path_count;
  }
  if (!most) return 0;
  if (gather_edits(work, most, &edits)) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    if (is_left(work, i) && is_file_change(&work->items[i]) && withdraw_own(work, &edits, i))
      return -1;
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
