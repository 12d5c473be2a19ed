/* SPDX-License-Identifier: MIT
 *
 * cli/feed/feed.h: the verb that makes notifications of the lines of another program.
 */
#ifndef CLI_FEED_FEED_H
#define CLI_FEED_FEED_H

#include "command/cli.h"

extern const struct cli_verb verb_feed;

#endif
