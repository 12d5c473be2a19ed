/* SPDX-License-Identifier: MIT
 *
 * rules/policy/steps.h: data and functions that the steps of a plan share. Private to policy/. Each
 * step removes some of the remaining items or orders them; it reads nothing else.
 */
#ifndef RULES_POLICY_STEPS_H
#define RULES_POLICY_STEPS_H

#include <stdbool.h>

#include "render/coalesced.h"
#include "render/measure.h"
#include "rules/policy/plan.h"

#define NO_ITEM SIZE_MAX

/* A path that an item names. */
struct mention {
  struct tidings_span path;
  size_t item;
  size_t leader; /* the first mention of the same path in the same window */
  size_t before; /* the mention of the same path before this, unless that was undone; or NO_ITEM */
  size_t opposite; /* the item that this one cancels out with; NO_ITEM: there is none */
  uint8_t change;  /* at a leader: what became of the file */
  bool edited;     /* at a leader: the assistant had edited the file before one of these */
};
struct trace {
  struct mention *mentions; /* by item */
  size_t *first;            /* of each item: the index of its first mention */
  size_t count;
};

struct work {
  const struct item *items; /* as they were pushed, or were due: see order.c */
  const size_t *order;      /* each item's index among those that were given; NULL: the same
                               index */
  struct item *own_items;   /* a copy of them, from which paths were left out; NULL: none was */
  /* An entry for each item, at the same index; OUTCOME_NONE as long as the item is left. */
  struct disposition *dispositions;
  uint64_t *places; /* one for each item: see struct line */
  size_t item_count;

  struct line *lines; /* from coalesce on */
  size_t line_count;
  size_t *next;      /* for each item, the next item of the same line, or NO_ITEM */
  size_t deferred;   /* lines */
  struct line *made; /* all lines, before any step chose among them; older.c needs them, or there
                        are none */
  size_t made_count;
  size_t outdated;    /* lines that waited, until older.c found something newer */
  size_t dropped;     /* lines, by max_items */
  struct trace trace; /* what became of files, by window */
  size_t *slots;      /* at a leader of its mentions: where the path stands in its line's list */

  const struct room *room;   /* NULL: there is no bound, and nothing is measured */
  struct measure *measure;   /* of the block in that room */
  size_t too_large;          /* deferred lines that no block in that room could have */
  uint64_t too_large_newest; /* number of their newest item */
  bool *is_too_large; /* marks the first item of each of these lines; NULL: the room has no bound */

  const struct settings *settings;
  const struct token_counter *counter;
  int64_t now_ms;
  struct arena *arena;
};

static inline bool is_left(const struct work *work, size_t index) {
  return work->dispositions[index].outcome == OUTCOME_NONE;
}

static inline void end_item(struct work *work, size_t index, enum outcome outcome,
                            enum reason reason, uint64_t ref) {
  work->dispositions[index].outcome = (uint8_t)outcome;
  work->dispositions[index].reason = (uint8_t)reason;
  work->dispositions[index].ref = ref;
}

/* Grows with the time that counts (order.c): the item's number, if that grows with the time too. */
static inline uint64_t rank_of(const struct work *work, size_t index) {
  return work->order ? index : work->items[index].n;
}

/* The first item of a line; `next` leads to the others. */
static inline size_t first_of(const struct work *work, const struct line *line) {
  return (size_t)(line->item - work->items);
}

int policy_put_in_order(struct work *work); /* 0, or -1: no memory, as of the others that return
                                               int */
void policy_expire(struct work *work);
int policy_withdraw(struct work *work);
/* Is it withdrawn, but still needed because other items may refer to it? */
bool policy_is_awaited(const struct work *work, size_t index);
int policy_annihilate(struct work *work);
void policy_filter(struct work *work);
/* Returns which setting filters the note out; REASON_NONE: none does. It reads source, name, tool
 * and level. */
