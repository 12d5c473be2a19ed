/* SPDX-License-Identifier: MIT
 *
 * rules/policy/backlog.c: keeps what is noted about items.
 */
#include "rules/policy/backlog.h"

#include <stdlib.h>

#include "common/fnv.h"
#include "rules/policy/backlog_entries.h"
#include "rules/policy/steps.h"

enum { FIRST_ENTRIES = 256, FIRST_KINDS = 16, SHORT_BYTES = 200 };

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
  free(backlog->windows);
  free(backlog);
}

uint64_t backlog_newest(const struct backlog *backlog) {
  return backlog->count ? backlog->entries[backlog->count - 1].n : 0;
}

/* Eight bytes at a time: it is computed for each item. Two texts with one hash make the number of
 * those that wait wrong by one. */
static uint64_t hash_text(uint64_t hash, struct tidings_span text) {
  const char *at = text.ptr;
  uint64_t word;
  hash ^= text.len * UINT64_C(0x9e3779b97f4a7c15);
  for (size_t left = text.len; left; at += sizeof word) {
    size_t part = left < sizeof word ? left : sizeof word;
    word = 0;
    memcpy(&word, at, part);
    hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 32;
    left -= part;
  }
  return hash;
}

/* -- slots ------------------------------------------------------------------------------------- */

static int backlog_grow_slots(struct backlog_slots *slots, size_t size) {
  uint32_t *at = calloc(size, sizeof *at);
  if (!at) return -1;
  free(slots->at);
  *slots = (struct backlog_slots){at, size - 1};
  return 0;
}

static void backlog_place(struct backlog_slots *slots, uint64_t hash, uint32_t index) {
  size_t i = (size_t)hash & slots->mask;
  while (slots->at[i]) i = (i + 1) & slots->mask;
  slots->at[i] = index + 1;
}

static bool says_the_same(const struct backlog *backlog, const struct backlog_entry *a,
                          const struct backlog_entry *b) {
  return a->message == b->message && backlog->kinds[a->kind].group == backlog->kinds[b->kind].group;
}

/* It becomes the newest of its message; `same` is the one before. */
static void link_message(struct backlog *backlog, uint32_t index) {
  struct backlog_slots *slots = &backlog->message_slots;
  struct backlog_entry *entry = &backlog->entries[index];
  for (size_t i = (size_t)entry->message & slots->mask;; i = (i + 1) & slots->mask) {
    if (slots->at[i] && !says_the_same(backlog, &backlog->entries[slots->at[i] - 1], entry))
      continue;
    entry->same = slots->at[i];
    slots->at[i] = index + 1;
    return;
  }
}

static int link_all(struct backlog *backlog, size_t size) {
  if (backlog_grow_slots(&backlog->message_slots, size)) return -1;
  for (size_t i = 0; i < backlog->count; i++) link_message(backlog, (uint32_t)i);
  return 0;
}

/* -- kinds ------------------------------------------------------------------------------------- */

