/* SPDX-License-Identifier: MIT
 *
 * mcp/wrap.h: `tidings mcp -- CMD...`: runs between a host and an MCP server. It passes every byte
 * on in both directions; only a tool's result may get one more block.
 */
#ifndef MCP_WRAP_H
#define MCP_WRAP_H

#include "command/cli.h"

/* Runs the command until it ends. `name`: the server's name in the notification of its end; NULL:
 * mcp_wrap_name. Returns the exit code of the command. */
int mcp_wrap(const struct cli *cli, const char *name, char *const *argv);

/* Returns "server-everything" for "npx -y @modelcontextprotocol/server-everything", as a part of
 * argv. Pure. */
const char *mcp_wrap_name(char *const *argv);

#endif
