/* SPDX-License-Identifier: MIT
 *
 * run/tail.c: see the header.
 */
#include "cli/run/tail.h"

#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"

void tail_add(struct tail *tail, const char *bytes, size_t len) {
  if (len >= TAIL_BYTES) {
    tail->cut = tail->cut || tail->len || len > TAIL_BYTES;
    bytes += len - TAIL_BYTES;
    len = TAIL_BYTES;
    tail->len = 0;
  }
  if (tail->len + len > TAIL_BYTES) {
    size_t drop = tail->len + len - TAIL_BYTES;
    memmove(tail->bytes, tail->bytes + drop, tail->len - drop);
    tail->len -= drop;
    tail->cut = true;
  }
  memcpy(tail->bytes + tail->len, bytes, len);
  tail->len += len;
}

bool tail_at_line_start(const struct tail *tail) {
  return !tail->len || tail->bytes[tail->len - 1] == '\n';
}

/* How long the escape sequence at `at` is: CSI, OSC (ended by BEL or ST), or ESC with one
 * character. */
static size_t escape_length(const char *at, size_t left) {
  size_t len = 2;
  if (left < 2) return left;
  if (at[1] == '[') {
    while (len < left && !(at[len] >= 0x40 && at[len] <= 0x7e)) len++;
    return len < left ? len + 1 : left;
  }
  if (at[1] == ']') {
    while (len < left && at[len] != '\a' && at[len] != '\033') len++;
    if (len < left && at[len] == '\033') len++;
    return len < left ? len + 1 : left;
  }
  return len;
}

/* Writes what a person would read; `out` has room for three times `len`. A carriage return begins
 * its line anew. */
static size_t clean(const char *bytes, size_t len, char *out) {
  size_t used = 0, line = 0;
  for (size_t i = 0; i < len;) {
    unsigned char byte = (unsigned char)bytes[i];
    uint32_t character = 0;
    size_t width = utf8_decode(span_of(bytes, len), i, &character);
    if (byte == '\033') {
      i += escape_length(bytes + i, len - i);
    } else if (byte == '\r') {
      if (i + 1 < len && bytes[i + 1] != '\n' && bytes[i + 1] != '\r') used = line;
      i++;
    } else if (byte == '\b') {
      while (used > line && ((unsigned char)out[--used] & 0xc0) == 0x80) continue;
      i++;
    } else if (byte == '\n') {
      out[used++] = '\n';
      line = used;
      i++;
    } else if (!width) {
      memcpy(out + used, "\xef\xbf\xbd", 3); /* U+FFFD */
      used += 3;
      i++;
    } else {
      if (byte == '\t' ||
          (byte >= ' ' && (character < 0x7f ||
                           character > 0x9f))) { /* C1 acts on terminals as escape sequences do */
        memcpy(out + used, bytes + i, width);
        used += width;
      }
      i += width;
    }
  }
  return used;
}

char *tail_text(const struct tail *tail, size_t lines, size_t most) {
  char *text = malloc(3 * TAIL_BYTES + 1);
  if (!text) return NULL;
  size_t skip = 0;
  if (tail->cut) { /* it begins in the middle of a line */
    const char *end = memchr(tail->bytes, '\n', tail->len);
    if (end) skip = (size_t)(end - tail->bytes) + 1;
    else
      while (skip < tail->len && ((unsigned char)tail->bytes[skip] & 0xc0) == 0x80) skip++;
  }
  size_t len = clean(tail->bytes + skip, tail->len - skip, text);
  while (len && (text[len - 1] == '\n' || text[len - 1] == ' ' || text[len - 1] == '\t')) len--;
  size_t from = len;
  for (size_t seen = 0; from && len - from < most; from--) {
    if (text[from - 1] == '\n' && ++seen == lines) break;
  }
  while (from < len && ((unsigned char)text[from] & 0xc0) == 0x80) from++;
  memmove(text, text + from, len - from);
  text[len - from] = '\0';
  return text;
}
