/* SPDX-License-Identifier: MIT
 *
 * mcp/serve.h: `tidings mcp` without a command: the server, over stdin and stdout.
 */
#ifndef MCP_SERVE_H
#define MCP_SERVE_H

#include "command/cli.h"

/* Serves until stdin ends, or, without tools, until it has said that there are none. Returns the
 * exit code. */
int mcp_serve(const struct cli *cli, bool has_tools);

#endif
