/* SPDX-License-Identifier: MIT
 *
 * mcp/serve.h: `tidings mcp` without a command: the server, over stdin and stdout.
 */
#ifndef MCP_SERVE_H
#define MCP_SERVE_H

#include "command/cli.h"

/* Serves until stdin ends; without tools, only until it has answered that there are none. Returns
 * the exit code. */
int mcp_serve(const struct cli *cli, bool has_tools);

#endif
