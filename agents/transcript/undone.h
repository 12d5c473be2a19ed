/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/undone.h: finds the deliveries that a person has taken back together with their
 * prompts or answers, from the agent's transcript. It reads only files, no store.
 */
#ifndef AGENTS_TRANSCRIPT_UNDONE_H
#define AGENTS_TRANSCRIPT_UNDONE_H

#include "agents/hosts/hosts.h"
#include "agents/transcript/marks.h"

/* Reads the marks of the deliveries. It marks nothing as undone if the transcript does not show it,
 * or cannot be read. Only complete lines count. Finish *ret_marks. Returns -1 if there is no
 * memory. */
int hook_undone_read(const char *path, const struct host *host, struct hook_marks *ret_marks);

#endif
