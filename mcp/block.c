/* SPDX-License-Identifier: MIT
 */
#include "mcp/block.h"

#include <unistd.h>

#include "common/file.h"

bool mcp_block_fits(const struct mcp_news *news, const struct mcp_message *message) {
  return message->takes_block && !(message->is_error && news->shows_errors_raw);
}

int mcp_block_write(struct mcp_news *news, struct tidings_span line,
                    const struct mcp_message *message, struct mcp_block *block) {
  struct buffer text = BUFFER_EMPTY, spliced = BUFFER_EMPTY;
  int reason = 0;
  bool begun = false;
  if (!message->is_empty) buffer_text(&text, "\n\n"); /* some hosts join blocks directly */
  buffer_text(&text, block->text);
  if (!text.failed) mcp_message_splice(line, message, buffer_view(&text), &spliced);
  if (text.failed || spliced.failed) mcp_news_give_back(news, block);
  else reason = mcp_news_write(news, block, buffer_view(&spliced), &begun);
  if (!begun) reason = file_write_all(STDOUT_FILENO, line.ptr, line.len);
  buffer_free(&text);
  buffer_free(&spliced);
  return reason;
}
