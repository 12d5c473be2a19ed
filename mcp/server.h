/* SPDX-License-Identifier: MIT
 *
 * mcp/server.h: the server that `tidings mcp` is without a command: a line of the host to the line
 * that answers it, or to an action, whose outcome becomes that line. Both eras of the protocol:
 * 2024-11-05 to 2025-11-25 with `initialize`, and 2026-07-28, where each request stands for itself.
 * Pure; it keeps no state.
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

/* A call of a tool whose arguments are as its schema says. */
struct mcp_action {
  enum mcp_tool tool;
  json_t *arguments; /* an object; NULL: there is nothing to do */
  char *id;          /* JSON text, as the host wrote it */
  char *session;     /* that the host names with the call; "": none */
  bool modern;       /* the era of 2026-07-28 */
};

/* Appends the answer to `out`, with its line break, if the line has one at once. Then
 * ret_action->arguments is NULL. */
void mcp_server_line(struct tidings_span line, struct buffer *out, struct mcp_action *ret_action);

/* Appends the result of an action. `text` NULL: without a block. */
void mcp_server_answer(const struct mcp_action *action, const char *text, bool failed,
                       struct buffer *out);

/* The line was longer than the server reads. */
void mcp_server_refuse_long(struct buffer *out);

const char *mcp_server_tool_name(enum mcp_tool tool);

void mcp_action_finish(struct mcp_action *action);

#endif
