/* SPDX-License-Identifier: MIT
 *
 * rules/policy/outdated.c: finds pending items that are older than a shown item about the same
 * thing: the same key of one source, the same handle, MCP server, budget or limit, or the same
 * files. The older ones were leased while the newer ones were shown. A critical item gives way to a
 * critical one only.
 */
#include "rules/policy/steps.h"

/* All items: first the pending ones, then the shown ones. */
struct comparison {
  const struct item *pending, *shown;
  size_t pending_count, shown_count;
  struct arena *arena;
  struct item *shortening; /* the pending ones, if files are to be left out of them; else NULL */
  struct disposition *dispositions; /* of each pending one; OUTCOME_NONE: not outdated */
};

static const struct item *item_at(const struct comparison *comparison, size_t i) {
  return i < comparison->pending_count ? &comparison->pending[i]
                                       : &comparison->shown[i - comparison->pending_count];
}

static bool gives_way(const struct item *item, const struct item *newer) {
  return (item_is_newer(newer, item) || policy_replaces(newer, item)) &&
         (!notification_is_critical(&item->note) || notification_is_critical(&newer->note));
}

static void note_newer(const struct item **newest, const struct item *item) {
  if (!*newest || item_is_newer(item, *newest)) *newest = item;
}

/* -- keys, handles and servers ----------------------------------------------------------------- */

/* The newest reports about a subject: by the time that counts, and by push. */
struct newest {
  const struct item *any, *critical;
  const struct item *pushed, *pushed_critical;
};

static void note_pushed(const struct item **newest, const struct item *item) {
  if (!*newest || policy_was_pushed_later(item, *newest)) *newest = item;
}

static void note_report(struct newest *newest, const struct item *item) {
  note_newer(&newest->any, item);
  note_pushed(&newest->pushed, item);
  if (!notification_is_critical(&item->note)) return;
  note_newer(&newest->critical, item);
  note_pushed(&newest->pushed_critical, item);
}

/* The one that the item gives way to; NULL: there is none. */
static const struct item *newer_than(const struct newest *newest, const struct item *item) {
  bool critical = notification_is_critical(&item->note);
  const struct item *newer = critical ? newest->critical : newest->any,
                    *pushed = critical ? newest->pushed_critical : newest->pushed;
  if (newer && gives_way(item, newer)) return newer;
  return pushed && gives_way(item, pushed) ? pushed : NULL;
}

static int compare_subjects(struct comparison *comparison, enum reason reason) {
  size_t count = comparison->pending_count + comparison->shown_count;
  struct arena *arena = comparison->arena;
  struct tidings_span *names = arena_zalloc(arena, count, sizeof *names);
  size_t *leaders = arena_array(arena, count, sizeof *leaders);
  struct newest *newest = arena_zalloc(arena, count, sizeof *newest);
  if (!names || !leaders || !newest) return -1;
  for (size_t i = 0; i < count; i++)
    if (policy_subject(item_at(comparison, i), reason, arena, &names[i])) return -1;
  if (policy_group_equal(names, count, arena, leaders)) return -1;
  for (size_t i = comparison->pending_count; i < count; i++)
    note_report(&newest[leaders[i]], item_at(comparison, i));
  for (size_t i = 0; i < comparison->pending_count; i++) {
    const struct item *item = item_at(comparison, i);
    const struct item *newer = newer_than(&newest[leaders[i]], item);
    if (!names[i].len || !newer) continue;
    comparison->dispositions[i] =
        (struct disposition){item->n, newer->n, OUTCOME_SUPERSEDED, (uint8_t)reason};
  }
  return 0;
}

/* -- files ------------------------------------------------------------------------------------- */

static bool names_files(const struct item *item) {
  return item->note.made_by == MADE_BY_FILE_CHANGED && item->facts.path_count;
}

/* Two reports that a file was modified may be about two changes. */
static bool says_anew(const struct item *item, const struct item *newer) {
  return gives_way(item, newer) && (item->facts.change != newer->facts.change ||
                                    span_equal(item->note.tool, newer->note.tool));
}

static size_t count_paths(const struct comparison *comparison) {
  size_t count = 0;
  for (size_t i = 0; i < comparison->pending_count + comparison->shown_count; i++)
    if (names_files(item_at(comparison, i))) count += item_at(comparison, i)->facts.path_count;
  return count;
}

static int leave_out_files_of(struct comparison *comparison, size_t i, const size_t *leaders,
                              const struct item *const *newest) {
  struct item *item = &comparison->shortening[i];
  bool *out = arena_array(comparison->arena, item->facts.path_count, sizeof *out);
  if (!out) return -1;
  for (size_t p = 0; p < item->facts.path_count; p++)
    out[p] = newest[leaders[p]] && says_anew(item, newest[leaders[p]]);
  return policy_leave_out(item, out, comparison->arena);
}

