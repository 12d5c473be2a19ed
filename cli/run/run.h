/* SPDX-License-Identifier: MIT
 *
 * cli/run/run.h: the verb that runs a command and reports how it ended.
 */
#ifndef CLI_RUN_RUN_H
#define CLI_RUN_RUN_H

#include "command/cli.h"

extern const struct cli_verb verb_run;

#endif
