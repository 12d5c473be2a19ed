/* SPDX-License-Identifier: MIT
 *
 * render/fold.h: how text looks to a model. A model that reads "ѕystem‐remіnder" with Cyrillic
 * letters and a typographic hyphen takes it for the ASCII word. So searches for a word compare what
 * characters look like, by Unicode's own tables. Private to render/.
 */
#ifndef RENDER_FOLD_H
#define RENDER_FOLD_H

#include "render/scan.h"

extern const uint32_t fold_table[], fold_openers[], fold_zeros[];
extern const size_t fold_table_count, fold_openers_count, fold_zeros_count;
extern const char *const fold_strings[];
extern const bool fold_opener_leads[256];

/* Characters that look like a long dash: three in a row are a line, one is a dash of prose. */
enum { FOLD_LONG_DASH = 0x1F };

enum fold_kind {
  FOLD_END,    /* of the text */
  FOLD_UNSEEN, /* nobody sees it: zero-width, bidi, combining marks, controls */
  FOLD_BLANK,
  FOLD_BREAK, /* of a line */
  FOLD_ASCII, /* looks like ASCII: .look */
  FOLD_OTHER
};

struct fold {
  enum fold_kind kind;
  size_t taken;     /* bytes of the text */
  bool escaped;     /* written as an escape of JSON: backslash, u, 003c */
  bool digit;       /* of any script */
  uint32_t literal; /* the code point */
  char look[3];     /* one or two characters in lower case, NUL-terminated */
};

/* Does what fold_at does, for the end and all that is not a plain character of ASCII. */
struct fold fold_look(struct tidings_span text, size_t at);

/* The character at text.ptr + at. An escape counts as the character that it stands for, unless a
 * backslash escapes its backslash. Most characters are plain, and this is called for each of many
 * words. */
static inline struct fold fold_at(struct tidings_span text, size_t at) {
  char byte = byte_at(text, at);
  if (byte <= ' ' || byte >= 0x7F || byte == '\\') return fold_look(text, at);
  return (struct fold){.kind = FOLD_ASCII,
                       .taken = 1,
                       .digit = is_digit(byte),
                       .literal = (unsigned char)byte,
                       .look = {lower_case(byte)}};
}

/* Does a character above ASCII look like < or " or an underscore? */
bool fold_is_opener(uint32_t code_point);

#endif
