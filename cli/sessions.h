/* SPDX-License-Identifier: MIT
 *
 * sessions.h: the list of the store's sessions, for the verbs that print it.
 */
#ifndef CLI_SESSIONS_H
#define CLI_SESSIONS_H

#include <stdbool.h>

#include "command/cli.h"

/* Prints all sessions, those of running hosts first; `names`: only their ids. Returns the exit
 * code. */
int sessions_list(const struct cli *cli, bool names);

/* Prints at most five of the running sessions, and which one commands in this folder use; or that
 * the store cannot be opened. */
void sessions_overview(const struct cli *cli);

#endif
