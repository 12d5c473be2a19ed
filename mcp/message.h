/* SPDX-License-Identifier: MIT
 *
 * mcp/message.h: one line of the Model Context Protocol, read without changing a byte of it.
 * Reading finds the members that the wrapper needs, and the byte at which a block can be put into a
 * tool's result. Pure.
 */
#ifndef MCP_MESSAGE_H
#define MCP_MESSAGE_H

#include <stdbool.h>

#include "common/arena.h"
#include "common/buffer.h"
#include "common/json.h"

enum mcp_kind { MCP_OTHER, MCP_REQUEST, MCP_NOTIFICATION, MCP_RESULT };

/* The id that a request's sender has given it. */
struct mcp_id {
  bool is_text;             /* "1" is not 1 */
  struct tidings_span text; /* decoded text, or a number as it was written; its pointer is NULL if
                               there is no id */
};

/* The texts are in the arena; those that the message lacks are empty. */
struct mcp_message {
  enum mcp_kind kind;
  struct mcp_id id;
  struct tidings_span method;
  struct mcp_id cancelled;     /* the request that notifications/cancelled names */
  struct tidings_span tool;    /* the tool that tools/call names */
  struct tidings_span session; /* the session that makes the call; only Codex names it */
  bool is_error;               /* the result says that it is an error */
  bool takes_block;            /* a block can be put into it, because it is a tool's finished result
                                  with content that the model reads */
  bool is_empty;               /* the content has no blocks */
  size_t insert_at;            /* the byte before which the block goes */
};

/* Errors: those of json_read_by, if the line is not one JSON value. JSON that is no message is
 * MCP_OTHER. */
int mcp_message_read(struct tidings_span line, struct arena *arena, struct mcp_message *ret_message,
                     struct tidings_error *error);

/* Appends the line to `out`, with one more block of text at the end of the result's content. `out`
 * stays failed if memory runs out. */
void mcp_message_splice(struct tidings_span line, const struct mcp_message *message,
                        struct tidings_span text, struct buffer *out);

bool mcp_id_equal(const struct mcp_id *one, const struct mcp_id *other);

#endif
