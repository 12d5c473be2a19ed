/* SPDX-License-Identifier: MIT
 *
 * mcp/session.h: the sessions of the store that belong to the agent's process.
 */
#ifndef MCP_SESSION_H
#define MCP_SESSION_H

#include "command/kit.h"

/* The process that hosts the sessions. */
struct mcp_owner {
  struct hostkit *kit;
  uint32_t pid;      /* the agent's process */
  const char *agent; /* its program's name */
};

/* Do the agent's own hooks, or its module, deliver to that session? */
bool mcp_session_is_hooked(struct hostkit *kit, const char *session);
/* Returns the session of the owner's process to which its hooks deliver. Free it; NULL: there is
 * none. */
char *mcp_session_find_hooked(const struct mcp_owner *owner);

/* Makes the owner the session's host, and collects the folder's mailboxes. Errors: OWNED (the
 * session has another host), and those of events. */
int32_t mcp_session_attach(const struct mcp_owner *owner, const char *session, const char *folder);
/* Does the same with a session of the agent in this folder. Two agents of one kind in one folder
 * get different sessions. Free *ret_name. */
int32_t mcp_session_attach_to_folder(const struct mcp_owner *owner, const char *folder,
                                     char **ret_name);

/* Call it before each result of a tool. Declines an offered turn: the result would count as the
 * turn's start, and the turn's message would be lost, because MCP cannot start a turn. False: a
 * turn may still be offered, or hooks deliver, so nothing may be added to the result. */
bool mcp_session_withdraw(struct hostkit *kit, const char *session);

/* Returns the address of the session that last wrote to this one, from that notification's data.
 * Free it; NULL: none has written. */
char *mcp_session_last_sender(struct hostkit *kit, const char *session);

#endif
