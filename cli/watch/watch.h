/* SPDX-License-Identifier: MIT
 *
 * cli/watch/watch.h: the verb that reports changed files.
 */
#ifndef CLI_WATCH_WATCH_H
#define CLI_WATCH_WATCH_H

#include "command/cli.h"

extern const struct cli_verb verb_watch;

#endif
