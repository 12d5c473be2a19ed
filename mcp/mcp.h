/* SPDX-License-Identifier: MIT
 *
 * mcp/mcp.h: the verb `tidings mcp`.
 */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include "command/cli.h"

extern const struct cli_verb verb_mcp;

#endif