static bool is_of_group(const struct backlog_kind *kind, const struct notification *note) {
  return kind->level == note->level && span_equal(kind->source, note->source) &&
         span_equal(kind->name, note->name);
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

/* Kinds are few: their groups and lanes are looked for one by one. */
static int add_kind(struct backlog *backlog, const struct notification *note, uint64_t hash) {
  struct backlog_kind kind = {
      .hash = hash, .group = UINT32_MAX, .lane = UINT32_MAX, .level = note->level};
  if (backlog->kind_count == backlog->kind_capacity && backlog_grow_kinds(backlog)) return -1;
  if (arena_copy(&backlog->arena, note->source, &kind.source) ||
      arena_copy(&backlog->arena, note->name, &kind.name) ||
      arena_copy(&backlog->arena, note->tool, &kind.tool))
    return -1;
  for (size_t i = 0; i < backlog->kind_count; i++) {
    const struct backlog_kind *other = &backlog->kinds[i];
    if (is_of_group(other, note)) kind.group = other->group;
    if (other->level == note->level && span_equal(other->source, note->source))
      kind.lane = other->lane;
  }
  if (kind.group == UINT32_MAX) kind.group = backlog->group_count++;
  if (kind.lane == UINT32_MAX) kind.lane = backlog->lane_count++;
  backlog->kinds[backlog->kind_count] = kind;
  backlog_place(&backlog->kind_slots, hash, (uint32_t)backlog->kind_count++);
  return 0;
}

static uint64_t hash_kind(const struct notification *note) {
  uint64_t hash = hash_text(FNV_START ^ note->level, note->source);
  return hash_text(hash_text(hash, note->name), note->tool);
}

/* SIZE_MAX: it is not there. */
static size_t find_kind(const struct backlog *backlog, const struct notification *note,
                        uint64_t hash) {
  const struct backlog_slots *slots = &backlog->kind_slots;
  if (!slots->at) return SIZE_MAX;
  for (size_t i = (size_t)hash & slots->mask; slots->at[i]; i = (i + 1) & slots->mask) {
    const struct backlog_kind *kind = &backlog->kinds[slots->at[i] - 1];
    if (kind->hash == hash && is_of_group(kind, note) && span_equal(kind->tool, note->tool))
      return slots->at[i] - 1;
  }
  return SIZE_MAX;
}

/* -- entries ----------------------------------------------------------------------------------- */

static enum backlog_sort sort_of(const struct item *item) {
  const struct notification *note = &item->note;
  if (!note->message.len) return BACKLOG_DAMAGED;
  return note->key.len || note->handle.len || note->caused_by.len || note->made_by ||
                 note->due_ms || item->copied
             ? BACKLOG_SPECIAL
             : BACKLOG_PLAIN;
}

static int64_t end_of(const struct item *item) {
  int64_t end_ms;
  if (item->note.ttl_ms <= 0) return INT64_MAX;
  return __builtin_add_overflow(item->time_ms, item->note.ttl_ms, &end_ms) ? INT64_MAX : end_ms;
}

/* A short text need not be looked at. */
static uint32_t least_bytes(const struct notification *note) {
  struct item item = {.note = *note};
  const struct line line = {.item = &item, .level = note->level};
  size_t least = note->message.len <= SHORT_BYTES ? note->message.len : policy_least_bytes(&line);
  size_t bytes = note->source.len + note->name.len + least;
  return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static struct backlog_entry describe(const struct item *item, uint32_t kind) {
  return (struct backlog_entry){.n = item->n,
                                .time_ms = item->time_ms,
                                .ends_ms = end_of(item),
                                .message = hash_text(FNV_START, item->note.message),
                                .kind = kind,
                                .bytes = least_bytes(&item->note),
                                .sort = (uint8_t)sort_of(item)};
}

/* The memory that choose.c needs holds nothing between two choices. */
static int backlog_grow_scratch(struct backlog *backlog, size_t capacity) {
  free(backlog->pending);
  free(backlog->window_of);
  free(backlog->windows);
  backlog->pending = malloc(capacity * sizeof *backlog->pending);
  backlog->window_of = malloc(capacity * sizeof *backlog->window_of);
  backlog->windows = malloc(capacity * sizeof *backlog->windows);
  return backlog->pending && backlog->window_of && backlog->windows ? 0 : -1;
}

static int backlog_grow(struct backlog *backlog) {
  size_t capacity = backlog->capacity ? backlog->capacity * 2 : FIRST_ENTRIES;
  if (capacity >= UINT32_MAX / 2) return -1;
  struct backlog_entry *entries = realloc(backlog->entries, capacity * sizeof *entries);
  if (!entries) return -1;
  backlog->entries = entries;
  backlog->capacity = capacity;
  if (backlog_grow_scratch(backlog, capacity)) return -1;
  return link_all(backlog, capacity * 2);
}

int backlog_add(struct backlog *backlog, const struct item *item) {
  uint64_t hash = hash_kind(&item->note);
  size_t kind = find_kind(backlog, &item->note, hash);
  if (kind == SIZE_MAX) {
    if (add_kind(backlog, &item->note, hash)) return -1;
    kind = backlog->kind_count - 1;
  }
  if (backlog->count == backlog->capacity && backlog_grow(backlog)) return -1;
  backlog->entries[backlog->count] = describe(item, (uint32_t)kind);
  link_message(backlog, (uint32_t)backlog->count++);
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

/* Not for a few: all links are made anew. */
void backlog_forget_below(struct backlog *backlog, uint64_t n) {
  size_t gone = find_entry(backlog, n), size = backlog->message_slots.mask + 1;
  if (gone <= backlog->count / 2) return;
  backlog->count -= gone;
  memmove(backlog->entries, backlog->entries + gone, backlog->count * sizeof *backlog->entries);
  memset(backlog->message_slots.at, 0, size * sizeof *backlog->message_slots.at);
  for (size_t i = 0; i < backlog->count; i++) link_message(backlog, (uint32_t)i);
}

bool backlog_knows(const struct backlog *backlog, const struct item *item) {
  size_t at = find_entry(backlog, item->n);
  if (at == backlog->count || backlog->entries[at].n != item->n) return false;
  const struct backlog_entry *entry = &backlog->entries[at];
  const struct backlog_entry is = describe(item, entry->kind);
  return find_kind(backlog, &item->note, hash_kind(&item->note)) == entry->kind &&
         is.time_ms == entry->time_ms && is.ends_ms == entry->ends_ms &&
         is.message == entry->message && is.sort == entry->sort;
}
