/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/ended.h: tells how a turn has ended, by the last records of the transcript. It
 * reads only files, no store.
 */
#ifndef AGENTS_TRANSCRIPT_ENDED_H
#define AGENTS_TRANSCRIPT_ENDED_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/hosts/hosts.h"

/* Some agents call the hook of a turn's end also when a person has stopped the turn, with the same
 * input, and ignore the answer then. Returns whether the turn ended by itself: after a complete
 * answer the last record of the transcript is the model's, after a stop it is another one. Also
 * false if the transcript does not show it. */
bool hook_ended_by_itself(const char *transcript, const struct host *host);

/* Returns when a person last stopped a turn, in milliseconds since 1970, by the end of the
 * transcript; 0: the transcript does not show it. */
int64_t hook_ended_by_person_ms(const char *transcript, const struct host *host);

#endif
