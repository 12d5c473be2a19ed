/* SPDX-License-Identifier: MIT
 *
 * rules/policy/choose.c: finds the items that a plan needs, from the notes about all of them. It
 * makes the windows as coalesce.c does, and deals the lines out as fair.c does: a line is not
 * needed if `reach` others go before it. Items that other steps remove or look at are always
 * needed.
 */
#include <string.h>

#include "rules/policy/backlog_entries.h"
#include "rules/policy/steps.h"

enum {
  REST_AT_LEAST = 256, /* this many lines need more room than the sentence about them */
  REACH_AT_MOST = 512
};

enum kind_fate { KIND_PASSES, KIND_IS_FILTERED };

struct backlog_group {
  uint32_t open; /* index of its newest window + 1; 0: none */
  bool whole;    /* it has items that other steps look at */
};

#define ALWAYS_NEEDED UINT32_MAX

struct choosing {
  struct backlog *backlog;
  const struct backlog_wanted *wanted;
  size_t count;                 /* pending entries */
  uint8_t *fates;               /* of each kind */
  struct backlog_group *groups; /* of each group */
  size_t window_count;
  size_t pinned;             /* index of the entry of the pinned item; SIZE_MAX: none */
  size_t lines[LEVEL_COUNT]; /* how many are in windows */
  size_t bytes;
  bool times_mixed;
};

static const struct backlog_kind *kind_of(const struct choosing *choosing,
                                          const struct backlog_entry *entry) {
  return &choosing->backlog->kinds[entry->kind];
}

static bool is_removed(const struct choosing *choosing, const struct backlog_entry *entry) {
  return entry->ends_ms <= choosing->wanted->now_ms ||
         choosing->fates[entry->kind] == KIND_IS_FILTERED;
}

/* Only plain items that no step removes are in windows. */
static bool is_in_window(const struct choosing *choosing, const struct backlog_entry *entry) {
  return entry->sort == OUTLINE_PLAIN && !is_removed(choosing, entry) &&
         !choosing->groups[kind_of(choosing, entry)->group].whole;
}

/* -- what is pending --------------------------------------------------------------------------- */

static void find_fates(struct choosing *choosing) {
  for (size_t k = 0; k < choosing->backlog->kind_count; k++) {
    const struct backlog_kind *kind = &choosing->backlog->kinds[k];
    const struct notification note = {
        .source = kind->source, .name = kind->name, .tool = kind->tool, .level = kind->level};
    bool filtered = policy_filter_reason(choosing->wanted->settings, &note) != REASON_NONE;
    choosing->fates[k] = filtered ? KIND_IS_FILTERED : KIND_PASSES;
  }
}

/* Notes the pending entries, and which groups other steps look at. */
static void find_pending(struct choosing *choosing) {
  const struct backlog *backlog = choosing->backlog;
  const struct backlog_wanted *wanted = choosing->wanted;
  int64_t newest_ms = INT64_MIN;
  size_t range = 0;
  for (size_t i = 0; i < backlog->count; i++) {
    const struct backlog_entry *entry = &backlog->entries[i];
    while (range < wanted->pending_count && wanted->pending[range].last < entry->n) range++;
    if (range == wanted->pending_count) return;
    if (entry->n < wanted->pending[range].first) continue;
    choosing->backlog->pending[choosing->count++] = (uint32_t)i;
    if (entry->time_ms < newest_ms) choosing->times_mixed = true;
    else if (entry->sort == OUTLINE_PLAIN) newest_ms = entry->time_ms;
    if (entry->sort == OUTLINE_SPECIAL)
      choosing->groups[kind_of(choosing, entry)->group].whole = true;
  }
}

static bool is_pending(const struct backlog_wanted *wanted, uint64_t n) {
  size_t low = 0, high = wanted->pending_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (wanted->pending[middle].last < n) low = middle + 1;
    else high = middle;
  }
  return low < wanted->pending_count && wanted->pending[low].first <= n;
}

/* -- windows ----------------------------------------------------------------------------------- */

static bool shares_window(const struct choosing *choosing, const struct backlog_window *window,
                          const struct backlog_entry *entry) {
  int64_t apart, within_ms = choosing->wanted->settings->coalesce_window_ms;
  if (!within_ms || __builtin_sub_overflow(entry->time_ms, window->time_ms, &apart)) return false;
  return apart <= within_ms && apart >= -within_ms;
}

