/* SPDX-License-Identifier: MIT
 *
 * alert/look_on.h: `tidings wait --alert`: watches a session that another process owns, and alerts
 * a person.
 */
#ifndef TIDINGS_CLI_ALERT_LOOK_ON_H
#define TIDINGS_CLI_ALERT_LOOK_ON_H

#include "command/cli.h"

struct look_on {
  bool goes_on;     /* continues after an alert, until the agent has ended */
  uint32_t owner;   /* the agent's process; 0: not given. If it is given, only one process alerts
                       about the session: this one ends if there is another */
  bool limited;     /* there is a timeout, at until_ms */
  int64_t until_ms; /* monotonic */
};

/* Returns the exit code. */
int alert_look_on(struct cli *cli, const struct look_on *look_on);

#endif
