/* SPDX-License-Identifier: MIT
 *
 * stats_prometheus.h: `tidings stats --prometheus`.
 */
#ifndef TIDINGS_CLI_STATS_PROMETHEUS_H
#define TIDINGS_CLI_STATS_PROMETHEUS_H

#include <jansson.h>

#include "command/cli.h"

/* `totals`: the answer of that query. */
void stats_prometheus(const struct cli *cli, const json_t *totals);

#endif
