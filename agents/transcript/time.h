/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/time.h: times that agents and the store write as text.
 */
#ifndef AGENTS_TRANSCRIPT_TIME_H
#define AGENTS_TRANSCRIPT_TIME_H

#include <stdint.h>

/* Converts "2026-11-21T08:40:37.186Z" to milliseconds since 1970; 0: it has another form. */
int64_t hook_time_ms(const char *text);

#endif
