/* SPDX-License-Identifier: MIT
 *
 * mcp/agent.h: finds the agent that has started this MCP server, by the environment and the parent
 * processes.
 */
#ifndef MCP_AGENT_H
#define MCP_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the agent's process, and the name of its program in `name`; 0: not found. */
uint32_t mcp_agent_find(char *name, size_t size);

/* Returns the session that the agent has named in the environment; NULL: none. */
const char *mcp_agent_session(void);

/* Returns the session's name for the `n`th agent (from 1) of that program in a folder. If the agent
 * is started again it gets the same name, so nothing that waits there is lost. Free it; NULL: out
 * of memory. */
char *mcp_agent_session_name(const char *agent, const char *folder, unsigned n);

/* Does the agent show the content of an error to its model as JSON text? */
bool mcp_agent_shows_errors_raw(void);

/* Has the process ended, or is it about to? Its pipes close before it has ended. */
bool mcp_agent_is_ending(uint32_t pid);

#endif
