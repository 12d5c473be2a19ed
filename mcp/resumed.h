/* SPDX-License-Identifier: MIT
 *
 * mcp/resumed.h: finds out that a person has resumed a session, for an agent that then calls no
 * hook, but starts its MCP servers.
 */
#ifndef MCP_RESUMED_H
#define MCP_RESUMED_H

#include "command/cli.h"

/* If such an agent has started this process, and our hooks wake it, starts a process that finds out
 * which session was resumed, and starts the process that wakes it. Returns at once. */
void mcp_resumed_watch(const struct cli *cli);

#endif