/* An item is outdated only if all its files are in newer reports. */
static int compare_files_of(struct comparison *comparison, size_t i, const size_t *leaders,
                            const struct item *const *newest) {
  const struct item *item = item_at(comparison, i), *last = NULL;
  size_t count = 0;
  for (size_t p = 0; p < item->facts.path_count; p++) {
    const struct item *newer = newest[leaders[p]];
    if (!newer || !says_anew(item, newer)) continue;
    last = newer;
    count++;
  }
  if (!last) return 0;
  if (count == item->facts.path_count)
    comparison->dispositions[i] =
        (struct disposition){item->n, last->n, OUTCOME_SUPERSEDED, (uint8_t)REASON_NEWER_STATE};
  else if (comparison->shortening && is_file_change(item))
    return leave_out_files_of(comparison, i, leaders, newest);
  return 0;
}

static int compare_files(struct comparison *comparison) {
  size_t most = count_paths(comparison), at = 0, first_shown = 0;
  size_t count = comparison->pending_count + comparison->shown_count;
  struct arena *arena = comparison->arena;
  struct tidings_span *paths = arena_array(arena, most, sizeof *paths);
  size_t *leaders = arena_array(arena, most, sizeof *leaders);
  const struct item **newest = arena_zalloc(arena, most, sizeof *newest);
  if (!paths || !leaders || !newest) return -1;
  for (size_t i = 0; i < count; i++) {
    const struct facts *facts = &item_at(comparison, i)->facts;
    if (i == comparison->pending_count) first_shown = at;
    if (!names_files(item_at(comparison, i))) continue;
    for (size_t p = 0; p < facts->path_count; p++) paths[at++] = facts->paths[p];
  }
  if (policy_group_equal(paths, most, arena, leaders)) return -1;
  for (size_t i = comparison->pending_count, m = first_shown; i < count; i++) {
    const struct item *item = item_at(comparison, i);
    if (!names_files(item)) continue;
    for (size_t p = 0; p < item->facts.path_count; p++) note_newer(&newest[leaders[m++]], item);
  }
  for (size_t i = 0, m = 0; i < comparison->pending_count; i++) {
    size_t path_count = item_at(comparison, i)->facts.path_count;
    if (!names_files(item_at(comparison, i))) continue;
    if (compare_files_of(comparison, i, leaders + m, newest)) return -1;
    m += path_count;
  }
  return 0;
}

/* -- the call ---------------------------------------------------------------------------------- */

bool plan_can_be_outdated(const struct item *item) {
  const struct notification *note = &item->note;
  if (!note->message.len) return false;
  if (note->caused_by.len && !notification_is_critical(note)) return false; /* is never shown */
  return note->key.len || note->handle.len || note->made_by == MADE_BY_MCP_STATE ||
         note->made_by == MADE_BY_FILE_CHANGED || note->made_by == MADE_BY_BUDGET_USAGE ||
         note->made_by == MADE_BY_RATE_LIMITED;
}

/* `shortening` NULL: ends what is outdated; else ends what has no path left, and takes the outdated
 * paths off the other items there. */
static int list_outdated(struct comparison *comparison, size_t *ret_count) {
  struct disposition *dispositions = comparison->dispositions;
  size_t ended = 0;
  for (size_t i = 0; i < comparison->pending_count; i++)
    dispositions[i] = (struct disposition){.n = 0};
  if (!comparison->shortening && (compare_subjects(comparison, REASON_NEWER_KEY) ||
                                  compare_subjects(comparison, REASON_NEWER_STATE)))
    return -1;
  if (compare_files(comparison)) return -1;
  for (size_t i = 0; i < comparison->pending_count; i++)
    if (dispositions[i].outcome) dispositions[ended++] = dispositions[i];
  *ret_count = ended;
  return 0;
}

int plan_outdated(const struct item *pending, size_t pending_count, const struct item *shown,
                  size_t shown_count, struct arena *arena, struct disposition *ret_dispositions,
                  size_t *ret_count) {
  struct comparison comparison = {.pending = pending,
                                  .shown = shown,
                                  .pending_count = pending_count,
                                  .shown_count = shown_count,
                                  .arena = arena,
                                  .dispositions = ret_dispositions};
  return list_outdated(&comparison, ret_count);
}

int plan_leave_out(struct item *pending, size_t pending_count, const struct item *shown,
                   size_t shown_count, struct arena *arena, struct disposition *ret_dispositions,
                   size_t *ret_count) {
  struct comparison comparison = {.pending = pending,
                                  .shown = shown,
                                  .pending_count = pending_count,
                                  .shown_count = shown_count,
                                  .arena = arena,
                                  .shortening = pending,
                                  .dispositions = ret_dispositions};
  return list_outdated(&comparison, ret_count);
}
