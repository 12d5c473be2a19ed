/* SPDX-License-Identifier: MIT
 *
 * rules/policy/replace.c: an item for a later time makes way for an item with the same key that was
 * pushed after it and before that time, whether this other item is due or not. So the newest
 * reminder with a key counts, whatever the older ones were for. Carriers that come after that time
 * decide the same.
 */
#include <stdlib.h>

#include "rules/policy/steps.h"

/* An item that can replace others. Replacers are sorted by key and, for each key, by push. */
struct replacer {
  const struct item *item;
  size_t key;          /* a leader */
  int64_t earliest_ms; /* the earliest time at which it, or one after it with the same key, was
                          pushed */
};
struct replacers {
  struct replacer *all, *critical; /* a critical item makes way for a critical one only */
  size_t count, critical_count;
};

/* Do the steps before supersede leave the item? */
static bool is_wanted(const struct item *item, const struct settings *settings) {
  const struct notification *note = &item->note;
  return (!note->caused_by.len || notification_is_critical(note)) &&
         policy_filter_reason(settings, note) == REASON_NONE;
}

static bool can_be_replaced(const struct item *item, const struct settings *settings,
                            int64_t now_ms) {
  const struct notification *note = &item->note;
  if (!note->message.len || !note->key.len || !note->due_ms) return false;
  return !item_is_due(item, now_ms) || is_wanted(item, settings);
}

static bool can_replace(const struct item *item, const struct settings *settings, int64_t now_ms) {
  const struct notification *note = &item->note;
  if (note->activation == ACTIVATION_SILENT && !item_is_due(item, now_ms)) return false;
  return note->message.len && note->key.len && is_wanted(item, settings);
}

/* The number of an item that came from another session is this session's, so its time says when it
 * was pushed. */
bool policy_was_pushed_later(const struct item *item, const struct item *other) {
  if ((item->copied || other->copied) && item->pushed_ms != other->pushed_ms)
    return item->pushed_ms > other->pushed_ms;
  return item->n > other->n;
}

bool policy_replaces(const struct item *item, const struct item *other) {
  return other->note.due_ms && policy_was_pushed_later(item, other) &&
         item->pushed_ms < other->time_ms;
}

static int by_key_and_push(const void *left, const void *right) {
  const struct replacer *a = left, *b = right;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return policy_was_pushed_later(b->item, a->item) ? -1 : policy_was_pushed_later(a->item, b->item);
}

static void sort_replacers(struct replacer *replacers, size_t count) {
  qsort(replacers, count, sizeof *replacers, by_key_and_push);
  for (size_t i = count; i-- > 0;) {
    const struct replacer *next = i + 1 < count ? &replacers[i + 1] : NULL;
    replacers[i].earliest_ms = replacers[i].item->pushed_ms;
    if (next && next->key == replacers[i].key && next->earliest_ms < replacers[i].earliest_ms)
      replacers[i].earliest_ms = next->earliest_ms;
  }
}

/* The newest item with this key that was pushed before the item's time. NULL: none replaces it. */
static const struct item *find_replacer(const struct replacer *replacers, size_t count, size_t key,
                                        const struct item *item) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const struct replacer *at = &replacers[middle];
    if (at->key < key || (at->key == key && at->earliest_ms < item->time_ms)) low = middle + 1;
    else high = middle;
  }
  if (!low || replacers[low - 1].key != key) return NULL;
  return policy_replaces(replacers[low - 1].item, item) ? replacers[low - 1].item : NULL;
}

static int find_replacers(const struct item *items, size_t count, const struct settings *settings,
                          int64_t now_ms, const size_t *keys, struct arena *arena,
                          struct replacers *ret) {
  *ret = (struct replacers){.all = arena_array(arena, count, sizeof *ret->all),
                            .critical = arena_array(arena, count, sizeof *ret->critical)};
  if (!ret->all || !ret->critical) return -1;
  for (size_t i = 0; i < count; i++) {
    if (!can_replace(&items[i], settings, now_ms)) continue;
    const struct replacer replacer = {.item = &items[i], .key = keys[i]};
    ret->all[ret->count++] = replacer;
    if (notification_is_critical(&items[i].note)) ret->critical[ret->critical_count++] = replacer;
  }
  sort_replacers(ret->all, ret->count);
  sort_replacers(ret->critical, ret->critical_count);
  return 0;
}

static const struct item *replacer_of(const struct replacers *replacers, const struct item *item,
                                      size_t key) {
  if (notification_is_critical(&item->note))
    return find_replacer(replacers->critical, replacers->critical_count, key, item);
  return find_replacer(replacers->all, replacers->count, key, item);
}

int plan_replaced(const struct item *items, size_t item_count, const struct settings *settings,
                  int64_t now_ms, struct arena *arena, struct disposition **ret_dispositions,
                  size_t *ret_count) {
  struct replacers replacers;
  size_t most = 0, written = 0;
  for (size_t i = 0; i < item_count; i++) most += can_be_replaced(&items[i], settings, now_ms);
  *ret_count = 0;
  *ret_dispositions = NULL;
  if (!most || item_count < 2) return 0;
  struct tidings_span *names = arena_zalloc(arena, item_count, sizeof *names);
  size_t *keys = arena_array(arena, item_count, sizeof *keys);
  struct disposition *dispositions = arena_zalloc(arena, most, sizeof *dispositions);
  if (!names || !keys || !dispositions) return -1;
  for (size_t i = 0; i < item_count; i++)
    if (policy_subject(&items[i], REASON_NEWER_KEY, arena, &names[i])) return -1;
  if (policy_group_equal(names, item_count, arena, keys) ||
      find_replacers(items, item_count, settings, now_ms, keys, arena, &replacers))
    return -1;
  for (size_t i = 0; i < item_count; i++) {
    if (!can_be_replaced(&items[i], settings, now_ms)) continue;
    const struct item *by = replacer_of(&replacers, &items[i], keys[i]);
    if (!by) continue;
    bool silent = by->note.activation == ACTIVATION_SILENT;
    dispositions[written++] =
        (struct disposition){.n = items[i].n,
                             .ref = by->n,
                             .outcome = silent ? OUTCOME_WITHDRAWN : OUTCOME_SUPERSEDED,
                             .reason = silent ? REASON_TAKEN_BACK : REASON_NEWER_KEY};
  }
  *ret_count = written;
  *ret_dispositions = dispositions;
  return 0;
}
