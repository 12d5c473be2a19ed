/* SPDX-License-Identifier: MIT
 *
 * render/steered.c: writes what the user says during a turn, to go with a tool's result. A separate
 * message with the role user needs no words around it; everywhere else a reader must see who
 * speaks.
 */
#include "render/formats.h"
#include "render/neutralize.h"

void render_steered(const struct render_input *input, struct tidings_span message,
                    struct buffer *out) {
  if (input->format == FORMAT_OPENAI) {
    neutralize_message(message, out);
    return;
  }
  buffer_text(out, "<system-reminder");
  render_nonce_attribute(input, out);
  buffer_text(out, ">\nThe user sent the following message:\n");
  neutralize_message(message, out);
  buffer_text(out,
              "\n\nPlease address this message and continue with your tasks.\n</system-reminder>");
}
