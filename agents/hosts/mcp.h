/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/mcp.h: programs that call no hooks and load no module, but start MCP servers: where
 * each lists them. By their documentation.
 */
#ifndef AGENTS_HOSTS_MCP_H
#define AGENTS_HOSTS_MCP_H

#include <stddef.h>

struct host_of_mcp {
  const char *name, *title;
  const char *variable, *folder_of_home, *file; /* as paths_in_home has them */
  const char *member;                           /* the object of servers; NULL: it is no JSON */
};

extern const struct host_of_mcp hosts_of_mcp[];
extern const size_t hosts_of_mcp_count;
#define HOSTS_OF_MCP_NAMES "amp, cline, cursor, goose, lmstudio, vscode or zed"

#endif
