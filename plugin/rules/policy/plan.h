/* SPDX-License-Identifier: MIT
 *
 * rules/policy/plan.h: one pure function from the pending items, the settings and the time to a
 * plan: which lines are shown, in which order and with which text, which items are removed and why,
 * and which ones stay.
 *
 * Its steps, one file each, run in this order: withdraw, annihilate, filter, supersede, expire,
 * coalesce, rank, cap, tokens, room. It must not know the store, JSON, clocks or how text is
 * rendered; render/ tells it how long a block becomes.
 */
#ifndef RULES_POLICY_PLAN_H
#define RULES_POLICY_PLAN_H

#include "common/arena.h"
#include "render/render.h"
#include "values/line.h"
#include "values/notification.h"
#include "values/settings.h"

/* How many tokens a line costs as it will be shown; `count` NULL: the bytes of its message / 4,
 * rounded up. */
struct token_counter {
  uint64_t (*count)(void *context, struct tidings_span message);
  void *context;
};

/* How much the carrier can take. */
struct room {
  const struct render_input *frame; /* what the lines will be rendered with */
  uint64_t bytes;                   /* for all texts of the reply */
  uint64_t taken;                   /* how many of these bytes the texts before the notifications
                                       take */
  size_t deferred;                  /* lines that wait but are not among the items */
};

/* Pending notifications that are not among the items, because lines that go before them fill the
 * carrier. No step removes one of them or joins it with one of the items. */
struct rest {
  size_t lines;
  size_t bytes; /* the bytes of source, name and least text to be shown, of the longest of them */
  size_t reach; /* how many of the first lines, among all pending ones, are among the items */
};

struct plan {
  struct line *lines; /* in the order in which they are shown */
  size_t line_count;
  /* The outcomes of all items that are not pending any more when the delivery commits, shown ones
   * included; by n. */
  struct disposition *dispositions;
  size_t disposition_count;
  size_t deferred;  /* lines whose items stay pending because of a cap, or for lack of room */
  size_t too_large; /* of these: the lines that do not fit into the room at all, however short they
                   are cut; other lines do not wait for them */
  uint64_t too_large_newest; /* number of the newest item of those */
  size_t outdated;  /* lines that would wait, but all their items are older than what is shown */
  bool falls_short; /* some of the rest may belong here: the plan has to be made of all items */
};

/* `items`: pending ones, by n, their facts read if plan_needs_facts. Lines and dispositions live in
 * the arena and point into `items` or a copy of them. `counter` NULL: as with a NULL count. Returns
 * 0, or -1: no memory. */
int plan_delivery(const struct item *items, size_t item_count, const struct settings *settings,
                  int64_t now_ms, const struct token_counter *counter, struct arena *arena,
                  struct plan *ret_plan);
/* The same, but the lines fit into the room when they are rendered with its frame. `room` NULL:
 * there is no bound. `rest` NULL: all that is pending is in `items`; else see backlog.h. */
int plan_delivery_in(const struct room *room, const struct rest *rest, const struct item *items,
                     size_t item_count, const struct settings *settings, int64_t now_ms,
                     const struct token_counter *counter, struct arena *arena,
                     struct plan *ret_plan);

/* Finds the items that no step removes: those that the next carrier would show if there were room
 * for all. ret_left has an element for each. Returns 0, or -1: no memory. */
int plan_left(const struct item *items, size_t item_count, const struct settings *settings,
              int64_t now_ms, struct arena *arena, bool *ret_left);

/* Does any step look at the facts of these items? */
bool plan_needs_facts(const struct item *items, size_t item_count, const struct settings *settings);

/* Finds the items that have to be withdrawn at once. A poll by the assistant withdraws all
 * notifications of the handle (`reason` REASON_POLLED). A handle that runs again withdraws only the
 * notification that it waits (REASON_RUNNING). A critical item is withdrawn only by a report that
 * is `critical` itself. Returns how many dispositions were written, by n; there is room for
 * item_count. */
size_t plan_withdrawal(const struct item *items, size_t item_count, struct tidings_span handle,
                       enum reason reason, bool critical, struct disposition *dispositions);

/* Which of the pending items are older than a shown one about the same thing? `shown`: by n. The
 * facts of all are read. There is room for pending_count dispositions; their refs are the shown
 * items' n. Returns 0, or -1: no memory. */
int plan_outdated(const struct item *pending, size_t pending_count, const struct item *shown,
                  size_t shown_count, struct arena *arena, struct disposition *ret_dispositions,
                  size_t *ret_count);
/* The same for reports of files alone. If a newer report was shown of only some of a report's
 * files, these files are left out of its facts. */
int plan_leave_out(struct item *pending, size_t pending_count, const struct item *shown,
                   size_t shown_count, struct arena *arena, struct disposition *ret_dispositions,
                   size_t *ret_count);
/* Can the result of plan_outdated depend on this item? */
bool plan_can_be_outdated(const struct item *item);

/* Finds the items that were for a later time, and are replaced by an item with the same key that
 * was pushed after them and before that time. The time may be over. `items`: also those that are
 * not due. By n. Returns 0, or -1: no memory. */
int plan_replaced(const struct item *items, size_t item_count, const struct settings *settings,
                  int64_t now_ms, struct arena *arena, struct disposition **ret_dispositions,
                  size_t *ret_count);

/* Is its time to live over? */
bool plan_is_expired(const struct item *item, int64_t now_ms);

#endif
