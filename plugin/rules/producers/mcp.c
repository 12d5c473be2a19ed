/* SPDX-License-Identifier: MIT
 *
 * rules/producers/mcp.c: servers that the assistant's tools come from. The first connection is no
 * news.
 */
#include "rules/producers/internal.h"

void produce_mcp_state(const struct report *report, struct produced *produced,
                       struct buffer *words) {
  static const struct {
    const char *name, *words;
    uint8_t level;
  } news[] = {
      [MCP_DISCONNECTED] = {"disconnected", "has disconnected.", TIDINGS_LEVEL_ERROR},
      [MCP_UNRESPONSIVE] = {"unresponsive", "is not responding.", TIDINGS_LEVEL_WARNING},
      [MCP_RECONNECTED] = {"reconnected", "has reconnected.", TIDINGS_LEVEL_INFO},
  };
  const char *name = news[report->state].name;
  if (!name) return;
  set_kind(&produced->note, "mcp", name, news[report->state].level);
  buffer_text(words, "MCP server `");
  buffer_span(words, report->server);
  buffer_format(words, "` %s", news[report->state].words);
}
