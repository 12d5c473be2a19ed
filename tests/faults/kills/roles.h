/* SPDX-License-Identifier: MIT
 *
 * kills/roles.h: the main functions of the processes that are killed.
 */
#ifndef KILLS_ROLES_H
#define KILLS_ROLES_H

#include "kills/board.h"
#include "kit/rig.h"

/* Both open the store with a loaded rig, work until they are stopped, and exit with 0, or with 1 if
 * the plugin did something wrong. */
_Noreturn void producer_main(struct rig *rig, struct board *board, const char *store,
                             unsigned number, uint64_t seed);
_Noreturn void host_main(struct rig *rig, struct board *board, const char *store, uint64_t seed);

/* Makes this process kill itself at one of its next writes or syncs: before it, after it, or in the
 * middle of a write. */
void suicide_arm(struct random *random, uint64_t within);

#endif
