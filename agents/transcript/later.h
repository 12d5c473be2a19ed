/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/later.h: finds out whether a transcript is complete up to a hook's answer.
 * Agents write late, on a busy machine by seconds. So a missing answer may still come, until the
 * transcript has later words of the model.
 */
#ifndef AGENTS_TRANSCRIPT_LATER_H
#define AGENTS_TRANSCRIPT_LATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agents/hosts/hosts.h"

/* An answer that a hook handed out. */
struct hook_handed {
  const char *call_id; /* the tool call whose result it was handed out with; "": it went with a
                          prompt, or that is not known */
  int64_t at_ms;
  bool result; /* the transcript has the call's result */
  bool later;  /* .. and words of the model after it; without a call_id: it has newer words of the
                  model */
};

/* Looks at the end of the file, and sets `result` and `later`. If the file cannot be read, they
 * stay false. */
void hook_later_look(const char *path, const struct host *host, struct hook_handed *handed,
                     size_t count);

#endif
