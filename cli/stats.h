/* SPDX-License-Identifier: MIT
 *
 * stats.h: the counts that are not of a session.
 */
#ifndef TIDINGS_CLI_STATS_H
#define TIDINGS_CLI_STATS_H

#include "command/cli.h"

/* Return the exit code. */
int stats_of_listeners(const struct cli *cli);
int stats_of_subscriptions(const struct cli *cli);

#endif
