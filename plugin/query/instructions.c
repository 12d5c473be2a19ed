/* SPDX-License-Identifier: MIT
 *
 * query/instructions.c: the query `instructions`: the paragraph about notifications for the system
 * prompt.
 */
#include "query/answer.h"
#include "render/render.h"

static void write_tools(struct json_writer *writer, const struct settings *settings) {
  json_open(writer, "tools", '[');
  if (settings->format == FORMAT_SYNTHETIC_CALL) {
    json_open(writer, NULL, '{');
    json_put_text(writer, "name", NOTIFICATION_TOOL);
    json_put_text(writer, "description", NOTIFICATION_TOOL_TEXT);
    json_put_raw(writer, "parameters", span_text("{\"type\":\"object\",\"properties\":{}}"));
    json_close(writer, '}');
  }
  json_close(writer, ']');
}

int query_instructions(struct question *question, struct tidings_error *error) {
  const struct op *op = &question->op;
  struct nonce nonce = configuration_nonce(op->configuration, op->name);
  const struct render_input input = {.format = op->settings->format,
                                     .nonce = span_of(nonce.text, nonce.len),
                                     .subagents = question->request->subagents,
                                     .peers = op->settings->says_peers};
  struct buffer text = BUFFER_EMPTY;
  (void)error;
  render_instructions(&input, &text);
  json_put_string(&question->writer, "text", buffer_view(&text));
  json_put_string(&question->writer, "nonce", input.nonce);
  write_tools(&question->writer, op->settings);
  if (text.failed) question->writer.out->failed = true;
  buffer_free(&text);
  return 0;
}
