/* SPDX-License-Identifier: MIT
 *
 * rules/policy/replace.c: an item that waits for its time makes way for a later item with the same
 * key, whether the later one is due or not. So the newest reminder with a key counts, whatever the
 * older ones were for.
 */
#include "rules/policy/steps.h"

/* The newest item with one key. */
struct latest {
  const struct item *any, *critical;
};

/* An item that is due waits for nothing: the other steps handle it. */
static bool can_be_replaced(const struct item *item, int64_t now_ms) {
  return item->note.message.len && item->note.key.len && !item_is_due(item, now_ms);
}

/* An item that is never shown, or that the settings filter out, takes no other's place. */
static bool can_replace(const struct item *item, const struct settings *settings, int64_t now_ms) {
  const struct notification *note = &item->note;
  if (note->activation == ACTIVATION_SILENT && !item_is_due(item, now_ms)) return false;
  return note->message.len && note->key.len &&
         (!note->caused_by.len || notification_is_critical(note)) &&
         policy_filter_reason(settings, note) == REASON_NONE;
}

/* An item that another session had has its number of this session; its time says when it was
 * pushed. */
static bool was_pushed_later(const struct item *item, const struct item *other) {
  if ((item->copied || other->copied) && item->pushed_ms != other->pushed_ms)
    return item->pushed_ms > other->pushed_ms;
  return item->n > other->n;
}

static void note_latest(const struct item **latest, const struct item *item) {
  if (!*latest || was_pushed_later(item, *latest)) *latest = item;
}

static size_t write_replaced(const struct item *items, size_t count, int64_t now_ms,
                             const size_t *leaders, const struct latest *latest,
                             struct disposition *dispositions) {
  size_t written = 0;
  for (size_t i = 0; i < count; i++) {
    const struct item *item = &items[i], *by;
    if (!can_be_replaced(item, now_ms)) continue;
    by = notification_is_critical(&item->note) ? latest[leaders[i]].critical
                                               : latest[leaders[i]].any;
    if (!by || !was_pushed_later(by, item)) continue;
    bool silent = by->note.activation == ACTIVATION_SILENT;
    dispositions[written++] =
        (struct disposition){.n = item->n,
                             .ref = by->n,
                             .outcome = silent ? OUTCOME_WITHDRAWN : OUTCOME_SUPERSEDED,
                             .reason = silent ? REASON_TAKEN_BACK : REASON_NEWER_KEY};
  }
  return written;
}

int plan_replaced(const struct item *items, size_t item_count, const struct settings *settings,
                  int64_t now_ms, struct arena *arena, struct disposition **ret_dispositions,
                  size_t *ret_count) {
  size_t waiting = 0;
  for (size_t i = 0; i < item_count; i++) waiting += can_be_replaced(&items[i], now_ms);
  *ret_count = 0;
  *ret_dispositions = NULL;
  if (!waiting || item_count < 2) return 0;
  struct tidings_span *names = arena_zalloc(arena, item_count, sizeof *names);
  size_t *leaders = arena_array(arena, item_count, sizeof *leaders);
  struct latest *latest = arena_zalloc(arena, item_count, sizeof *latest);
  struct disposition *dispositions = arena_zalloc(arena, waiting, sizeof *dispositions);
  if (!names || !leaders || !latest || !dispositions) return -1;
  for (size_t i = 0; i < item_count; i++)
    if (policy_subject(&items[i], REASON_NEWER_KEY, arena, &names[i])) return -1;
  if (policy_group_equal(names, item_count, arena, leaders)) return -1;
  for (size_t i = 0; i < item_count; i++) {
    if (!can_replace(&items[i], settings, now_ms)) continue;
    note_latest(&latest[leaders[i]].any, &items[i]);
    if (notification_is_critical(&items[i].note))
      note_latest(&latest[leaders[i]].critical, &items[i]);
  }
  *ret_count = write_replaced(items, item_count, now_ms, leaders, latest, dispositions);
  *ret_dispositions = dispositions;
  return 0;
}
