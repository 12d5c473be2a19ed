/* SPDX-License-Identifier: MIT
 *
 * powercut/inspect.h: opens a store after a power cut, and compares it with what was promised
 * before the cut.
 */
#ifndef POWERCUT_INSPECT_H
#define POWERCUT_INSPECT_H

#include "kit/rig.h"
#include "powercut/trace.h"

/* Does the store at `path` keep every promise of the first `cut` events of the trace? If not, `why`
 * (512 bytes) names the broken one. Before and after, `rig` is loaded and not open. */
bool inspect(struct rig *rig, const char *path, const struct trace *trace, size_t cut,
             struct random random, char *why);

/* The same for a disk with torn or unreadable sectors: the store may also be refused
 * (*ret_refused), by a sentence that names `tidings store salvage`. Then the store that this
 * command makes in the folder `to` must keep every promise. */
bool inspect_spoilt(struct rig *rig, const char *path, const char *to, const struct trace *trace,
                    size_t cut, struct random random, bool *ret_refused, char *why);

#endif
