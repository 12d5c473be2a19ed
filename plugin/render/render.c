/* SPDX-License-Identifier: MIT
 *
 * render/render.c: chooses the format, the voice and the place, and writes the separators between
 * the block and the carrier's own text.
 */
#include "render/render.h"

#include <tidings/reply.h>

#include "render/age.h"
#include "render/escape.h"
#include "render/formats.h"

static void (*const formats[FORMAT_COUNT])(const struct render_input *, struct buffer *) = {
    [FORMAT_MARKDOWN] = render_markdown, [FORMAT_MARKDOWN_FLAT] = render_markdown_flat,
    [FORMAT_XML] = render_xml,           [FORMAT_XML_BATCH] = render_xml_batch,
    [FORMAT_JSON] = render_json,         [FORMAT_SYSTEM_REMINDER] = render_system_reminder,
    [FORMAT_OPENAI] = render_markdown,   [FORMAT_ANTHROPIC] = render_markdown,
    [FORMAT_SYNTHETIC_CALL] = NULL, /* a message for each line */
    [FORMAT_PLAIN] = render_plain,
};

void render_line_text(const struct render_input *input, enum escape where, const struct line *line,
                      struct buffer *out) {
  struct age age = render_age(input, line);
  escape_item_aged(where, line->message, span_of(age.text, age.len), out);
}

void render_pending_line(size_t deferred, struct buffer *out) {
  if (deferred)
    buffer_format(out, "(%zu more notification%s pending)\n", deferred, deferred == 1 ? "" : "s");
}

void render_host_name(const struct render_input *input, struct buffer *out) {
  if (input->host_name.len) escape_markdown_inline(input->host_name, out);
  else buffer_text(out, "the agent host");
}

void render_markdown_fence(const struct render_input *input, struct buffer *out) {
  buffer_text(out, "---");
  if (!input->nonce.len) return;
  buffer_byte(out, ' ');
  buffer_span(out, input->nonce);
}

void render_item_text(uint8_t format, struct tidings_span message, struct buffer *out) {
  switch (format) {
  case FORMAT_XML:
  case FORMAT_XML_BATCH:
  case FORMAT_SYSTEM_REMINDER: escape_item(ESCAPE_XML, message, out); break;
  case FORMAT_JSON: escape_json_string(message, out); break;
  case FORMAT_SYNTHETIC_CALL:
  case FORMAT_PLAIN: escape_item(ESCAPE_CALL, message, out); break;
  default: escape_markdown_item(message, out); break;
  }
}

bool render_shows_source(uint8_t format, const struct notification *note) {
  if (format == FORMAT_PLAIN) return render_plain_shows_source(note);
  return format == FORMAT_XML || format == FORMAT_XML_BATCH || format == FORMAT_JSON;
}

bool render_shows_name(uint8_t format) { return format == FORMAT_XML || format == FORMAT_JSON; }

static struct tidings_span trim_name(struct tidings_span name) {
  while (name.len && name.ptr[0] == ' ') name = span_of(name.ptr + 1, name.len - 1);
  while (name.len && name.ptr[name.len - 1] == ' ') name.len--;
  return name;
}

static struct render_input trimmed(const struct render_input *input) {
  struct render_input result = *input;
  result.host_name = trim_name(input->host_name);
  return result;
}

void render_carrier_text(const struct render_input *input, struct buffer *out) {
  bool append = input->place == TIDINGS_PLACE_APPEND;
  struct render_input clean = trimmed(input);
  if (!input->line_count) return;
  if (append) buffer_text(out, "\n\n");
  formats[input->format](&clean, out);
  if (!append) buffer_text(out, "\n\n");
}

/* A text of its own needs no separators. */
static void render_alone(const struct render_input *input, struct buffer *out) {
  struct render_input clean = trimmed(input);
  if (input->line_count) formats[input->format](&clean, out);
}

/* The one text that all lines are in. */
static void render_block_text(const struct render_input *input, struct buffer *out) {
  bool alone = input->format == FORMAT_OPENAI || input->format == FORMAT_ANTHROPIC;
  if (alone) render_alone(input, out);
  else render_carrier_text(input, out);
}

static int keep(struct buffer *text, struct arena *arena, struct tidings_span *ret) {
  int code = text->failed || arena_copy(arena, buffer_view(text), ret) ? -1 : 0;
  buffer_free(text);
  return code;
}

