/* SPDX-License-Identifier: MIT
 *
 * rules/policy/backlog.h: notes that a process keeps about a session's items. If a delivery shows
 * few of many items, it reads only those that it may show: the outlines in the notes say which
 * lines go first and how many other lines there are.
 */
#ifndef RULES_POLICY_BACKLOG_H
#define RULES_POLICY_BACKLOG_H

#include "common/arena.h"
#include "rules/policy/plan.h"
#include "values/outline.h"

struct backlog;
struct backlog *backlog_make(void);         /* NULL: no memory */
void backlog_free(struct backlog *backlog); /* NULL is allowed */

/* Makes room for `count` items in all. 0, or -1: no memory. */
int backlog_reserve(struct backlog *backlog, size_t count);
/* Notes an item whose number is higher than all before. Uses `noted` of its kind, which is 0 for a
 * kind that the backlog has not seen yet. 0, or -1: no memory. */
int backlog_add(struct backlog *backlog, const struct outline *outline);
uint64_t backlog_newest(const struct backlog *backlog); /* its number; 0: none was noted */
/* Forgets items that have ended for good. Nobody asks for items below `n` any more. */
void backlog_forget_below(struct backlog *backlog, uint64_t n);
/* Might one of the noted items be for later than now? */
bool backlog_has_later(const struct backlog *backlog, int64_t now_ms);
/* Was the item noted, and is it unchanged since? */
bool backlog_knows(const struct backlog *backlog, const struct item *item);

/* Items first..last. */
struct backlog_range {
  uint64_t first, last;
};
struct backlog_wanted {
  const struct backlog_range *pending; /* ascending, disjoint */
  size_t pending_count;
  const struct settings *settings;
  int64_t now_ms;
  uint64_t pinned; /* number of the item that the turn was started for; 0: none */
  size_t reach;    /* how many of the first lines are needed */
};
/* The items that a plan needs, by n, and a summary of the others. */
struct backlog_choice {
  uint64_t *items;
  size_t count;
  size_t noted; /* how many of the pending items were noted. If not all were, the choice is void */
  struct rest rest;
  /* The clock went back meanwhile, or items of other sessions came. Then the place of a late item
   * among the others depends on items that are not chosen. */
  bool times_mixed;
  bool all; /* the plan needs all items; then no other member is filled in */
};
/* Returns 0, or -1: no memory. */
int backlog_choose(struct backlog *backlog, const struct backlog_wanted *wanted,
                   struct arena *arena, struct backlog_choice *ret_choice);

#endif
