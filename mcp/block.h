/* SPDX-License-Identifier: MIT
 *
 * mcp/block.h: puts pending notifications into the result of a tool call.
 */
#ifndef MCP_BLOCK_H
#define MCP_BLOCK_H

#include "mcp/message.h"
#include "mcp/news.h"

/* Can a block be put into the message for this agent? */
bool mcp_block_fits(const struct mcp_news *news, const struct mcp_message *message);

/* Writes the line, with its line break, to stdout with the block in it. Frees the block's text.
 * Returns 0 or an errno: nothing more can be written. */
int mcp_block_write(struct mcp_news *news, struct tidings_span line,
                    const struct mcp_message *message, struct mcp_block *block);

#endif
