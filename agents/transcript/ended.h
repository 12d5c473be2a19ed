/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/ended.h: how a turn has ended, by the last records of the transcript. Reads
 * files only, no store.
 */
#ifndef AGENTS_TRANSCRIPT_ENDED_H
#define AGENTS_TRANSCRIPT_ENDED_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/hosts/hosts.h"

/* Some agents call the hook of a turn's end also when a person has stopped the turn, with the same
 * input, and ignore the answer then. After an answer that is whole the last record of the
 * transcript is the model's; after a stop it is another one. False where that cannot be seen. */
bool hook_ended_by_itself(const char *transcript, const struct host *host);

/* When a person has stopped a turn last, in milliseconds since 1970, by the end of the transcript;
 * 0: it does not say so. */
int64_t hook_ended_by_person_ms(const char *transcript, const struct host *host);

#endif