enum reason policy_filter_reason(const struct settings *settings, const struct notification *note);
int policy_supersede(struct work *work);
/* Names the thing that an item is about: its key (REASON_NEWER_KEY), or the handle, server, budget
 * or provider whose state it reports (REASON_NEWER_STATE). The owner of the name is in front,
 * because a handle and a server with one name are different things. Empty: none. Returns 0, or -1:
 * no memory. */
int policy_subject(const struct item *item, enum reason reason, struct arena *arena,
                   struct tidings_span *ret);
/* replace.c */
/* Was it pushed later, though it may be shown earlier? */
bool policy_was_pushed_later(const struct item *item, const struct item *other);
/* Was it pushed while the other one, which was for later, waited for its time? */
bool policy_replaces(const struct item *item, const struct item *other);
int policy_coalesce(struct work *work); /* makes the lines */
void policy_rank(struct work *work);
int policy_cap(struct work *work);
int policy_tokens(struct work *work);

/* room.c. Call the first two in pairs, also after a failure; the other functions need what
 * policy_begin_room makes. */
int policy_begin_room(struct work *work, const struct room *room);
void policy_end_room(struct work *work);
int policy_defer_too_large(struct work *work); /* before any cap, because a line that cannot be
                                                  shown must not count against it */
int policy_fit_room(struct work *work);
/* Is there room for one more line whose source, name and text have `bytes` bytes? */
bool policy_has_room_for(const struct work *work, size_t bytes);

/* older.c: before lines are chosen, and when those that are shown have ended as delivered. */
int policy_note_lines(struct work *work);
int policy_end_older(struct work *work);

/* How many bytes of its message a line has at least: its first line, or 200 of that. */
size_t policy_least_bytes(const struct line *line);

/* files.c */
/* Can the item be one of a list of files? Other items with a path may mean anything. */
static inline bool is_file_change(const struct item *item) {
  return item->note.made_by == MADE_BY_FILE_CHANGED && item->facts.path_count &&
         !notification_is_critical(&item->note);
}
static inline bool names_several_files(const struct item *item) {
  return is_file_change(item) && item->facts.path_count > 1;
}
/* Leaves the paths that are marked out of the item's facts, but not all of them. Returns 0, or -1:
 * no memory. */
int policy_leave_out(struct item *item, const bool *out, struct arena *arena);
/* Finds the newest state of each path that a remaining item names. `windows`: the first item of
 * each item's window; NULL: all items share one window, and only reports of one file each undo each
 * other.
 */
int policy_trace_files(const struct work *work, const size_t *windows, struct trace *ret_trace);
/* Ends the items whose paths were all undone. */
void policy_end_undone(struct work *work, const struct trace *trace);
/* Makes line->files. */
int policy_list_files(const struct work *work, struct line *line);
/* Does the line's list name one of the item's paths? */
bool policy_is_listed(const struct work *work, const struct line *line, size_t i);

/* words.c */
int policy_write_line(const struct work *work, struct line *line); /* of several items, or files */
int policy_write_files(const struct work *work, struct line *line, size_t listed);
/* The message with only its first `kept` bytes. */
int policy_write_cut(const struct work *work, const struct line *line, size_t kept,
                     struct tidings_span *ret_message);

/* fair.c: the lines' indices in the order in which they have their turn. */
int policy_fair_order(const struct work *work, size_t *ret_order);
/* Marks the first `most` of them in `kept`. */
int policy_fair_first(const struct work *work, size_t most, bool *kept);

/* rank.c: like qsort, but fast for elements that are mostly in order already. */
void policy_sort(void *base, size_t count, size_t size,
                 int (*compare)(const void *left, const void *right));

/* Removes the lines that are not `kept`; the others keep their order. The items of a removed line
 * stay pending, and the line counts as deferred. */
void policy_defer_lines(struct work *work, const bool *kept);

/* Finds equal texts among `count`: ret_leaders[i] is the lowest index with the same text. Takes n
 * log n steps, whatever the texts are. */
int policy_group_equal(const struct tidings_span *texts, size_t count, struct arena *arena,
                       size_t *ret_leaders);

#endif
