/* SPDX-License-Identifier: MIT
 *
 * render/preamble.c: the sentences at a block's beginning that say what it is. They say which text
 * the block has nothing to do with: the one after it, the one above it, or the one beside it.
 */
#include <tidings/reply.h>

#include "render/formats.h"

bool render_has_preamble(uint8_t format) {
  switch (format) {
  case FORMAT_MARKDOWN:
  case FORMAT_MARKDOWN_FLAT:
  case FORMAT_SYSTEM_REMINDER:
  case FORMAT_OPENAI:
  case FORMAT_ANTHROPIC: return true;
  default: return false;
  }
}

static const char *rest_of_preamble(uint8_t format, bool append) {
  switch (format) {
  case FORMAT_SYSTEM_REMINDER:
    return ", unrelated to the text beside them.\n"
           "You can ignore irrelevant notifications — they will NOT be delivered again.\n";
  case FORMAT_OPENAI:
  case FORMAT_ANTHROPIC:
    return ", not from the user. They are\n"
           "delivered to make you aware of them. You can ignore irrelevant notifications —\n"
           "they will NOT be delivered again.\n";
  default: break;
  }
  if (append)
    return ", unrelated to the text\n"
           "above. They are delivered in this message to make you aware of them. You can\n"
           "ignore irrelevant notifications — they will NOT be delivered again.\n";
  if (format == FORMAT_MARKDOWN_FLAT)
    return ", unrelated to the response\n"
           "which follows below. They are delivered in this message to make you aware\n"
           "of them. You can ignore irrelevant notifications — they will NOT be\n"
           "delivered again.\n";
  return ", unrelated to the response which\n"
         "follows below. They are delivered in this message to make you aware of them. You\n"
         "can ignore irrelevant notifications — they will NOT be delivered again.\n";
}

void render_preamble(const struct render_input *input, struct buffer *out) {
  bool in_tag = input->format == FORMAT_SYSTEM_REMINDER;
  if (input->bare) return;
  if (!in_tag) buffer_byte(out, '\n');
  buffer_text(out, "These are automated system messages from ");
  if (in_tag && input->host_name.len) escape_xml_inline(input->host_name, out);
  else render_host_name(input, out);
  buffer_text(out, rest_of_preamble(input->format, input->place == TIDINGS_PLACE_APPEND));
}
