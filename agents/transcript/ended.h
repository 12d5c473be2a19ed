/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/ended.h: whether a turn has ended by itself. Reads files only, no store.
 */
#ifndef AGENTS_TRANSCRIPT_ENDED_H
#define AGENTS_TRANSCRIPT_ENDED_H

#include <stdbool.h>

/* Of Gemini CLI, which calls its hook also when a person has stopped the turn, with the same input,
 * and ignores the answer then. After an answer that is whole the last record of the transcript is
 * the model's; after a stop it is another one. False where that cannot be seen. */
bool hook_ended_by_itself(const char *transcript);

#endif
