/* SPDX-License-Identifier: MIT
 *
 * mcp/tools.h: the server's tools as a table, which has their schemas and checks their arguments.
 * Descriptions are short, and tools few. Pure.
 */
#ifndef MCP_TOOLS_H
#define MCP_TOOLS_H

#include "mcp/server.h"

/* Returns the list for tools/list, always in the same order. NULL: out of memory. */
json_t *mcp_tools_list(void);

/* False: there is no such tool. */
bool mcp_tools_find(const char *name, enum mcp_tool *ret_tool);

/* Checks the arguments. Returns a sentence that names the wrong argument, its value and what was
 * expected (free it), or NULL: they are valid. */
char *mcp_tools_check(enum mcp_tool tool, const json_t *arguments);

#endif
