/* SPDX-License-Identifier: MIT
 *
 * render/markdown.c: the format `markdown`, and `openai` and `anthropic`, which only stand
 * elsewhere: a list for each level, the most important first, empty ones left out. Inside a level
 * the plan's order stands.
 */
#include "render/escape.h"
#include "render/formats.h"

static const char *const titles[LEVEL_COUNT] = {"Info:", "Warning:", "Error:", "Critical:"};

static void render_level_title(const struct render_input *input, const char *title,
                               struct buffer *out) {
  if (!input->bare) buffer_text(out, "\n**");
  buffer_text(out, title);
  buffer_text(out, input->bare ? "\n" : "**\n");
}

static void render_level(const struct render_input *input, unsigned level, struct buffer *out) {
  bool titled = false;
  for (size_t i = 0; i < input->line_count; i++) {
    const struct line *line = &input->lines[i];
    if (line->level != level) continue;
    if (!titled) {
      render_level_title(input, titles[level], out);
      titled = true;
    }
    buffer_text(out, "- ");
    render_line_text(input, ESCAPE_MARKDOWN, line, out);
    buffer_byte(out, '\n');
  }
}

static void render_all_levels(const struct render_input *input, struct buffer *out) {
  for (unsigned level = LEVEL_COUNT; level-- > 0;) render_level(input, level, out);
}

static void render_title(const struct render_input *input, struct buffer *out) {
  buffer_text(out, "**");
  if (input->host_name.len && !input->bare) {
    escape_markdown_inline(input->host_name, out);
    buffer_byte(out, ' ');
  }
  buffer_text(out, "System Notifications**");
}

void render_markdown(const struct render_input *input, struct buffer *out) {
  render_markdown_fence(input, out);
  buffer_byte(out, '\n');
  render_title(input, out);
  buffer_byte(out, '\n');
  render_preamble(input, out);
  render_all_levels(input, out);
  render_pending_line(input->deferred, out);
  render_markdown_fence(input, out);
}
