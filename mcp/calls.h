/* SPDX-License-Identifier: MIT
 *
 * mcp/calls.h: the host's tool calls that have no result yet, up to a limit. Pure; only one thread
 * at a time may call it.
 */
#ifndef MCP_CALLS_H
#define MCP_CALLS_H

#include "mcp/message.h"

/* If there are more, the results of the oldest get no notifications. */
enum { MCP_MOST_CALLS = 256 };

struct mcp_call {
  char *id; /* NULL: the place is free */
  bool is_text;
  char *tool, *session; /* session: "" if the call names none */
};

struct mcp_calls {
  struct mcp_call places[MCP_MOST_CALLS];
  size_t next; /* the next place to use */
  bool any;    /* a call was noted at some time */
};

/* Notes a call that the host has sent, and forgets one that it cancels. If memory runs out, a call
 * is not noted. */
void mcp_calls_note(struct mcp_calls *calls, const struct mcp_message *message);

/* Takes out the call that a result answers. False: there is none. */
bool mcp_calls_take(struct mcp_calls *calls, const struct mcp_id *id, struct mcp_call *ret_call);

void mcp_call_finish(struct mcp_call *call);
void mcp_calls_finish(struct mcp_calls *calls);

#endif
