/* SPDX-License-Identifier: MIT
 *
 * alert/place.h: of several processes that would alert of one agent's session, one does.
 */
#ifndef TIDINGS_CLI_ALERT_PLACE_H
#define TIDINGS_CLI_ALERT_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "command/cli.h"

/* False: another process of this user has the place. *ret_fd holds it until it is closed; -1: it
 * cannot be known whether another one has it, and two alerts are better than none. */
bool alert_take_place(const struct cli *cli, const char *session, uint32_t owner, int *ret_fd);

#endif
