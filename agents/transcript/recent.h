/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/recent.h: what says in a transcript that a person has taken back
 * prompts, as far as it is in a record of its own; and whether the end of a large transcript can
 * say so.
 */
#ifndef AGENTS_TRANSCRIPT_RECENT_H
#define AGENTS_TRANSCRIPT_RECENT_H

#include <stdbool.h>

#include "agents/hosts/hosts.h"
#include "common/span.h"

/* Of Claude Code: a line. */
struct hook_prompt {
  const char *start;
  struct tidings_span parent; /* the beginning of the line, with the parent's id */
};

/* The next prompt from `at` on that a person has written and that has a parent. `at` is in the
 * text, which begins a line. */
bool hook_recent_prompt(struct tidings_span text, const char *at, struct hook_prompt *ret_prompt);

/* Of Qwen Code: the next record that takes prompts back; NULL: there is none. */
const char *hook_recent_rewind(const char *at, const char *end);

/* False: the whole would say nothing that it did not say when a prompt was there before. `text` is
 * the end of a file; its first line is cut. */
bool hook_recent_may_undo(const struct host *host, struct tidings_span text);

#endif
