/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/later.h: whether a transcript is complete up to what the agent was given.
 * Agents write their transcripts late, on a busy machine by seconds: what one does not have may
 * still come, until it has what the model said after that.
 */
#ifndef AGENTS_TRANSCRIPT_LATER_H
#define AGENTS_TRANSCRIPT_LATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agents/hosts/hosts.h"

/* An answer that a hook handed out. */
struct hook_handed {
  const char *call_id; /* with the result of this tool call; "": with a prompt, or not known */
  int64_t at_ms;
  bool result; /* the transcript has the call's result */
  bool later;  /* and after that something of the model's; without a call's id: something of the
                  model's that is newer */
};

/* Looks at the end of the file. If it cannot be read, it has nothing later. */
void hook_later_look(const char *path, const struct host *host, struct hook_handed *handed,
                     size_t count);

#endif
