/* SPDX-License-Identifier: MIT
 *
 * cli/feed/feed.h: the verb that makes notifications of another program's lines.
 */
#ifndef CLI_FEED_FEED_H
#define CLI_FEED_FEED_H

#include "command/cli.h"

extern const struct cli_verb verb_feed;

#endif
