/* SPDX-License-Identifier: MIT
 *
 * agents/setup/mcp.h: `tidings setup mcp HOST`, for agents that start MCP servers.
 */
#ifndef AGENTS_SETUP_MCP_H
#define AGENTS_SETUP_MCP_H

#include "command/cli.h"

struct mcp_wish {
  bool remove, dry_run;
  bool wrap; /* wraps the listed servers, instead of adding one */
};

/* Returns the exit code. */
int setup_mcp(const struct cli *cli, const char *host, const struct mcp_wish *wish);

#endif
