/* SPDX-License-Identifier: MIT
 */
#include "session/asking_items.h"

#include "session/planning.h"

static bool is_urgent(const struct notification *note, const struct settings *settings) {
  return settings->critical_force &&
         (note->level == TIDINGS_LEVEL_CRITICAL || note->activation == ACTIVATION_INTERRUPT);
}

static bool is_critical(const struct item *item) {
  return item->note.level == TIDINGS_LEVEL_CRITICAL;
}

static int64_t next_ms(const struct op *op, const struct item *items, size_t count) {
  int64_t earliest_ms = 0;
  for (size_t i = 0; i < count; i++) {
    const struct notification *note = &items[i].note;
    bool waits = notification_rings(note) && !item_is_due(&items[i], op->now_ms);
    if (waits && (!earliest_ms || note->due_ms < earliest_ms)) earliest_ms = note->due_ms;
  }
  return earliest_ms;
}

int asking_items_find(struct op *op, uint64_t unfit, struct item *items, size_t count,
                      struct asking_items *ret_asking) {
  struct asking_items asking = {0};
  const bool *left;
  bool any = false;
  for (size_t i = 0; !any && i < count; i++)
    any = items[i].n > unfit && notification_rings(&items[i].note);
  if (any && planning_left(op, items, count, &left)) return -1;
  for (size_t i = 0; any && i < count; i++) {
    const struct notification *note = &items[i].note;
    bool urgent = is_urgent(note, op->settings);
    if (!left[i] || items[i].n <= unfit || !(urgent || note->activation == ACTIVATION_IDLE))
      continue;
    asking.urgency.urgent = asking.urgency.urgent || urgent;
    asking.urgency.asking = items[i].n;
    if (note->due_ms > asking.urgency.due_ms) asking.urgency.due_ms = note->due_ms;
    if (!asking.most || (is_critical(&items[i]) && !is_critical(asking.most)))
      asking.most = &items[i];
  }
  asking.next_ms = next_ms(op, items, count);
  if (asking.most) asking.urgency.most = asking.most->n;
  *ret_asking = asking;
  return 0;
}
