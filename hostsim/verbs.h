/* SPDX-License-Identifier: MIT
 *
 * verbs.h: the verb of this folder itself.
 */
#ifndef HOSTSIM_VERBS_H
#define HOSTSIM_VERBS_H

#include "command/cli.h"

extern const struct cli_verb verb_run;

#endif
