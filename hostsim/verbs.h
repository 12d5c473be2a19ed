/* SPDX-License-Identifier: MIT
 *
 * verbs.h: the verbs of this folder.
 */
#ifndef HOSTSIM_VERBS_H
#define HOSTSIM_VERBS_H

#include "command/cli.h"

extern const struct cli_verb verb_run;
extern const struct cli_verb verb_dev;

#endif
