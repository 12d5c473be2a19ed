/* SPDX-License-Identifier: MIT
 *
 * mcp/act.h: executes the tools of the server. Each tool does the work of a verb, so it runs this
 * program.
 */
#ifndef MCP_ACT_H
#define MCP_ACT_H

#include <sys/types.h>

#include "command/cli.h"
#include "mcp/news.h"
#include "mcp/server.h"

enum { MCP_MOST_WATCHERS = 16 };

struct mcp_acting {
  const struct cli *cli;
  struct mcp_news *news;
  pid_t watchers[MCP_MOST_WATCHERS];
  size_t watcher_count;
};

/* Executes a tool; the tool `news` only if nothing was pending. *ret_text (free it) is for the
 * model; NULL: out of memory. Returns whether the tool has failed. */
bool mcp_act(struct mcp_acting *acting, const struct mcp_action *action, char **ret_text);

/* Ends the watchers. */
void mcp_act_end(struct mcp_acting *acting);

/* Runs a verb of this program that ends when its parent does. */
extern const struct cli_verb verb_mcp_child;

#endif
