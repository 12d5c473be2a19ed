/* SPDX-License-Identifier: MIT
 *
 * tests/unit/policy/policy_model_lines.h: the second half of the naive plan: coalesce, rank, cap,
 * tokens.
 */
#ifndef TESTS_UNIT_POLICY_MODEL_LINES_H
#define TESTS_UNIT_POLICY_MODEL_LINES_H

#include "policy_model.h"

void model_lines(struct model *model, const struct items *items, const struct settings *settings);

#endif
