/* SPDX-License-Identifier: MIT
 *
 * sessions.h: the list of the store's sessions, for the verbs that print it.
 */
#ifndef CLI_SESSIONS_H
#define CLI_SESSIONS_H

#include <stdbool.h>

#include "command/cli.h"

/* All sessions, those of running hosts first; `names`: only their ids. Returns the exit code. */
int sessions_list(const struct cli *cli, bool names);

/* The sessions that run, at most five, and which one is meant here; a store that cannot be opened
 * is said. */
void sessions_overview(const struct cli *cli);

#endif
