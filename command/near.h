/* SPDX-License-Identifier: MIT
 *
 * command/near.h: which known name somebody meant who typed another one.
 */
#ifndef COMMAND_NEAR_H
#define COMMAND_NEAR_H

#include <stddef.h>

/* How many bytes must be put in, left out, replaced or swapped with their neighbour; a name that
 * goes on after `typed` is one away. */
unsigned near_distance(const char *typed, const char *name);
/* So few that hardly another name is meant. */
unsigned near_most(const char *typed);

/* The nearest of `count` names; NULL: none is near. */
const char *near_find(const char *typed, const char *const *names, size_t count);

#endif
