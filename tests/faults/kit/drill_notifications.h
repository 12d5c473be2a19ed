/* SPDX-License-Identifier: MIT
 *
 * kit/drill_notifications.h: the drill's operations on the store, on notifications and deliveries,
 * queries and waking.
 */
#ifndef KIT_DRILL_NOTIFICATIONS_H
#define KIT_DRILL_NOTIFICATIONS_H

#include "kit/drill.h"

extern const struct drill_operation drill_notifications[];
extern const size_t drill_notifications_count;

#endif
