/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/undone.h: which deliveries a person has taken back together with the prompts or
 * answers that carried them, as far as the agent's transcript says it. Knows files, and no store.
 */
#ifndef AGENTS_TRANSCRIPT_UNDONE_H
#define AGENTS_TRANSCRIPT_UNDONE_H

#include "agents/hosts/hosts.h"
#include "agents/transcript/marks.h"

/* Marks nothing as undone where the transcript does not say it, or cannot be read. Only whole lines
 * count. *ret_marks is to be finished. Returns -1 if there is no memory. */
int hook_undone_read(const char *path, const struct host *host, struct hook_marks *ret_marks);

#endif
