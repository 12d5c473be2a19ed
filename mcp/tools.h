/* SPDX-License-Identifier: MIT
 *
 * mcp/tools.h: the tools of the server as a table: their schemas and the check of their arguments
 * come from it. Few and short, because agents hide tools behind a search. Pure.
 */
#ifndef MCP_TOOLS_H
#define MCP_TOOLS_H

#include "mcp/server.h"

/* As tools/list has them, always in the same order. NULL: out of memory. */
json_t *mcp_tools_list(void);

/* False: there is no such tool. */
bool mcp_tools_find(const char *name, enum mcp_tool *ret_tool);

/* Checks the arguments: a sentence that names the wrong argument, what it is and what was
 * expected. Free it. NULL: nothing. */
char *mcp_tools_check(enum mcp_tool tool, const json_t *arguments);

#endif
