/* SPDX-License-Identifier: MIT
 *
 * mcp/session.h: the sessions of the store that belong to the agent's process.
 */
#ifndef MCP_SESSION_H
#define MCP_SESSION_H

#include "command/kit.h"

/* As whose host the store is open. */
struct mcp_owner {
  struct hostkit *kit;
  uint32_t pid;      /* the agent's process */
  const char *agent; /* its program's name */
};

/* Do the agent's own hooks, or its module, deliver to that session? */
bool mcp_session_is_hooked(struct hostkit *kit, const char *session);
/* The session of that process to which they deliver. Free it; NULL: there is none. */
char *mcp_session_find_hooked(const struct mcp_owner *owner);

/* Becomes the host of that session, and collects what waits for the folder. Errors: OWNED: it has
 * another one; those of events. */
int32_t mcp_session_attach(const struct mcp_owner *owner, const char *session, const char *folder);
/* The same of a session of the agent in that folder: of two agents of one kind in one folder each
 * has its own. Free *ret_name. */
int32_t mcp_session_attach_to_folder(const struct mcp_owner *owner, const char *folder,
                                     char **ret_name);

/* The address of the session that has written last, as its notification's data say. Free it; NULL:
 * none has. */
char *mcp_session_last_sender(struct hostkit *kit, const char *session);

#endif
