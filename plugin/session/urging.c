/* SPDX-License-Identifier: MIT
 *
 * session/urging.c: see urging.h.
 */
#include "session/urging.h"

#include "session/planning.h"

static bool is_urgent(const struct notification *note, const struct settings *settings) {
  return settings->critical_force &&
         (note->level == TIDINGS_LEVEL_CRITICAL || note->activation == ACTIVATION_INTERRUPT);
}

static bool is_critical(const struct item *item) {
  return item->note.level == TIDINGS_LEVEL_CRITICAL;
}

int urging_find(struct op *op, uint64_t unfit, struct item *items, size_t count,
                struct urging *ret_urging) {
  struct urging urging = {0};
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
    urging.urgency.urgent = urging.urgency.urgent || urgent;
    urging.urgency.asking = items[i].n;
    if (!urging.most || (is_critical(&items[i]) && !is_critical(urging.most)))
      urging.most = &items[i];
  }
  if (urging.most) urging.urgency.most = urging.most->n;
  *ret_urging = urging;
  return 0;
}
