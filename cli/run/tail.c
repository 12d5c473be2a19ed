/* SPDX-License-Identifier: MIT
 */
#include "cli/run/tail.h"

#include <string.h>

#include "common/mask.h"
#include "common/plain_text.h"

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

/* Leaves out the incomplete line at the beginning of a cut tail. Empty: all that is kept is one
 * line. */
static struct tidings_span whole_lines(const struct tail *tail) {
  const char *end = tail->cut ? memchr(tail->bytes, '\n', tail->len) : NULL;
  size_t skip = 0;
  if (tail->cut) skip = end ? (size_t)(end - tail->bytes) + 1 : tail->len;
  return span_of(tail->bytes + skip, tail->len - skip);
}

/* Leaves out an incomplete character at the beginning of a cut tail. */
static struct tidings_span from_character(const struct tail *tail) {
  size_t skip = 0;
  while (skip < tail->len && ((unsigned char)tail->bytes[skip] & 0xc0) == 0x80) skip++;
  return span_of(tail->bytes + skip, tail->len - skip);
}

/* Masks the output before it is cut, because half a secret is not recognized. */
static void make_plain(struct tidings_span output, bool unmasked, struct buffer *plain) {
  struct buffer secret = BUFFER_EMPTY;
  plain->len = 0;
  plain_text(output, unmasked ? plain : &secret);
  if (!unmasked) mask_text(buffer_view(&secret), plain);
  if (secret.failed) plain->failed = true;
  buffer_free(&secret);
}

char *tail_text(const struct tail *tail, size_t lines, size_t most, bool unmasked) {
  struct buffer plain = BUFFER_EMPTY, text = BUFFER_EMPTY;
  make_plain(whole_lines(tail), unmasked, &plain);
  struct tidings_span last = plain_last_lines(buffer_view(&plain), lines, most, 1);
  if (!last.len && tail->cut) {
    make_plain(from_character(tail), unmasked, &plain);
    last = plain_last_lines(buffer_view(&plain), lines, most, 1);
  }
  buffer_span(&text, last);
  if (plain.failed) text.failed = true;
  buffer_free(&plain);
  return buffer_take(&text);
}
