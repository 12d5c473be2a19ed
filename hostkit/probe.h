/* SPDX-License-Identifier: MIT
 *
 * probe.h: tries a plugin in a process of its own before the host loads it. The process is spawned,
 * never forked: if other threads use the loader, a forked child hangs at the loader's lock.
 */
#ifndef HOSTKIT_PROBE_H
#define HOSTKIT_PROBE_H

#include "copy.h"
#include "settings.h"

/* `label` is what errors call the plugin. Errors: what the plugin was refused for (entry_check.h);
 * STATE (it crashed, exited or hung); NOT_FOUND (no probe program), STORE (the probe could not be
 * run), NOMEM. */
int32_t hk_probe(const struct hk_copy *copy, const char *label, const struct hk_settings *settings,
                 struct tidings_error *error);

#endif
