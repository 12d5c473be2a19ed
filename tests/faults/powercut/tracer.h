/* SPDX-License-Identifier: MIT
 *
 * powercut/tracer.h: fills a trace from the file calls of this process. Writes through shared
 * mappings are seen too: at every call, mapped files are compared with their last known bytes, and
 * each changed sector counts as a write.
 */
#ifndef POWERCUT_TRACER_H
#define POWERCUT_TRACER_H

#include "powercut/trace.h"

/* Records everything below `root`, an empty folder. A process has one tracer. */
void tracer_start(struct trace *trace, const char *root);
void tracer_stop(void);
/* Records a promise, between the file calls before and after it. Any thread may call it. */
void tracer_mark(enum mark mark, uint64_t subject, uint64_t other, const uint64_t *tokens,
                 size_t token_count);
void tracer_mark_push(uint64_t token, unsigned session, bool identified);
/* Notes that the store is open for the first time. */
void tracer_opened(void);

#endif
