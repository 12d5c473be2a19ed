/* SPDX-License-Identifier: MIT
 *
 * rules/policy/backlog_entries.h: what backlog.c keeps and choose.c reads. Private to policy/.
 */
#ifndef RULES_POLICY_BACKLOG_ENTRIES_H
#define RULES_POLICY_BACKLOG_ENTRIES_H

#include "rules/policy/backlog.h"

struct backlog_entry {
  uint64_t n;
  int64_t time_ms;
  int64_t ends_ms;  /* when it expires; INT64_MAX: never */
  uint64_t message; /* a hash */
  uint32_t kind;
  uint32_t same; /* index of the newest one before it in its group with the same message, plus 1;
                    0: there is none */
  uint32_t bytes;
  uint8_t sort; /* enum outline_sort: a special one is always read, with its group, and so is a
                   damaged one */
};

/* Filters treat items of the same kind alike. */
struct backlog_kind {
  struct tidings_span source, name, tool; /* in `arena` */
  uint64_t hash;
  uint32_t group; /* of the same source, name and level: items of one may share a window */
  uint32_t lane;  /* of the same source and level: within one, fair shares are dealt in order */
  uint8_t level;
};

struct backlog_slots { /* open addressing */
  struct backlog_slot {
    uint32_t index; /* + 1; 0: empty */
    uint32_t tag;   /* of the hash, so that most other entries need not be looked at */
  } * at;
  size_t mask;
};

struct backlog_window {
  uint64_t first; /* number of its first item */
  int64_t time_ms;
  uint32_t lines, lane;
  uint32_t taken; /* how many of its lines are needed, the first ones */
  uint8_t level;
};

struct backlog {
  struct arena arena;
  struct backlog_entry *entries; /* by n */
  size_t count, capacity;
  size_t linked; /* `same` is right for this many entries */
  struct backlog_kind *kinds;
  size_t kind_count, kind_capacity;
  uint32_t group_count, lane_count;
  struct backlog_slots kind_slots, message_slots;

  /* Arrays of choose.c, which have room for as many elements as `entries`. They are kept because
   * memory that is touched for the first time costs more than all the rest of a choice. */
  uint32_t *pending;   /* indices of pending entries */
  uint32_t *window_of; /* for each of these: an index, or ALWAYS_NEEDED .. */
  uint32_t *line_of;   /* .. and which of the window's lines, by their oldest items */
  struct backlog_window *windows;
};

void backlog_link_messages(struct backlog *backlog); /* makes `same` right for all entries */

#endif
