/* SPDX-License-Identifier: MIT
 *
 * compose.c: turns a carrier and a reply into what is to be sent. Pure: it uses no plugin and no
 * clock. Within each place the reply's order is the reading order.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "sized.h"
#include "text.h"
#include <tidings/hostkit.h>

/* The sections, in the order in which they are sent. Parts inside the carrier's message stand next
 * to the carrier. */
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

/* The result, its parts and their texts are one allocation. */
struct composition {
  struct hostkit_outgoing *outgoing;
  const struct hostkit_part **list; /* pointers to the outgoing parts while these are filled in */
  struct hostkit_part *parts;
  char *text; /* where the next text goes */
};

/* Reads a part into the struct that this side knows; its writer may know fewer fields, or more. */
static struct tidings_part read_part(const struct tidings_reply *reply, size_t at) {
  struct tidings_part part;
  HK_READ_SIZED(&part, reply->parts[at]);
  return part;
}

/* A block cannot be inside the carrier's own text, so its PREPEND means before that text and its
 * APPEND after it. */
static enum section section_of(const struct tidings_part *part) {
  bool first = part->place == TIDINGS_PLACE_PREPEND || part->place == TIDINGS_PLACE_BEFORE;
  bool last = part->place == TIDINGS_PLACE_APPEND || part->place == TIDINGS_PLACE_AFTER;
  bool concatenated = part->place == TIDINGS_PLACE_PREPEND || part->place == TIDINGS_PLACE_APPEND;
  switch (part->voice) {
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
  case TIDINGS_VOICE_TOOL: return part->place == TIDINGS_PLACE_PAIR ? SECTION_PAIR : SECTION_NONE;
  default: return SECTION_NONE;
  }
}

static int32_t check(const struct tidings_span *content, const struct tidings_reply *reply,
                     struct tidings_error *error) {
  if (!hk_span_is_sound(content))
    return hk_error(error, TIDINGS_E_INVAL, "content is a null pointer");
  for (size_t i = 0; i < reply->part_count; i++) {
    struct tidings_part part = {0};
    if (reply->parts && reply->parts[i]) part = read_part(reply, i);
    if (!part.size || !hk_span_is_sound(&part.text) || !hk_span_is_sound(&part.call_id) ||
        !hk_span_is_sound(&part.tool))
      return hk_error(error, TIDINGS_E_INVAL, "reply.parts[%zu] has a null pointer", i);
    if (section_of(&part) == SECTION_NONE)
      return hk_error(
          error, TIDINGS_E_INVAL,
          "reply.parts[%zu] has voice %u and place %u, a combination that this host "
          "does not know: send the carrier unchanged (but no request that names messages) "
          "and roll the delivery back",
          i, (unsigned)part.voice, (unsigned)part.place);
  }
  return TIDINGS_OK;
}

/* Computes the whole size of the result, and the number of its parts. */
static size_t measure(const struct tidings_span *content, const struct tidings_reply *reply,
                      size_t *ret_count) {
  size_t count = 1;
  size_t texts = content->len + 1;
  for (size_t i = 0; i < reply->part_count; i++) {
    struct tidings_part part = read_part(reply, i);
    texts += part.text.len + 1;
    if (part.voice == TIDINGS_VOICE_TOOL) texts += part.call_id.len + 1 + part.tool.len + 1;
    if (part.voice != TIDINGS_VOICE_CARRIER) count++;
  }
  *ret_count = count;
  return sizeof(struct hostkit_outgoing) +
         count * (sizeof(struct hostkit_part *) + sizeof(struct hostkit_part)) + texts;
}

static void add_text(struct composition *composition, struct tidings_span text) {
  if (text.len) memcpy(composition->text, text.ptr, text.len);
  composition->text += text.len;
}

static char *place_text(struct composition *composition, struct tidings_span text) {
  char *start = composition->text;
  add_text(composition, text);
  *composition->text++ = '\0';
  return start;
}

static void place_part(struct composition *composition, const struct hostkit_part *part) {
  size_t at = composition->outgoing->part_count++;
  composition->parts[at] = *part;
  composition->list[at] = &composition->parts[at];
}

/* Adds the parts that belong into the carrier's own text. */
static void add_texts(struct composition *composition, enum section section,
                      const struct tidings_reply *reply) {
  for (size_t i = 0; i < reply->part_count; i++) {
    struct tidings_part part = read_part(reply, i);
    if (section_of(&part) == section) add_text(composition, part.text);
  }
}

static void put_carrier(struct composition *composition, const struct tidings_span *content,
                        const struct tidings_reply *reply) {
  struct hostkit_part carrier = {.size = sizeof carrier,
                                 .voice = TIDINGS_VOICE_CARRIER,
                                 .is_carrier = 1,
                                 .text = composition->text};
  add_texts(composition, SECTION_PREFIX, reply);
  add_text(composition, *content);
  add_texts(composition, SECTION_SUFFIX, reply);
  carrier.text_len = (size_t)(composition->text - carrier.text);
  *composition->text++ = '\0';
  composition->outgoing->carrier = (uint32_t)composition->outgoing->part_count;
  place_part(composition, &carrier);
}

static void put_section(struct composition *composition, enum section section,
                        const struct tidings_reply *reply) {
  for (size_t i = 0; i < reply->part_count; i++) {
    struct tidings_part part = read_part(reply, i);
    if (section_of(&part) != section) continue;
    bool is_tool = part.voice == TIDINGS_VOICE_TOOL;
    struct hostkit_part ours = {.size = sizeof ours,
                                .voice = part.voice,
                                .text = place_text(composition, part.text),
                                .text_len = part.text.len};
    if (is_tool) ours.call_id = place_text(composition, part.call_id);
    if (is_tool) ours.tool = place_text(composition, part.tool);
    place_part(composition, &ours);
  }
}

int32_t hostkit_compose(const struct tidings_span *content, const struct tidings_reply *theirs,
                        struct hostkit_outgoing **ret_outgoing, struct tidings_error *error) {
  if (!ret_outgoing) return hk_error(error, TIDINGS_E_INVAL, "ret_outgoing is a null pointer");
  struct tidings_reply reply;
  HK_READ_SIZED(&reply, theirs);
  int32_t code = check(content, &reply, error);
  if (code) return code;
  size_t count = 0;
  struct hostkit_outgoing *outgoing = malloc(measure(content, &reply, &count));
  if (!outgoing) return hk_error(error, TIDINGS_E_NOMEM, "out of memory while composing a message");
  struct composition composition = {.outgoing = outgoing, .list = (void *)(outgoing + 1)};
  composition.parts = (void *)(composition.list + count);
  composition.text = (char *)(composition.parts + count);
  *outgoing = (struct hostkit_outgoing){.size = sizeof *outgoing, .parts = composition.list};
  for (enum section section = SECTION_BEFORE; section < SECTION_COUNT; section++) {
    if (section == SECTION_CARRIER) put_carrier(&composition, content, &reply);
    else put_section(&composition, section, &reply);
  }
  *ret_outgoing = outgoing;
  return TIDINGS_OK;
}

void hostkit_outgoing_free(struct hostkit_outgoing *outgoing) { free(outgoing); }
