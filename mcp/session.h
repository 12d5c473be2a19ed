/* SPDX-License-Identifier: MIT
 *
 * mcp/session.h: the sessions of the store that belong to the agent's process.
 */
#ifndef MCP_SESSION_H
#define MCP_SESSION_H

#include "command/kit.h"

/* The process that is the host of the sessions. */
struct mcp_owner {
  struct hostkit *kit;
  uint32_t pid;      /* the agent's process */
  const char *agent; /* its program's name */
};

/* Do the agent's own hooks, or its module, deliver to that session? */
bool mcp_session_is_hooked(struct hostkit *kit, const char *session);
/* The session of the owner's process to which its hooks deliver. Free it; NULL: there is none. */
char *mcp_session_find_hooked(const struct mcp_owner *owner);

/* Makes the owner the host of the session, and collects what waits for the folder. Errors: OWNED:
 * the session has another host; those of events. */
int32_t mcp_session_attach(const struct mcp_owner *owner, const char *session, const char *folder);
/* The same with a session made for the agent in the folder. Two agents of one kind in one folder
 * have a session each. Free *ret_name. */
int32_t mcp_session_attach_to_folder(const struct mcp_owner *owner, const char *folder,
                                     char **ret_name);

/* Call it before each result of a tool. Declines a turn that is offered: otherwise the result would
 * count as its start, and its message would be lost, because MCP cannot start a turn. False: one
 * may still be offered, or hooks deliver, so the result is not to be a carrier. */
bool mcp_session_withdraw(struct hostkit *kit, const char *session);

/* The address of the session that last wrote to this one, from its notification's data. Free it;
 * NULL: none has written. */
char *mcp_session_last_sender(struct hostkit *kit, const char *session);

#endif
