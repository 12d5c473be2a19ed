/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/ended.h: finds in the last records of a transcript how a turn has ended. It
 * uses no store.
 */
#ifndef AGENTS_TRANSCRIPT_ENDED_H
#define AGENTS_TRANSCRIPT_ENDED_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/hosts/hosts.h"

/* Did the turn end by itself? Then the last record of the transcript is the model's. Some agents
 * also call the hook of a turn's end when a person has stopped the turn, with the same input, and
 * then ignore the answer. False if the transcript does not show it. */
bool hook_ended_by_itself(const char *transcript, const struct host *host);

/* Returns when a person last stopped a turn, in milliseconds since 1970; 0: the transcript's end
 * does not show it. */
int64_t hook_ended_by_person_ms(const char *transcript, const struct host *host);

#endif
