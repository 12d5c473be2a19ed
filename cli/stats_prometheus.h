/* SPDX-License-Identifier: MIT
 *
 * stats_prometheus.h: `tidings stats --prometheus`.
 */
#ifndef TIDINGS_CLI_STATS_PROMETHEUS_H
#define TIDINGS_CLI_STATS_PROMETHEUS_H

#include <jansson.h>

#include "command/cli.h"

/* `all`: answers of `stats` by session, each with "alive". Returns 0, or the exit code. */
int stats_prometheus(const struct cli *cli, const json_t *all);

#endif
