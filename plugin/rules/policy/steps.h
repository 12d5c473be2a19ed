/* SPDX-License-Identifier: MIT
 *
 * rules/policy/steps.h: what the steps of a plan share. Private to policy/. Each step ends some of
 * what is left, or orders it; it looks at nothing but this.
 */
#ifndef RULES_POLICY_STEPS_H
#define RULES_POLICY_STEPS_H

#include <stdbool.h>

#include "rules/policy/plan.h"

#define NO_ITEM SIZE_MAX

struct work {
  const struct item *items; /* by n */
  struct fate *fates;       /* one an item, at the same index; OUTCOME_NONE as long as it is left */
  uint64_t *places;         /* one an item: see struct line */
  size_t item_count;

  struct line *lines; /* from coalesce on */
  size_t line_count;
  size_t *next;    /* one an item: the next item of the same line, or NO_ITEM */
  size_t deferred; /* items */

  const struct settings *settings;
  const struct token_counter *counter;
  int64_t now_ms;
  struct arena *arena;
};

static inline bool is_left(const struct work *work, size_t index) {
  return work->fates[index].outcome == OUTCOME_NONE;
}

static inline void end_item(struct work *work, size_t index, enum outcome outcome,
                            enum reason reason, uint64_t ref) {
  work->fates[index].outcome = (uint8_t)outcome;
  work->fates[index].reason = (uint8_t)reason;
  work->fates[index].ref = ref;
}

/* The first item of a line; `next` leads to the others. */
static inline size_t first_of(const struct work *work, const struct line *line) {
  return (size_t)(line->item - work->items);
}

void policy_expire(struct work *work);
int policy_withdraw(struct work *work); /* 0, or -1: no memory. So are the others that return int */
/* Is it withdrawn, but not to be forgotten yet, because of what others may still say of it? */
bool policy_is_awaited(const struct work *work, size_t index);
int policy_supersede(struct work *work);
int policy_annihilate(struct work *work);
void policy_filter(struct work *work);
int policy_coalesce(struct work *work); /* makes the lines */
void policy_rank(struct work *work);
int policy_cap(struct work *work);
int policy_tokens(struct work *work);

/* members.c: writes the message of a line that stands for several items. */
int policy_write_common(const struct work *work, struct line *line);

/* fair.c: the lines' indices in the order in which they have their turn. */
int policy_fair_order(const struct work *work, size_t *ret_order);

/* Takes the lines that are not `kept` out, the rest closing up in order; their items stay pending
 * and count as deferred. */
void policy_defer_lines(struct work *work, const bool *kept);

/* Which of `count` texts are equal: ret_leaders[i] is the lowest index with the same text. In n log
 * n, whatever the texts are. */
int policy_group_equal(const struct tidings_span *texts, size_t count, struct arena *arena,
                       size_t *ret_leaders);

#endif
