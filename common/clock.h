/* SPDX-License-Identifier: MIT
 *
 * common/clock.h: the system's clocks, for programs and hostkit. The plugin asks its host instead.
 */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

int64_t clock_wall_ms(void); /* since 1970 */
uint64_t clock_mono_ns(void);
int64_t clock_mono_ms(void);

/* Does the day exist? February 30 does not; mktime would make a day in March of it. */
bool clock_day_exists(const struct tm *day);

/* Returns how long poll may wait until a time of clock_mono_ms; at least 0. */
int clock_ms_until(int64_t mono_ms);

/* Opens a descriptor for poll. After clock_alarm_set it becomes readable at `wall_ms`, even if the
 * machine slept until then. Setting the wall clock makes it readable too, so that its waiter looks
 * again. If `wall_ms` is 0, it never becomes readable. -1: this kernel has no such descriptor, and
 * only poll's timeout counts. */
int clock_alarm_open(void);
void clock_alarm_set(int alarm, int64_t wall_ms);

/* Sleeps; a signal ends it early. */
void clock_sleep_ms(uint32_t ms);

#endif
