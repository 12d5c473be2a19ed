/* SPDX-License-Identifier: MIT
 *
 * flow/reports.h: what a subsystem's report does to the store: news is pushed, or taken back, and
 * what producers remember is kept.
 */
#ifndef FLOW_REPORTS_H
#define FLOW_REPORTS_H

#include "event/event.h"
#include "instance/instance.h"

/* `event` is a report (event_is_report). *ret_asks: it made news that asks for more than the next
 * carrier. Errors as of a notification. */
int take_report(struct instance *instance, const struct settings *settings,
                const struct event *event, int64_t now_ms, store_deadline deadline,
                bool *ret_duplicate, bool *ret_asks, struct tidings_error *error);

#endif
