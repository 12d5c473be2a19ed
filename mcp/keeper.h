/* SPDX-License-Identifier: MIT
 *
 * mcp/keeper.h: a thread of the wrapper for work that may wait for the store: it opens sessions and
 * settles deliveries, while requests and results pass.
 */
#ifndef MCP_KEEPER_H
#define MCP_KEEPER_H

#include "mcp/news.h"

struct mcp_keeper {
  struct mcp_news *news;
  pthread_t thread;
  pthread_mutex_t lock; /* guards all members below */
  pthread_cond_t has_work;
  char *sessions[MCP_MOST_SESSIONS]; /* sessions to open, in this order */
  size_t session_count;
  bool settles, ends;
};

/* Returns 0 or an errno. `keeper` must not be moved. */
int mcp_keeper_begin(struct mcp_news *news, struct mcp_keeper *keeper);

/* Make the thread call mcp_news_open or mcp_news_settle soon. If memory or the room for requests
 * runs out, the next call asks again. */
void mcp_keeper_open(struct mcp_keeper *keeper, const char *named);
void mcp_keeper_settle(struct mcp_keeper *keeper);

/* Returns when everything requested is done. */
void mcp_keeper_end(struct mcp_keeper *keeper);

#endif
