/* SPDX-License-Identifier: MIT
 *
 * agents/wait/alert.h: starts the process that alerts a person, if the user's configuration turns
 * alerts on.
 */
#ifndef AGENTS_WAIT_ALERT_H
#define AGENTS_WAIT_ALERT_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Call it at a session's start. If the configuration turns alerts on, it starts one process
 * `tidings wait --alert`, which ends with the agent. */
void hook_alert_begin(const struct cli *cli, struct hostkit *kit, const struct hook_call *call,
                      uint32_t owner);

#endif
