/* SPDX-License-Identifier: MIT
 *
 * tests/model/oracle.h: computes a move's right result by the second implementation of the rules,
 * hostsim's model (hostsim/sim/model/).
 */
#ifndef TESTS_MODEL_ORACLE_H
#define TESTS_MODEL_ORACLE_H

#include "view.h"

void oracle_play(const struct view *before, const struct view_setup *setup, const struct act *act,
                 struct view *ret_after, struct view_answer *ret_answer);

#endif
