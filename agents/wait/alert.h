/* SPDX-License-Identifier: MIT
 *
 * agents/wait/alert.h: starts the process that alerts a person, if the user's configuration
 * wants that.
 */
#ifndef AGENTS_WAIT_ALERT_H
#define AGENTS_WAIT_ALERT_H

#include "agents/call/call.h"
#include "command/kit.h"

/* At a session's start: leaves `tidings wait --alert` beside it, one process, which ends with the
 * agent. Without alerts in the configuration, nothing. */
void hook_alert_begin(const struct cli *cli, struct hostkit *kit, const struct hook_call *call,
                      uint32_t owner);

#endif
