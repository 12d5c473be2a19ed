/* SPDX-License-Identifier: MIT
 *
 * command/near.h: finds the known name that a mistyped one was probably meant to be.
 */
#ifndef COMMAND_NEAR_H
#define COMMAND_NEAR_H

#include <stddef.h>

/* Returns how many bytes must be inserted, removed, replaced or swapped with their neighbour to get
 * `name`; if `name` begins with `typed`, the distance is one. */
unsigned near_distance(const char *typed, const char *name);
/* Returns the largest distance at which a name was probably meant. */
unsigned near_most(const char *typed);

/* The nearest of `count` names; NULL: none is near. */
const char *near_find(const char *typed, const char *const *names, size_t count);

#endif
