/* SPDX-License-Identifier: MIT
 *
 * mcp/wrap.h: `tidings mcp -- CMD...`: stands between a host and an MCP server. Every byte passes
 * both ways as it is; a result of a tool call may get one more block.
 */
#ifndef MCP_WRAP_H
#define MCP_WRAP_H

#include "command/cli.h"

/* Runs the command until it ends. `name`: the server's name in the notification of its end; NULL:
 * its command names it. Returns the exit code of the command. */
int mcp_wrap(const struct cli *cli, const char *name, char *const *argv);

/* "server-everything" of "npx -y @modelcontextprotocol/server-everything". Pure; the text is
 * argv's. */
const char *mcp_wrap_name(char *const *argv);

#endif
