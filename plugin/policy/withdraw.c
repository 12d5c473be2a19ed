/* SPDX-License-Identifier: MIT
 *
 * policy/withdraw.c: what the model did itself is no news to it.
 */
#include "policy/steps.h"

void step_withdraw(struct work *work) {
  for (size_t i = 0; i < work->item_count; i++) {
    if (is_left(work, i) && work->items[i].note.caused_by.len) end_item(work, i, OUTCOME_WITHDRAWN, REASON_CAUSED_BY, 0);
  }
}
