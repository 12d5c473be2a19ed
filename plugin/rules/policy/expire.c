/* SPDX-License-Identifier: MIT
 *
 * rules/policy/expire.c: removes items whose time to live is over. If the clock was set back,
 * nothing expires.
 */
#include "rules/policy/steps.h"

bool plan_is_expired(const struct item *item, int64_t now_ms) {
  int64_t end_ms;
  if (item->note.ttl_ms <= 0) return false;
  return !__builtin_add_overflow(item->time_ms, item->note.ttl_ms, &end_ms) && now_ms >= end_ms;
}

void policy_expire(struct work *work) {
  for (size_t i = 0; i < work->item_count; i++) {
    if (is_left(work, i) && plan_is_expired(&work->items[i], work->now_ms))
      end_item(work, i, OUTCOME_EXPIRED, REASON_TTL, 0);
  }
}
