/* SPDX-License-Identifier: MIT
 *
 * policy/plan.h: one pure function from what is pending, the settings and the moment to a plan: what is shown, in which order and words,
 * what is removed and why, what stays. Steps, one file each, in this order: expire, withdraw, supersede, filter, rank, cap.
 * It must not know the store, JSON, clocks or how text is rendered.
 */
#ifndef POLICY_PLAN_H
#define POLICY_PLAN_H

#include "base/arena.h"
#include "base/notification.h"
#include "base/settings.h"

/* One thing that is shown: an item, or several that became one. */
struct line {
  const struct item *item;     /* of several: the one whose kind, level and data are shown */
  struct tidings_span message; /* not escaped */
  uint64_t place;              /* where it stands in time: the n of the oldest item it stands for or has superseded */
  uint32_t count;              /* how many items it stands for */
};

struct plan {
  struct line *lines; /* in the order in which they are shown */
  size_t line_count;
  struct fate *fates; /* of every item that is not pending any more when the delivery commits, shown ones included; by n */
  size_t fate_count;
  size_t deferred; /* items that stay pending because of the cap */
};

/* `items`: pending ones, by n. Lines and fates live in the arena and point into `items`. Returns 0, or -1: no memory. */
int plan_delivery(const struct item *items, size_t item_count, const struct settings *settings, int64_t now_ms, struct arena *arena,
                  struct plan *ret_plan);

#endif
