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

/* Finds the agent's process and the name of its program. 0: it cannot be found. */
uint32_t mcp_agent_find(char *name, size_t size);

/* The session that the agent has named in the environment; NULL: none. */
const char *mcp_agent_session(void);

/* The session of the `n`th agent of that program in a folder, from 1. It stays the same when the
 * agent is started again, so that what waits there is not lost. Free it; NULL: out of memory. */
char *mcp_agent_session_name(const char *agent, const char *folder, unsigned n);

/* Does the agent show the content of an error to its model as JSON text? */
bool mcp_agent_shows_errors_raw(void);

/* Has the process ended, or is it about to? Its pipes close before it has ended. */
bool mcp_agent_is_ending(uint32_t pid);

#endif
