/* SPDX-License-Identifier: MIT
 *
 * render/render.h: renders a plan's lines for the model, one file per format. Pure. All text in a
 * line is hostile until escape.c has processed it: it can never end a block, start another or forge
 * a header.
 */
#ifndef RENDER_RENDER_H
#define RENDER_RENDER_H

#include "common/arena.h"
#include "common/buffer.h"
#include "values/line.h"
#include "values/settings.h"

/* The tool that a synthetic call calls, and its description for the model. */
#define NOTIFICATION_TOOL "_system_notification"
#define NOTIFICATION_TOOL_TEXT                                                                     \
  "System-generated notifications. You do not call this tool; the system uses it "                 \
  "to inform you of external events."

struct render_input {
  const struct line *lines;
  size_t line_count;
  size_t deferred;               /* how many lines wait; if any, the last line says so */
  struct tidings_span host_name; /* empty: "the agent host" */
  struct tidings_span nonce;     /* the nonce in the fence; empty: none */
  uint8_t format, order, place;  /* enum format, enum order, TIDINGS_PLACE_PREPEND or _APPEND */
  bool chat_request;             /* what carries it; else a tool result */
  bool bare;             /* without the sentences at its beginning: the model has them already */
  int64_t now_ms;        /* what happened longer ago than age_after_ms says so */
  uint32_t age_after_ms; /* 0: nothing does */
  const struct tidings_span *call_ids; /* FORMAT_SYNTHETIC_CALL: one for each line */
  const struct tidings_span *steered;  /* what the user says during the turn, in order */
  size_t steered_count;
  bool subagents; /* instructions: the host has some that work in the background */
  bool peers;     /* instructions: the model may write to other sessions */
};

/* As in struct tidings_part. */
struct rendered {
  uint32_t role, place;
  struct tidings_span text, call_id;
};

/* The texts to send, in order: the lines, then one text for each steered message. Text is in the
 * arena. Returns 0, or -1: no memory. */
int render_messages(const struct render_input *input, struct arena *arena,
                    const struct rendered **ret_messages, size_t *ret_count);

/* Returns the total bytes of the texts that render_messages would make. `scratch` is overwritten,
 * and keeps its memory for the next call. Returns 0, or -1: no memory. */
int render_bytes(const struct render_input *input, struct buffer *scratch, uint64_t *ret_bytes);

/* Appends the text of the block, for the formats that are part of the carrier's text
 * (TIDINGS_VOICE_CARRIER): separators included, so that the host only concatenates. Prepended: the
 * block, its closing line, an empty line. Appended: an empty line (two line feeds), then the block.
 * A buffer without memory is `failed`. */
void render_carrier_text(const struct render_input *input, struct buffer *out);

/* Appends an item's text as the format shows it, so that its cost can be measured. */
void render_item_text(uint8_t format, struct tidings_span message, struct buffer *out);

/* Does the format show the source of this notification, or names, beside the text? */
bool render_shows_source(uint8_t format, const struct notification *note);
bool render_shows_name(uint8_t format);

/* Do blocks of this format begin with sentences about what they are? */
bool render_has_preamble(uint8_t format);

/* The paragraph for the system prompt that tells the model what it will see. */
void render_instructions(const struct render_input *input, struct buffer *out);

#endif
