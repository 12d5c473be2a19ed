/* SPDX-License-Identifier: MIT
 *
 * powercut/inspect.h: opens a store as a power cut left it, and compares it with what was promised
 * before the cut.
 */
#ifndef POWERCUT_INSPECT_H
#define POWERCUT_INSPECT_H

#include "kit/rig.h"
#include "powercut/trace.h"

/* True: the store at `path` keeps every promise of the first `cut` events of the trace. If not,
 * `why` (512 bytes) says which one it breaks. `rig` is loaded and not open, before and after. */
bool inspect(struct rig *rig, const char *path, const struct trace *trace, size_t cut,
             struct random random, char *why);

/* The same for a disk with torn or unreadable sectors: the store may also be refused, in a sentence
 * that names `tidings store salvage`; then the store that this command makes in the folder `to`
 * must keep every promise. *ret_refused: it was refused. */
bool inspect_spoilt(struct rig *rig, const char *path, const char *to, const struct trace *trace,
                    size_t cut, struct random random, bool *ret_refused, char *why);

#endif
