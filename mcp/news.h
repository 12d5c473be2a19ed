/* SPDX-License-Identifier: MIT
 *
 * mcp/news.h: the sessions that one process of `tidings mcp` serves, their pending notifications,
 * and the leases of blocks that were added to results. Any thread may call these.
 *
 * mcp_news_open and mcp_news_settle wait while the store is busy, for seconds at most; the
 * functions for requests and results do not wait for them.
 */
#ifndef MCP_NEWS_H
#define MCP_NEWS_H

#include <limits.h>
#include <pthread.h>

#include "command/kit.h"
#include "mcp/writer.h"

enum { MCP_MOST_SESSIONS = 16, MCP_MOST_LEASES = 64 };

struct mcp_session {
  char *name;
  bool off; /* hooks deliver there, or it has another owner: nothing is added */
};

struct mcp_lease {
  uint64_t delivery; /* the unsettled delivery; 0: the place is free */
  bool is_written;   /* all bytes are written */
  bool went_on;      /* the host sent something before the writer reported the block as written */
  bool was_read;     /* the host sent something after that, so the lease is to be committed */
  bool is_back;      /* the lease is to be rolled back */
};

struct mcp_news {
  const struct cli *cli;
  uint32_t owner;        /* the agent's process */
  char agent[256];       /* its program's name */
  bool shows_errors_raw; /* an error's content is shown to its model as JSON */
  /* `store_lock` is held during calls of the store. To change a member below, a thread holds both
   * locks; for the leases, `lock` alone. `lock` is taken last and never held while the thread
   * waits.
   */
  pthread_mutex_t store_lock, lock;
  struct hostkit *kit; /* NULL: not needed yet, or it cannot be opened */
  struct mcp_writer writer;
  char mark[MCP_WRITER_MARK_SIZE];
  bool failed, ends; /* failed: the store cannot be opened at all */
  bool warned;       /* a warning about that, or about an unreachable database, was printed */
  struct mcp_session sessions[MCP_MOST_SESSIONS];
  size_t session_count;
  struct mcp_lease leases[MCP_MOST_LEASES];
};

/* The text that is added to one result. */
struct mcp_block {
  char *text; /* NULL: nothing */
  uint64_t delivery;
};

/* Finds the agent above this process. It does not open the store. */
void mcp_news_begin(const struct cli *cli, struct mcp_news *ret_news);

/* Opens the store and the session, so that the first result need not wait for that. `named`: the
 * session that the host names with a call; "": this process's own. */
void mcp_news_open(struct mcp_news *news, const char *named);
/* Must the session still be opened? False: it is open, or cannot be opened at all. */
bool mcp_news_is_to_open(struct mcp_news *news, const char *named);

/* May a result get a block? Does not wait: while another thread uses the store, it returns true. */
bool mcp_news_are_pending(struct mcp_news *news);

/* Leases what is pending for the result of the call. If the store is busy, the block is empty. */
void mcp_news_lease(struct mcp_news *news, const char *named, const char *call, const char *tool,
                    struct mcp_block *ret_block);

/* Writes the result that has the block, frees its text, and keeps the lease until the host goes on.
 * Returns 0 or an errno: nothing more can be written. *ret_begun false: nothing was written, so the
 * result can still be written without the block, which is pending again. */
int mcp_news_write(struct mcp_news *news, struct mcp_block *block, struct tidings_span line,
                   bool *ret_begun);

/* Gives back an unused block. */
void mcp_news_give_back(struct mcp_news *news, struct mcp_block *block);

/* Call the first when the host has sent something: then all results that it had read before are
 * delivered. Call mcp_news_settle, which commits them in the store, after the server has received
 * the message, and again if the store stays busy. */
void mcp_news_host_goes_on(struct mcp_news *news);
void mcp_news_settle(struct mcp_news *news);
bool mcp_news_is_to_settle(struct mcp_news *news);
/* Call it when the host has closed stdin. No result gets a block any more. */
void mcp_news_host_ends(struct mcp_news *news);

/* Pushes a notification that the server has ended, only once. */
void mcp_news_server_ended(struct mcp_news *news, const char *server);

/* Opens the session of a call and writes its name, which has at most 256 bytes. False: there is
 * none. */
bool mcp_news_session(struct mcp_news *news, const char *named, char *name, size_t size);

/* Returns the address of the session that was the last to write to this one. Free it; NULL: none
 * has. */
char *mcp_news_last_sender(struct mcp_news *news, const char *session);

void mcp_news_end(struct mcp_news *news);

#endif
