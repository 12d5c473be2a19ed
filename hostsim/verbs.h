/* SPDX-License-Identifier: MIT
 *
 * verbs.h: the verbs of hostsim, and those that it starts itself with.
 */
#ifndef HOSTSIM_VERBS_H
#define HOSTSIM_VERBS_H

#include "command/cli.h"

extern const struct cli_verb verb_run;
extern const struct cli_verb verb_conformance;
extern const struct cli_verb verb_sim;
extern const struct cli_verb verb_demo;
extern const struct cli_verb verb_dev;
extern const struct cli_verb verb_internal_agent;
extern const struct cli_verb verb_internal_case;
extern const struct cli_verb verb_internal_demo_host;
extern const struct cli_verb verb_internal_push;
extern const struct cli_verb verb_internal_sim;

#endif
