/* SPDX-License-Identifier: MIT
 *
 * session/urging.h: what of the pending items wants to be heard: the policy's view of them, as the
 * machine of turns/ takes it.
 */
#ifndef SESSION_URGING_H
#define SESSION_URGING_H

#include "rules/turns/turns.h"
#include "session/planning.h"

struct urging {
  struct urgency urgency;
  const struct item *most; /* the most pressing of those that ask: criticals first, then the oldest.
                              NULL: none asks */
};

/* `items`: pending ones, by n. Returns 0, or -1: no memory. */
int urging_find(const struct planning *planning, struct item *items, size_t count,
                struct urging *ret_urging);

/* The message that a turn of the plugin's own starts with. -1: no memory. */
int urging_message(const struct item *most, struct arena *arena, struct tidings_span *ret_text);

#endif
