/* SPDX-License-Identifier: MIT
 *
 * mcp/server.h: `tidings mcp` without a command, as a server: turns a line of the host into the
 * answering line, or into an action whose outcome becomes that line. It speaks both eras of the
 * protocol: 2024-11-05 to 2025-11-25, with `initialize`, and 2026-07-28, where no request depends
 * on another. Pure; it keeps no state.
 */
#ifndef MCP_SERVER_H
#define MCP_SERVER_H

#include <jansson.h>
#include <stdbool.h>

#include "common/buffer.h"

enum mcp_tool {
  MCP_TOOL_NEWS,
  MCP_TOOL_RUN,
  MCP_TOOL_WATCH,
  MCP_TOOL_REMIND,
  MCP_TOOL_SEND,
  MCP_TOOL_REPLY
};

/* A call of a tool with valid arguments. */
struct mcp_action {
  enum mcp_tool tool;
  json_t *arguments; /* an object; NULL: there is no action */
  char *id;          /* JSON text, as the host wrote it */
  char *session;     /* the session that the host names with the call; "": none */
  bool modern;       /* the era of 2026-07-28 */
};

/* If the line can be answered at once, appends the answer and its line break to `out`, and sets
 * ret_action->arguments to NULL. Returns whether the answer says that there are no tools (`tools`
 * is false). */
bool mcp_server_line(struct tidings_span line, bool tools, struct buffer *out,
                     struct mcp_action *ret_action);

/* Appends the result of an action. `text` NULL: without a block. */
void mcp_server_answer(const struct mcp_action *action, const char *text, bool failed,
                       struct buffer *out);

/* Answers a line that was longer than the server reads. */
void mcp_server_refuse_long(struct buffer *out);

const char *mcp_server_tool_name(enum mcp_tool tool);

void mcp_action_finish(struct mcp_action *action);

#endif
