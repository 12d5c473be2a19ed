/* SPDX-License-Identifier: MIT
 *
 * reading/bare.c: removes from a text everything that escaping adds or changes.
 */
#include <ctype.h>

#include "reading/reader.h"

/* Returns the length of a form such as "{U+202E}" or "{0xFF}" at the end of the text; 0: there is
 * none. */
static size_t shown_at_end(struct tidings_span text) {
  size_t len = 1, digits = 0;
  while (len < text.len && isxdigit((unsigned char)text.ptr[text.len - len - 1])) len++, digits++;
  struct tidings_span begin = span_of(text.ptr, text.len - len);
  if (begin.len < 3 || !digits) return 0;
  if (digits >= 4 && memcmp(begin.ptr + begin.len - 3, "{U+", 3) == 0) return len + 3;
  /* The loop stopped at the x of "0x", so digits does not count the 0. */
  return digits == 2 && memcmp(begin.ptr + begin.len - 3, "{0x", 3) == 0 ? len + 3 : 0;
}

/* Returns the length of an entity at the end of the text, and the byte for which it stands; 0:
 * there is none. */
static size_t entity_at_end(struct tidings_span text, char *ret_byte) {
  static const char names[][7] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"}, bytes[] = "<>&\"'";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t len = strlen(names[i]);
    if (text.len < len || memcmp(text.ptr + text.len - len, names[i], len) != 0) continue;
    *ret_byte = bytes[i];
    return len;
  }
  return 0;
}

void reading_write_bare(struct tidings_span text, struct buffer *out) {
  size_t begin = out->len;
  for (size_t i = 0; i < text.len && !out->failed; i++) {
    unsigned char byte = (unsigned char)text.ptr[i];
    if (byte <= ' ' || byte >= 0x7F || byte == '\\') continue;
    buffer_byte(out, (char)byte);
    if (out->failed || (byte != ';' && byte != '}')) continue;
    struct tidings_span written = span_of(out->bytes + begin, out->len - begin);
    char stands_for = '\0';
    out->len -= byte == ';' ? entity_at_end(written, &stands_for) : shown_at_end(written);
    if (stands_for) buffer_byte(out, stands_for);
  }
}
