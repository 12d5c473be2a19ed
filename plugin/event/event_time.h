/* SPDX-License-Identifier: MIT
 *
 * event/event_time.h: times by RFC 3339, such as "2026-02-23T12:00:00.5+01:00". Private to event/.
 */
#ifndef EVENT_EVENT_TIME_H
#define EVENT_EVENT_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

/* Milliseconds since 1970 in UTC. False: it is none. */
bool event_time_read(struct tidings_span text, int64_t *ret_ms);

#endif
