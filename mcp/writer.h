/* SPDX-License-Identifier: MIT
 *
 * mcp/writer.h: a separate process writes results with notifications to the host. If the wrapper is
 * killed, this process knows which results were written, and settles them: it commits if the host
 * reads all of the result, and otherwise rolls back. The wrapper cannot record this itself, because
 * it may be killed between a write and the record.
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

/* Any thread may call these. Starts the process. It writes to our stdout, and opens the store, if
 * it must, with the owner `owner`. Returns 0 or an errno. */
int mcp_writer_start(const struct cli *cli, uint32_t owner, struct mcp_writer *ret_writer);

/* Makes the process settle this session's deliveries if we are killed. Returns 0 or an errno. */
int mcp_writer_add_session(const struct mcp_writer *writer, const char *session);

/* Waits until all bytes are written. Returns 0 or an errno: some bytes may have been written then,
 * and nothing more may be written; but if *ret_begun is false, the process has ended and wrote
 * nothing. */
int mcp_writer_write(const struct mcp_writer *writer, uint64_t delivery, struct tidings_span bytes,
                     bool *ret_begun);

/* Tells the process that the delivery is settled. */
void mcp_writer_forget(const struct mcp_writer *writer, uint64_t delivery);

/* Ends the process, because everything is settled. */
void mcp_writer_end(struct mcp_writer *writer);
/* Leaves the rest of the settling to the process, as if we were killed, because the store was busy
 * for too long. */
void mcp_writer_leave(struct mcp_writer *writer);

/* Writes the text with which the call ids of all deliveries begin that this process settles. */
enum { MCP_WRITER_MARK_SIZE = 32 };
void mcp_writer_mark(pid_t pid, char mark[MCP_WRITER_MARK_SIZE]);
/* Does this call id belong to a wrapper whose writer has ended? */
bool mcp_writer_has_ended(const char *call_id);

/* Has the other side read all that was written to this pipe or socket? */
bool mcp_writer_was_read(int fd);
/* Has the other side closed this pipe or socket? */
bool mcp_writer_is_closed(int fd);

extern const struct cli_verb verb_mcp_writer;

#endif