/* The newest entry of the window with the same message, as an index + 1; 0: there is none. */
static uint32_t find_same(const struct choosing *choosing, const struct backlog_window *window,
                          const struct backlog_entry *entry) {
  const struct backlog *backlog = choosing->backlog;
  for (uint32_t same = entry->same; same; same = backlog->entries[same - 1].same) {
    const struct backlog_entry *other = &backlog->entries[same - 1];
    if (other->n < window->first) return 0;
    if (is_pending(choosing->wanted, other->n) && is_in_window(choosing, other)) return same;
  }
  return 0;
}

static void put_into_window(struct choosing *choosing, uint32_t index) {
  struct backlog *backlog = choosing->backlog;
  const struct backlog_entry *entry = &backlog->entries[index];
  const struct backlog_kind *kind = kind_of(choosing, entry);
  struct backlog_group *group = &choosing->groups[kind->group];
  if (!group->open || !shares_window(choosing, &backlog->windows[group->open - 1], entry)) {
    backlog->windows[choosing->window_count++] = (struct backlog_window){
        .first = entry->n, .time_ms = entry->time_ms, .lane = kind->lane, .level = kind->level};
    group->open = (uint32_t)choosing->window_count;
  }
  struct backlog_window *window = &backlog->windows[group->open - 1];
  if (entry->n == choosing->wanted->pinned) choosing->pinned = index;
  backlog->window_of[index] = group->open - 1;
  uint32_t same = window->lines ? find_same(choosing, window, entry) : 0;
  backlog->line_of[index] = same ? backlog->line_of[same - 1] : window->lines;
  if (same) return;
  window->lines++;
  choosing->lines[kind->level]++;
}

static void make_windows(struct choosing *choosing) {
  for (size_t i = 0; i < choosing->count; i++) {
    uint32_t index = choosing->backlog->pending[i];
    const struct backlog_entry *entry = &choosing->backlog->entries[index];
    choosing->backlog->window_of[index] = ALWAYS_NEEDED;
    if (!is_in_window(choosing, entry)) continue;
    if (entry->bytes > choosing->bytes) choosing->bytes = entry->bytes;
    put_into_window(choosing, index);
  }
}

/* -- which ones go first ----------------------------------------------------------------------- */

/* How many lines of a level have been dealt out so far, by round. */
struct dealing {
  size_t before; /* lines of higher levels: all go first */
  size_t limit;  /* from this round on no line is needed any more */
  uint32_t rounds[REACH_AT_MOST];
};

static void count_rounds(struct dealing *dealing, size_t first, size_t lines, size_t reach) {
  size_t sum = dealing->before;
  for (size_t r = first; r < dealing->limit && r - first < lines; r++) dealing->rounds[r]++;
  for (size_t r = 0; r < dealing->limit; r++) {
    sum += dealing->rounds[r];
    if (sum >= reach) dealing->limit = r;
  }
}

static bool is_newest_first(const struct choosing *choosing) {
  return choosing->wanted->settings->order == ORDER_NEWEST;
}

/* A line goes after all lines of an earlier round, and after those of its own round that were dealt
 * before it. Lines dealt later may also go first; such a line counts as needed though it is not. */
static int deal_level(struct choosing *choosing, unsigned level, size_t before,
                      struct arena *arena) {
  size_t reach = choosing->wanted->reach;
  struct dealing *dealing = arena_zalloc(arena, 1, sizeof *dealing);
  uint32_t *lanes = arena_zalloc(arena, choosing->backlog->lane_count, sizeof *lanes);
  if (!dealing || !lanes) return -1;
  dealing->before = before;
  dealing->limit = reach;
  for (size_t i = 0; i < choosing->window_count; i++) {
    size_t w = i;
    if (is_newest_first(choosing)) w = choosing->window_count - 1 - i;
    struct backlog_window *window = &choosing->backlog->windows[w];
    if (window->level != level) continue;
    size_t round = lanes[window->lane];
    lanes[window->lane] += window->lines;
    if (round >= dealing->limit) continue;
    size_t most = dealing->limit - round;
    window->taken = most < window->lines ? (uint32_t)most : window->lines;
    count_rounds(dealing, round, window->lines, reach);
  }
  return 0;
}

