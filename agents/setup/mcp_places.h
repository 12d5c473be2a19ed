/* SPDX-License-Identifier: MIT
 *
 * agents/setup/mcp_places.h: where an agent lists its MCP servers on this machine.
 */
#ifndef AGENTS_SETUP_MCP_PLACES_H
#define AGENTS_SETUP_MCP_PLACES_H

#include "agents/hosts/mcp.h"

/* NULL: there is no such agent. */
const struct host_of_mcp *mcp_host_find(const char *name);

/* Free it; NULL: out of memory, or there is no home. */
char *mcp_host_file(const struct host_of_mcp *host);

#endif
