/* SPDX-License-Identifier: MIT
 */
#include "common/plain_text.h"

#include "common/utf8.h"

enum { ESCAPE = 0x1B, BELL = 0x07, CANCEL = 0x18, SUBSTITUTE = 0x1A, DELETE = 0x7F };
/* The C1 controls that begin or end a sequence, as characters. */
enum { DCS = 0x90, SOS = 0x98, CSI = 0x9B, ST = 0x9C, OSC = 0x9D, PM = 0x9E, APC = 0x9F };

struct plain {
  struct tidings_span from;
  size_t at;
  struct buffer *out;
  size_t line;   /* where the current line begins in `out` */
  bool returned; /* the next character begins its line again */
};

static bool next_is_within(const struct plain *plain, int low, int high) {
  return plain->at < plain->from.len && plain->from.ptr[plain->at] >= low &&
         plain->from.ptr[plain->at] <= high;
}

/* -- sequences: each begins after what introduces it ------------------------------------------- */

/* Applies the two effects of control sequences that matter, because progress bars use them: erasing
 * a line, and going to its beginning. */
static void act_on_line(struct plain *plain, struct tidings_span parameters, char final) {
  bool first = !parameters.len || span_is(parameters, "0") || span_is(parameters, "1");
  if (final == 'G' && first) plain->returned = true;
  if (final != 'K') return;
  if (span_is(parameters, "2") || (plain->returned && !span_is(parameters, "1")))
    plain->out->len = plain->line;
}

/* Skips parameters and a final byte. A byte that cannot be part of a sequence ends it. */
static void skip_control(struct plain *plain) {
  size_t begin = plain->at;
  while (next_is_within(plain, 0x20, 0x3F)) plain->at++;
  if (!next_is_within(plain, 0x40, 0x7E)) return;
  char final = plain->from.ptr[plain->at];
  act_on_line(plain, span_of(plain->from.ptr + begin, plain->at - begin), final);
  plain->at++;
}

static void skip_string(struct plain *plain) {
  for (; plain->at < plain->from.len && plain->from.ptr[plain->at] != '\n'; plain->at++) {
    uint32_t character = 0;
    size_t len = utf8_decode(plain->from, plain->at, &character);
    bool ends = len && (character == BELL || character == CANCEL || character == SUBSTITUTE ||
                        character == ST);
    if (len && character == ESCAPE) return; /* ESC \ is a sequence of its own */
    if (len) plain->at += len - 1;
    if (!ends) continue;
    plain->at++;
    return;
  }
}

static void skip_escape(struct plain *plain) {
  if (plain->at == plain->from.len) return;
  char next = plain->from.ptr[plain->at];
  if (next == '[') {
    plain->at++;
    skip_control(plain);
  } else if (next && strchr("]PX^_", next)) {
    plain->at++;
    skip_string(plain);
  } else {
    while (next_is_within(plain, 0x20, 0x2F)) plain->at++;
    if (next_is_within(plain, 0x30, 0x7E)) plain->at++;
  }
}

/* -- characters -------------------------------------------------------------------------------- */

static void show(struct plain *plain, const char *bytes, size_t len) {
  if (plain->returned) plain->out->len = plain->line;
  plain->returned = false;
  buffer_append(plain->out, bytes, len);
}

static void end_plain_line(struct plain *plain) {
  buffer_byte(plain->out, '\n');
  plain->line = plain->out->len;
  plain->returned = false;
}

static void step_back(struct plain *plain) {
  struct buffer *out = plain->out;
  if (plain->returned) return;
  while (out->len > plain->line && ((unsigned char)out->bytes[--out->len] & 0xC0) == 0x80) continue;
}

static void act_on(struct plain *plain, uint32_t control) {
  switch (control) {
  case '\n': end_plain_line(plain); break;
  case '\r': plain->returned = true; break;
  case '\b': step_back(plain); break;
  case '\t': show(plain, "\t", 1); break;
  case ESCAPE: skip_escape(plain); break;
  case CSI: skip_control(plain); break;
  case DCS:
  case SOS:
  case OSC:
  case PM:
  case APC: skip_string(plain); break;
  default: break; /* it shows nothing */
  }
}

void plain_text(struct tidings_span output, struct buffer *out) {
  struct plain plain = {.from = output, .out = out, .line = out->len};
  while (plain.at < output.len) {
    uint32_t character = 0;
    const char *begin = output.ptr + plain.at;
    size_t len = utf8_decode(output, plain.at, &character);
    plain.at += len ? len : 1;
    if (!len) show(&plain, "\xEF\xBF\xBD", 3);
    else if (utf8_is_control(character)) act_on(&plain, character);
    else show(&plain, begin, len);
  }
}

/* -- the end ----------------------------------------------------------------------------------- */

static size_t plain_line_begin(struct tidings_span text, size_t end) {
  while (end && text.ptr[end - 1] != '\n') end--;
  return end;
}

static bool is_character_start(struct tidings_span text, size_t at) {
  return at == text.len || ((unsigned char)text.ptr[at] & 0xC0) != 0x80;
}

struct tidings_span plain_last_lines(struct tidings_span text, size_t lines, size_t bytes,
                                     size_t each) {
  while (text.len && strchr(" \t\n", text.ptr[text.len - 1])) text.len--;
  size_t from = text.len, used = 0;
  if (!text.len) return text; /* its pointer may be NULL */
  for (size_t end = text.len; end && lines; lines--) {
    size_t begin = plain_line_begin(text, end), cost = end - begin + each;
    if (cost > bytes - used) break;
    used += cost;
    from = begin;
    end = begin ? begin - 1 : 0;
  }
  if (from == text.len && bytes > each && text.len > bytes - each) {
    from = text.len - (bytes - each);
    while (!is_character_start(text, from)) from++;
  }
  while (from < text.len && text.ptr[from] == '\n') from++;
  return span_of(text.ptr + from, text.len - from);
}