/* All lines that are taken are needed. The line of the window's first item is needed too, because
 * the time of that item decides which others are in the window. If that line is not taken, it is
 * the last of its lane and goes after all taken lines. */
static bool is_line_needed(const struct choosing *choosing, const struct backlog_window *window,
                           uint32_t line) {
  if (!window->taken) return false;
  if (!is_newest_first(choosing)) return line < window->taken;
  return line >= window->lines - window->taken || !line;
}

static size_t count_needed(const struct choosing *choosing, const struct backlog_window *window) {
  bool first = window->taken < window->lines && is_line_needed(choosing, window, 0);
  return window->taken + (first && is_newest_first(choosing));
}

static int deal_lines(struct choosing *choosing, size_t *ret_rest, struct arena *arena) {
  size_t before = 0, rest = 0;
  for (unsigned level = LEVEL_COUNT; level-- > 0 && before < choosing->wanted->reach;) {
    if (choosing->lines[level] && deal_level(choosing, level, before, arena)) return -1;
    before += choosing->lines[level];
  }
  for (size_t w = 0; w < choosing->window_count; w++) {
    const struct backlog_window *window = &choosing->backlog->windows[w];
    rest += window->lines - count_needed(choosing, window);
  }
  *ret_rest = rest;
  return 0;
}

/* -- the choice -------------------------------------------------------------------------------- */

static bool is_needed(const struct choosing *choosing, uint32_t index) {
  const struct backlog *backlog = choosing->backlog;
  uint32_t window = backlog->window_of[index];
  return window == ALWAYS_NEEDED ||
         is_line_needed(choosing, &backlog->windows[window], backlog->line_of[index]);
}

static int gather_chosen(const struct choosing *choosing, struct arena *arena,
                         struct backlog_choice *choice) {
  choice->items = arena_array(arena, choosing->count, sizeof *choice->items);
  if (!choice->items) return -1;
  for (size_t i = 0; i < choosing->count; i++) {
    uint32_t index = choosing->backlog->pending[i];
    if (is_needed(choosing, index))
      choice->items[choice->count++] = choosing->backlog->entries[index].n;
  }
  return 0;
}

static int begin_choosing(struct choosing *choosing, struct arena *arena) {
  const struct backlog *backlog = choosing->backlog;
  choosing->fates = arena_array(arena, backlog->kind_count, sizeof *choosing->fates);
  choosing->groups = arena_zalloc(arena, backlog->group_count, sizeof *choosing->groups);
  return choosing->fates && choosing->groups ? 0 : -1;
}

int backlog_choose(struct backlog *backlog, const struct backlog_wanted *wanted,
                   struct arena *arena, struct backlog_choice *ret_choice) {
  struct choosing choosing = {.backlog = backlog, .wanted = wanted, .pinned = SIZE_MAX};
  struct backlog_choice choice = {.rest.reach = wanted->reach};
  size_t lines = 0;
  const struct settings *settings = wanted->settings;
  *ret_choice = (struct backlog_choice){.all = true};
  if (wanted->reach > REACH_AT_MOST ||
      (settings->max_items && settings->overflow != OVERFLOW_DEFER))
    return 0;
  if (begin_choosing(&choosing, arena)) return -1;
  backlog_link_messages(backlog);
  find_fates(&choosing);
  find_pending(&choosing);
  make_windows(&choosing);
  for (unsigned level = 0; level < LEVEL_COUNT; level++) lines += choosing.lines[level];
  choice.noted = choosing.count;
  if (lines < wanted->reach + REST_AT_LEAST) return 0;
  if (deal_lines(&choosing, &choice.rest.lines, arena)) return -1;
  /* If the lines between them are left out, the pinned line might join a needed line. */
  if (choosing.pinned != SIZE_MAX && !is_needed(&choosing, (uint32_t)choosing.pinned)) return 0;
  if (choice.rest.lines < REST_AT_LEAST) return 0;
  choice.rest.bytes = choosing.bytes;
  choice.times_mixed = choosing.times_mixed;
  if (gather_chosen(&choosing, arena, &choice)) return -1;
  *ret_choice = choice;
  return 0;
}
