/* SPDX-License-Identifier: MIT
 *
 * agents/wait/queue.h: the agent's own command that queues a prompt for an idle session: `codex
 * queue`.
 */
#ifndef AGENTS_WAIT_QUEUE_H
#define AGENTS_WAIT_QUEUE_H

#include "agents/call/call.h"

/* Queues `nudge` in the agent of this process. Returns the exit status of its command; -1: it was
 * not run. A failure is logged unless it equals `failed_before`. */
int hook_queue_run(const struct hook_call *call, uint32_t owner, const char *nudge,
                   int failed_before);

#endif
