/* SPDX-License-Identifier: MIT
 *
 * coverage/dump.h: functions of ending.c for dump.c, only in builds with TIDINGS_COVERAGE.
 */
#ifndef TIDINGS_COVERAGE_DUMP_H
#define TIDINGS_COVERAGE_DUMP_H

/* `dump` writes the counts of the caller's program or library. Any thread may call these. */
__attribute__((visibility("default"))) void coverage_add(void (*dump)(void));
__attribute__((visibility("default"))) void coverage_remove(void (*dump)(void));

#endif
