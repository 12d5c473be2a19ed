/* SPDX-License-Identifier: MIT
 *
 * compose.c: carrier + reply -> what to send. Pure: no plugin, no clock. Within each place the
 * reply's order is the reading order.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "text.h"
#include <tidings/hostkit.h>

/* In the order in which they are sent. What is inside the carrier's message stands next to the
 * carrier. */
enum section {
  SECTION_BEFORE,
  SECTION_BLOCK_BEFORE,
  SECTION_CARRIER,
  SECTION_BLOCK_AFTER,
  SECTION_AFTER,
  SECTION_PAIR,
  SECTION_COUNT,
  SECTION_PREFIX, /* these two are in the carrier's own text */
  SECTION_SUFFIX,
  SECTION_NONE,
};

/* The result and its texts are one allocation; `text` is where the next one goes. */
struct composition {
  struct hostkit_outgoing *outgoing;
  char *text;
};

/* PREPEND and APPEND of a block can only mean beside the carrier's own text, that is before and
 * after it. */
static enum section section_of(const struct tidings_part *message) {
  bool first = message->place == TIDINGS_PLACE_PREPEND || message->place == TIDINGS_PLACE_BEFORE;
  bool last = message->place == TIDINGS_PLACE_APPEND || message->place == TIDINGS_PLACE_AFTER;
  bool concatenated =
      message->place == TIDINGS_PLACE_PREPEND || message->place == TIDINGS_PLACE_APPEND;
  switch (message->voice) {
  case TIDINGS_VOICE_CARRIER:
    return !concatenated ? SECTION_NONE : first ? SECTION_PREFIX : SECTION_SUFFIX;
  case TIDINGS_VOICE_BLOCK:
    return first ? SECTION_BLOCK_BEFORE : last ? SECTION_BLOCK_AFTER : SECTION_NONE;
  case TIDINGS_VOICE_DEVELOPER:
  case TIDINGS_VOICE_USER:
    return concatenated ? SECTION_NONE
           : first      ? SECTION_BEFORE
           : last       ? SECTION_AFTER
                        : SECTION_NONE;
  case TIDINGS_VOICE_TOOL:
    return message->place == TIDINGS_PLACE_PAIR ? SECTION_PAIR : SECTION_NONE;
  default: return SECTION_NONE;
  }
}

static int32_t check(const struct tidings_span *content, const struct tidings_reply *reply,
                     struct tidings_error *error) {
  if (!hk_span_is_sound(content))
    return hk_error(error, TIDINGS_E_INVAL, "content is a null pointer");
  for (size_t i = 0; reply && i < reply->part_count; i++) {
    const struct tidings_part *message = reply->parts[i];
    if (!message || !hk_span_is_sound(&message->text) || !hk_span_is_sound(&message->call_id) ||
        !hk_span_is_sound(&message->tool))
      return hk_error(error, TIDINGS_E_INVAL, "reply.messages[%zu] has a null pointer", i);
    if (section_of(message) == SECTION_NONE)
      return hk_error(error, TIDINGS_E_INVAL,
                      "reply.messages[%zu] has role %u and place %u, a combination that this host "
                      "does not know: send the carrier "
                      "unchanged and roll the delivery back",
                      i, (unsigned)message->voice, (unsigned)message->place);
  }
  return TIDINGS_OK;
}

/* The whole size of the result, and the number of messages in it. */
static size_t measure(const struct tidings_span *content, const struct tidings_reply *reply,
                      size_t *ret_count) {
  size_t count = 1;
  size_t texts = content->len + 1;
  for (size_t i = 0; reply && i < reply->part_count; i++) {
    const struct tidings_part *message = reply->parts[i];
    texts += message->text.len + 1;
    if (message->voice == TIDINGS_VOICE_TOOL)
      texts += message->call_id.len + 1 + message->tool.len + 1;
    if (message->voice != TIDINGS_VOICE_CARRIER) count++;
  }
  *ret_count = count;
  return sizeof(struct hostkit_outgoing) + count * sizeof(struct hostkit_part) + texts;
}

static void add_text(struct composition *composition, const struct tidings_span *text) {
  if (text->len) memcpy(composition->text, text->ptr, text->len);
  composition->text += text->len;
}

static char *put_text(struct composition *composition, const struct tidings_span *text) {
  char *start = composition->text;
  add_text(composition, text);
  *composition->text++ = '\0';
  return start;
}

static void put_carrier(struct composition *composition, const struct tidings_span *content,
                        const struct tidings_reply *reply) {
  struct hostkit_outgoing *outgoing = composition->outgoing;
  struct hostkit_part *carrier = &outgoing->parts[outgoing->part_count];
  *carrier = (struct hostkit_part){
      .voice = TIDINGS_VOICE_CARRIER, .is_carrier = 1, .text = composition->text};
  for (size_t i = 0; reply && i < reply->part_count; i++) {
    if (section_of(reply->parts[i]) == SECTION_PREFIX)
      add_text(composition, &reply->parts[i]->text);
  }
  add_text(composition, content);
  for (size_t i = 0; reply && i < reply->part_count; i++) {
    if (section_of(reply->parts[i]) == SECTION_SUFFIX)
      add_text(composition, &reply->parts[i]->text);
  }
  carrier->text_len = (size_t)(composition->text - carrier->text);
  *composition->text++ = '\0';
  outgoing->carrier = (uint32_t)outgoing->part_count++;
}

static void put_section(struct composition *composition, enum section section,
                        const struct tidings_reply *reply) {
  struct hostkit_outgoing *outgoing = composition->outgoing;
  for (size_t i = 0; reply && i < reply->part_count; i++) {
    const struct tidings_part *message = reply->parts[i];
    if (section_of(message) != section) continue;
    bool is_tool = message->voice == TIDINGS_VOICE_TOOL;
    outgoing->parts[outgoing->part_count++] = (struct hostkit_part){
        .voice = message->voice,
        .text = put_text(composition, &message->text),
        .text_len = message->text.len,
        .call_id = is_tool ? put_text(composition, &message->call_id) : NULL,
        .tool = is_tool ? put_text(composition, &message->tool) : NULL,
    };
  }
}

int32_t hostkit_compose(const struct tidings_span *content, const struct tidings_reply *reply,
                        struct hostkit_outgoing **ret_outgoing, struct tidings_error *error) {
  if (!ret_outgoing) return hk_error(error, TIDINGS_E_INVAL, "ret_outgoing is a null pointer");
  int32_t code = check(content, reply, error);
  if (code) return code;
  size_t count = 0;
  struct hostkit_outgoing *outgoing = malloc(measure(content, reply, &count));
  if (!outgoing) return hk_error(error, TIDINGS_E_NOMEM, "out of memory while composing a message");
  *outgoing = (struct hostkit_outgoing){.size = sizeof *outgoing,
                                        .parts = (struct hostkit_part *)(outgoing + 1)};
  struct composition composition = {.outgoing = outgoing,
                                    .text = (char *)(outgoing->parts + count)};
  for (enum section section = SECTION_BEFORE; section < SECTION_COUNT; section++) {
    if (section == SECTION_CARRIER) put_carrier(&composition, content, reply);
    else put_section(&composition, section, reply);
  }
  *ret_outgoing = outgoing;
  return TIDINGS_OK;
}

void hostkit_outgoing_free(struct hostkit_outgoing *outgoing) { free(outgoing); }
