/* SPDX-License-Identifier: MIT
 *
 * mcp/writer.h: results that carry notifications are written to the host by a process of its own.
 * When the wrapper is killed, this process knows what it has written, so the wrapper's deliveries
 * end as they happened: committed if the host reads the whole result, rolled back if not. Nothing
 * else knows it: a process that is killed between a write and a note of it leaves no trace.
 */
#ifndef MCP_WRITER_H
#define MCP_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "command/cli.h"
#include "common/span.h"

struct mcp_writer {
  int channel; /* -1: there is none */
  pid_t pid;
};

/* [any thread] The process writes to this process's stdout, and opens the store, if it must, as a
 * process of `owner`. Returns 0 or an errno. */
int mcp_writer_start(const struct cli *cli, uint32_t owner, struct mcp_writer *ret_writer);

/* Has the process look after this session's deliveries. Returns 0 or an errno. */
int mcp_writer_add_session(const struct mcp_writer *writer, const char *session);

/* Returns when all bytes were written. Returns 0 or an errno: then part of them may have been
 * written, and nothing more may be. */
int mcp_writer_write(const struct mcp_writer *writer, uint64_t delivery, struct tidings_span bytes);

/* Tells the process that the delivery is settled. */
void mcp_writer_forget(const struct mcp_writer *writer, uint64_t delivery);

/* Ends the process: nothing is left to look after. */
void mcp_writer_end(struct mcp_writer *writer);
/* Leaves it to the process to settle the rest, as if this one were killed: the store was busy for
 * too long. */
void mcp_writer_leave(struct mcp_writer *writer);

/* How the call's id of each delivery begins that this process looks after. */
enum { MCP_WRITER_MARK_SIZE = 32 };
void mcp_writer_mark(pid_t pid, char mark[MCP_WRITER_MARK_SIZE]);
/* Is it the id of a call of a wrapper whose writer has ended? */
bool mcp_writer_has_ended(const char *call_id);

/* Has the other side read all that was written to this pipe or socket? */
bool mcp_writer_was_read(int fd);
/* Has the other side closed this pipe or socket? */
bool mcp_writer_is_closed(int fd);

extern const struct cli_verb verb_mcp_writer;

#endif
