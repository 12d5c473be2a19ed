/* SPDX-License-Identifier: MIT
 *
 * values/memory.h: the state that producers remember about a session and the store keeps. No
 * behaviour.
 */
#ifndef VALUES_MEMORY_H
#define VALUES_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

/* A call of a tool that the host has reported as running. Files that change meanwhile count as
 * changed while it ran. */
struct tool_call {
  struct tidings_span call_id, tool;
  int64_t from_ms, to_ms;
  bool over;     /* to_ms is known */
  bool orphaned; /* its host died while it ran; then it is over, too */
};

enum { MEMORY_CALLS = 16 }; /* the newest ones */

/* A path that a call of the assistant's own has changed is remembered by its hash. */
enum { EDIT_KEY_BYTES = 8, MEMORY_EDITS = 256 /* the newest ones */ };

struct memory {
  uint8_t budget_percent; /* the highest threshold that was reported and is still reached; 0:
                             none */
  struct tool_call calls[MEMORY_CALLS]; /* in the order in which they started */
  size_t call_count;
  struct tidings_span edits; /* keys, in the order in which the files were first edited */
};

#endif
