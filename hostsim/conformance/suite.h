/* SPDX-License-Identifier: MIT
 *
 * conformance/suite.h: the suite: every C case, and the scenario files that were embedded when
 * hostsim was built.
 */
#ifndef HOSTSIM_SUITE_H
#define HOSTSIM_SUITE_H

#include "command/cli.h"
#include "conformance/trial.h"

#include <stddef.h>

struct embedded_scenario {
  const char *name; /* the name of the file, without .json */
  const char *bytes;
  size_t len;
};

/* Generated from conformance/scenarios by embed.cmake. */
extern const struct embedded_scenario embedded_scenarios[];
extern const size_t embedded_scenario_count;

/* Returns the C case with that number; NULL: there is none. */
const struct conformance_case *suite_case(size_t number);

extern const struct cli_verb verb_conformance;
extern const struct cli_verb verb_internal_case;

#endif
