/* SPDX-License-Identifier: MIT
 *
 * store/db/deadline.h: how long a call may wait.
 */
#ifndef STORE_DB_DEADLINE_H
#define STORE_DB_DEADLINE_H

#include <stdint.h>

/* A point in time (CLOCK_MONOTONIC, nanoseconds) past which a call gives up waiting for the writer
 * lock. */
typedef uint64_t store_deadline;
/* Milliseconds since the machine started, its sleep among them. */
int64_t store_uptime_ms(void);
store_deadline store_deadline_in(uint32_t budget_ms);
int store_deadline_left_ms(store_deadline deadline); /* 0: it is past; as poll takes it */

#endif
