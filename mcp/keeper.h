/* SPDX-License-Identifier: MIT
 *
 * mcp/keeper.h: a thread of the wrapper for the work that may have to wait for the store: it opens
 * sessions and settles deliveries, while requests and results pass.
 */
#ifndef MCP_KEEPER_H
#define MCP_KEEPER_H

#include "mcp/news.h"

struct mcp_keeper {
  struct mcp_news *news;
  pthread_t thread;
  pthread_mutex_t lock; /* guards all below */
  pthread_cond_t has_work;
  char *sessions[MCP_MOST_SESSIONS]; /* to be opened; the first come first */
  size_t session_count;
  bool settles, ends;
};

/* Returns 0 or an errno. `keeper` stays where it is. */
int mcp_keeper_begin(struct mcp_news *news, struct mcp_keeper *keeper);

/* Has the thread call mcp_news_open or mcp_news_settle soon. Without memory, or if too much is
 * asked for already, the next call asks again. */
void mcp_keeper_open(struct mcp_keeper *keeper, const char *named);
void mcp_keeper_settle(struct mcp_keeper *keeper);

/* Returns when all that was asked for is done. */
void mcp_keeper_end(struct mcp_keeper *keeper);

#endif
