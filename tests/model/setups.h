/* SPDX-License-Identifier: MIT
 *
 * tests/model/setups.h: the settings and the numbers of messages with which the machine is
 * explored.
 */
#ifndef TESTS_MODEL_SETUPS_H
#define TESTS_MODEL_SETUPS_H

#include "world.h"

const struct setup *setups_all(size_t *ret_count);

#endif
