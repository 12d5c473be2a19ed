/* SPDX-License-Identifier: MIT
 *
 * rules/policy/backlog.c: keeps what is noted about items.
 */
#include "rules/policy/backlog.h"

#include <stdlib.h>

#include "common/fnv.h"
#include "common/large.h"
#include "rules/policy/backlog_entries.h"

enum { FIRST_ENTRIES = 256, FIRST_KINDS = 16 };

struct backlog *backlog_make(void) {
  return calloc(1, sizeof(struct backlog));
}

void backlog_free(struct backlog *backlog) {
  if (!backlog) return;
  arena_free(&backlog->arena);
  free(backlog->entries);
  free(backlog->kinds);
  free(backlog->kind_slots.at);
  free(backlog->message_slots.at);
  free(backlog->pending);
  free(backlog->window_of);
  free(backlog->line_of);
  free(backlog->windows);
  free(backlog);
}

uint64_t backlog_newest(const struct backlog *backlog) {
  return backlog->count ? backlog->entries[backlog->count - 1].n : 0;
}

/* -- slots ------------------------------------------------------------------------------------- */

static int backlog_grow_slots(struct backlog_slots *slots, size_t size) {
  struct backlog_slot *at = large_alloc(size * sizeof *at);
  if (!at) return -1;
  memset(at, 0, size * sizeof *at);
  free(slots->at);
  slots->at = at;
  slots->mask = size - 1;
  return 0;
}

static uint32_t slot_tag(uint64_t hash) { return (uint32_t)(hash >> 32); }

static void backlog_place(struct backlog_slots *slots, uint64_t hash, uint32_t index) {
  size_t i = (size_t)hash & slots->mask;
  while (slots->at[i].index) i = (i + 1) & slots->mask;
  slots->at[i] = (struct backlog_slot){.index = index + 1, .tag = slot_tag(hash)};
}

static bool says_the_same(const struct backlog *backlog, const struct backlog_entry *a,
                          const struct backlog_entry *b) {
  return a->message == b->message && backlog->kinds[a->kind].group == backlog->kinds[b->kind].group;
}

/* Makes the entry the newest with its message. Its `same` is the one before it. */
static void link_message(struct backlog *backlog, uint32_t index) {
  struct backlog_slots *slots = &backlog->message_slots;
  struct backlog_entry *entry = &backlog->entries[index];
  const uint32_t tag = slot_tag(entry->message);
  size_t i = (size_t)entry->message & slots->mask;
  while (slots->at[i].index &&
         (slots->at[i].tag != tag ||
          !says_the_same(backlog, &backlog->entries[slots->at[i].index - 1], entry)))
    i = (i + 1) & slots->mask;
  entry->same = slots->at[i].index;
  slots->at[i] = (struct backlog_slot){.index = index + 1, .tag = tag};
}

/* The slots of later entries are fetched into the cache meanwhile. */
void backlog_link_messages(struct backlog *backlog) {
  enum { AHEAD = 16 };
  const struct backlog_slots *slots = &backlog->message_slots;
  for (; backlog->linked < backlog->count; backlog->linked++) {
    size_t ahead = backlog->linked + AHEAD;
    if (ahead < backlog->count)
      __builtin_prefetch(&slots->at[backlog->entries[ahead].message & slots->mask], 1);
    link_message(backlog, (uint32_t)backlog->linked);
  }
}

/* -- kinds ------------------------------------------------------------------------------------- */

static bool is_of_group(const struct backlog_kind *kind, const struct outline_kind *like) {
  return kind->level == like->level && span_equal(kind->source, like->source) &&
         span_equal(kind->name, like->name);
}

static int backlog_grow_kinds(struct backlog *backlog) {
  size_t capacity = backlog->kind_capacity ? backlog->kind_capacity * 2 : FIRST_KINDS;
  struct backlog_kind *kinds = realloc(backlog->kinds, capacity * sizeof *kinds);
  if (!kinds) return -1;
  backlog->kinds = kinds;
  backlog->kind_capacity = capacity;
  if (backlog_grow_slots(&backlog->kind_slots, capacity * 2)) return -1;
  for (size_t i = 0; i < backlog->kind_count; i++)
    backlog_place(&backlog->kind_slots, kinds[i].hash, (uint32_t)i);
  return 0;
}

/* There are few kinds, so their groups and lanes are searched one by one. */
static int add_kind(struct backlog *backlog, const struct outline_kind *like, uint64_t hash) {
  struct backlog_kind kind = {
      .hash = hash, .group = UINT32_MAX, .lane = UINT32_MAX, .level = like->level};
  if (backlog->kind_count == backlog->kind_capacity && backlog_grow_kinds(backlog)) return -1;
  if (arena_copy(&backlog->arena, like->source, &kind.source) ||
      arena_copy(&backlog->arena, like->name, &kind.name) ||
      arena_copy(&backlog->arena, like->tool, &kind.tool))
    return -1;
  for (size_t i = 0; i < backlog->kind_count; i++) {
    const struct backlog_kind *other = &backlog->kinds[i];
    if (is_of_group(other, like)) kind.group = other->group;
    if (other->level == like->level && span_equal(other->source, like->source))
      kind.lane = other->lane;
  }
  if (kind.group == UINT32_MAX) kind.group = backlog->group_count++;
  if (kind.lane == UINT32_MAX) kind.lane = backlog->lane_count++;
  backlog->kinds[backlog->kind_count] = kind;
  backlog_place(&backlog->kind_slots, hash, (uint32_t)backlog->kind_count++);
  return 0;
}

