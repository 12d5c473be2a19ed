/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/undone.h: finds in a transcript the deliveries that a person has taken back
 * together with prompts or answers. It uses no store.
 */
#ifndef AGENTS_TRANSCRIPT_UNDONE_H
#define AGENTS_TRANSCRIPT_UNDONE_H

#include "agents/hosts/hosts.h"
#include "agents/transcript/marks.h"

/* Reads the places of the deliveries. Nothing is marked as undone if the transcript cannot be read,
 * or does not show it. Only complete lines count. Finish *ret_marks. Returns -1 if there is no
 * memory. */
int hook_undone_read(const char *path, const struct host *host, struct hook_marks *ret_marks);

#endif
