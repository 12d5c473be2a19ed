/* SPDX-License-Identifier: MIT
 *
 * powercut/inspect.h: opens a store as a power cut left it and holds it against what had been
 * promised before the cut.
 */
#ifndef POWERCUT_INSPECT_H
#define POWERCUT_INSPECT_H

#include "kit/rig.h"
#include "powercut/trace.h"

/* True if every promise of the first `cut` events of the trace is kept by the store at `path`; else
 * `why` (512 bytes) says which is not. `rig` is loaded and not open, and so it is afterwards. */
bool inspect(struct rig *rig, const char *path, const struct trace *trace, size_t cut,
             struct random random, char *why);

/* The same for a disk with torn or unreadable sectors: the store may be refused as well, in a
 * sentence that names `tidings store salvage`; then what that makes in the folder `to` must keep
 * every promise. *ret_refused says that it was. */
bool inspect_spoilt(struct rig *rig, const char *path, const char *to, const struct trace *trace,
                    size_t cut, struct random random, bool *ret_refused, char *why);

#endif
