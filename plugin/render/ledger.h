/* SPDX-License-Identifier: MIT
 *
 * render/ledger.h: writes the pending notifications and queued messages as one JSON object for the
 * summary of a compacted conversation. A host passes it to its model unchanged.
 */
#ifndef RENDER_LEDGER_H
#define RENDER_LEDGER_H

#include "common/arena.h"
#include "values/notification.h"

struct render_queued {
  struct tidings_span id, content, trigger; /* trigger: JSON, or empty */
  const char *state;
};

struct render_ledger {
  const struct notification **notes;
  size_t note_count;
  const struct render_queued *queued;
  size_t queued_count;
};

/* Text is in the arena. Returns 0, or -1: no memory. */
int render_ledger(const struct render_ledger *ledger, struct arena *arena,
                  struct tidings_span *ret_json);

#endif