static uint64_t hash_kind(const struct outline_kind *kind) {
  uint64_t hash = outline_hash(FNV_START ^ kind->level, kind->source);
  return outline_hash(outline_hash(hash, kind->name), kind->tool);
}

/* The index of the kind; SIZE_MAX: there is none. */
static size_t find_kind(const struct backlog *backlog, const struct outline_kind *like,
                        uint64_t hash) {
  const struct backlog_slots *slots = &backlog->kind_slots;
  if (!slots->at) return SIZE_MAX;
  for (size_t i = (size_t)hash & slots->mask; slots->at[i].index; i = (i + 1) & slots->mask) {
    const struct backlog_kind *kind = &backlog->kinds[slots->at[i].index - 1];
    if (kind->hash == hash && is_of_group(kind, like) && span_equal(kind->tool, like->tool))
      return slots->at[i].index - 1;
  }
  return SIZE_MAX;
}

/* Finds or adds the kind. Many items may share the outline's kind, so it is looked up once. */
static int note_kind(struct backlog *backlog, struct outline_kind *kind) {
  uint64_t hash = hash_kind(kind);
  size_t found = find_kind(backlog, kind, hash);
  if (found == SIZE_MAX) {
    if (add_kind(backlog, kind, hash)) return -1;
    found = backlog->kind_count - 1;
  }
  kind->noted = (uint32_t)found + 1;
  return 0;
}

/* -- entries ----------------------------------------------------------------------------------- */

/* Grows the memory that choose.c needs. It holds nothing between two choices. */
static int backlog_grow_scratch(struct backlog *backlog, size_t capacity) {
  free(backlog->pending);
  free(backlog->window_of);
  free(backlog->line_of);
  free(backlog->windows);
  backlog->pending = malloc(capacity * sizeof *backlog->pending);
  backlog->window_of = malloc(capacity * sizeof *backlog->window_of);
  backlog->line_of = malloc(capacity * sizeof *backlog->line_of);
  backlog->windows = malloc(capacity * sizeof *backlog->windows);
  return backlog->pending && backlog->window_of && backlog->line_of && backlog->windows ? 0 : -1;
}

static int backlog_grow(struct backlog *backlog, size_t capacity) {
  if (capacity >= UINT32_MAX / 2) return -1;
  struct backlog_entry *entries = large_alloc(capacity * sizeof *entries);
  if (!entries) return -1;
  if (backlog->count) memcpy(entries, backlog->entries, backlog->count * sizeof *entries);
  free(backlog->entries);
  backlog->entries = entries;
  backlog->capacity = capacity;
  if (backlog_grow_scratch(backlog, capacity)) return -1;
  size_t slots = FIRST_ENTRIES;
  while (slots < capacity + capacity / 2) slots *= 2;
  backlog->linked = 0;
  return backlog_grow_slots(&backlog->message_slots, slots);
}

int backlog_reserve(struct backlog *backlog, size_t count) {
  size_t capacity = backlog->capacity ? backlog->capacity * 2 : FIRST_ENTRIES;
  if (count <= backlog->capacity) return 0;
  return backlog_grow(backlog, capacity < count + count / 8 ? count + count / 8 : capacity);
}

int backlog_add(struct backlog *backlog, const struct outline *outline) {
  if (!outline->kind->noted && note_kind(backlog, outline->kind)) return -1;
  if (backlog->count == backlog->capacity && backlog_reserve(backlog, backlog->count + 1))
    return -1;
  backlog->entries[backlog->count++] = (struct backlog_entry){.n = outline->n,
                                                              .time_ms = outline->time_ms,
                                                              .ends_ms = outline->ends_ms,
                                                              .message = outline->message,
                                                              .kind = outline->kind->noted - 1,
                                                              .bytes = outline->bytes,
                                                              .sort = outline->sort};
  return 0;
}

static size_t find_entry(const struct backlog *backlog, uint64_t n) {
  size_t low = 0, high = backlog->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (backlog->entries[middle].n < n) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* All links are made anew, so a few entries are not forgotten. */
void backlog_forget_below(struct backlog *backlog, uint64_t n) {
  size_t gone = find_entry(backlog, n), size = backlog->message_slots.mask + 1;
  if (gone <= backlog->count / 2) return;
  backlog->count -= gone;
  memmove(backlog->entries, backlog->entries + gone, backlog->count * sizeof *backlog->entries);
  memset(backlog->message_slots.at, 0, size * sizeof *backlog->message_slots.at);
  backlog->linked = 0;
}

bool backlog_has_later(const struct backlog *backlog, int64_t now_ms) {
  for (size_t i = 0; i < backlog->count; i++) {
    const struct backlog_entry *entry = &backlog->entries[i];
    if (entry->sort == OUTLINE_SPECIAL && entry->time_ms > now_ms) return true;
  }
  return false;
}

bool backlog_knows(const struct backlog *backlog, const struct item *item) {
  size_t at = find_entry(backlog, item->n);
  if (at == backlog->count || backlog->entries[at].n != item->n) return false;
  const struct backlog_entry *entry = &backlog->entries[at];
  struct outline_kind kind;
  const struct outline is = outline_of(item, &kind);
  return find_kind(backlog, &kind, hash_kind(&kind)) == entry->kind &&
         is.time_ms == entry->time_ms && is.ends_ms == entry->ends_ms &&
         is.message == entry->message && is.sort == entry->sort;
}