static int render_calls(const struct render_input *input, struct arena *arena,
                        struct rendered *messages) {
  for (size_t i = 0; i < input->line_count; i++) {
    struct buffer text = BUFFER_EMPTY;
    messages[i] = (struct rendered){
        .role = TIDINGS_VOICE_TOOL, .place = TIDINGS_PLACE_PAIR, .call_id = input->call_ids[i]};
    render_call(input, &input->lines[i], i + 1 == input->line_count, &text);
    if (keep(&text, arena, &messages[i].text)) return -1;
  }
  return 0;
}

static int render_one(const struct render_input *input, struct arena *arena,
                      struct rendered *message) {
  struct buffer text = BUFFER_EMPTY;
  switch (input->format) {
  case FORMAT_OPENAI:
    message->role = TIDINGS_VOICE_DEVELOPER;
    message->place = input->chat_request ? TIDINGS_PLACE_BEFORE : TIDINGS_PLACE_AFTER;
    break;
  case FORMAT_ANTHROPIC:
    message->role = TIDINGS_VOICE_BLOCK;
    message->place = input->place;
    break;
  default:
    message->role = TIDINGS_VOICE_CARRIER;
    message->place = input->place;
    break;
  }
  render_block_text(input, &text);
  return keep(&text, arena, &message->text);
}

static void render_user_text(const struct render_input *input, struct tidings_span text,
                             struct buffer *out) {
  bool alone = input->format == FORMAT_OPENAI || input->format == FORMAT_ANTHROPIC;
  if (!alone) buffer_text(out, "\n\n");
  render_steered(input, text, out);
}

/* Steered messages have the user's own voice if the carrier can have one beside it. They always
 * come after the block. */
static int render_user(const struct render_input *input, struct tidings_span text,
                       struct arena *arena, struct rendered *message) {
  struct buffer out = BUFFER_EMPTY;
  message->role = TIDINGS_VOICE_CARRIER;
  message->place = TIDINGS_PLACE_APPEND;
  if (input->format == FORMAT_OPENAI) {
    message->role = TIDINGS_VOICE_USER;
    message->place = input->chat_request ? TIDINGS_PLACE_BEFORE : TIDINGS_PLACE_AFTER;
  } else if (input->format == FORMAT_ANTHROPIC) {
    message->role = TIDINGS_VOICE_BLOCK;
  }
  render_user_text(input, text, &out);
  return keep(&out, arena, &message->text);
}

int render_messages(const struct render_input *input, struct arena *arena,
                    const struct rendered **ret_messages, size_t *ret_count) {
  bool calls = input->format == FORMAT_SYNTHETIC_CALL;
  size_t count = calls ? input->line_count : input->line_count > 0;
  struct rendered *messages = arena_zalloc(arena, count + input->steered_count, sizeof *messages);
  if (!messages) return -1;
  if (calls ? render_calls(input, arena, messages) : count && render_one(input, arena, messages))
    return -1;
  for (size_t i = 0; i < input->steered_count; i++) {
    if (render_user(input, input->steered[i], arena, &messages[count++])) return -1;
  }
  *ret_messages = messages;
  *ret_count = count;
  return 0;
}

/* Adds the bytes of the text in `scratch`, which is empty afterwards. */
static void count_text(struct buffer *scratch, uint64_t *bytes) {
  *bytes += scratch->len;
  scratch->len = 0;
}

int render_bytes(const struct render_input *input, struct buffer *scratch, uint64_t *ret_bytes) {
  bool calls = input->format == FORMAT_SYNTHETIC_CALL;
  uint64_t bytes = 0;
  scratch->len = 0;
  for (size_t i = 0; calls && i < input->line_count; i++) {
    render_call(input, &input->lines[i], i + 1 == input->line_count, scratch);
    count_text(scratch, &bytes);
  }
  if (!calls) render_block_text(input, scratch);
  count_text(scratch, &bytes);
  for (size_t i = 0; i < input->steered_count; i++) {
    render_user_text(input, input->steered[i], scratch);
    count_text(scratch, &bytes);
  }
  if (scratch->failed) return -1;
  *ret_bytes = bytes;
  return 0;
}
