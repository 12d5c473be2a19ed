/* SPDX-License-Identifier: MIT
 *
 * command/utf8_check.c: see the header.
 */
#include "command/utf8_check.h"

#include <stdlib.h>
#include <string.h>

size_t utf8_decode(const char *bytes, size_t left, uint32_t *ret_character) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char *at = (const unsigned char *)bytes;
  size_t len = 0;
  if (!left) return 0;
  if (at[0] < 0x80) len = 1;
  else if (at[0] >= 0xc2 && at[0] < 0xe0) len = 2;
  else if (at[0] >= 0xe0 && at[0] < 0xf0) len = 3;
  else if (at[0] >= 0xf0 && at[0] < 0xf5) len = 4;
  if (!len || len > left) return 0;
  uint32_t character = len == 1 ? at[0] : at[0] & (0x7fu >> len);
  for (size_t i = 1; i < len; i++) {
    if ((at[i] & 0xc0) != 0x80) return 0;
    character = character << 6 | (at[i] & 0x3fu);
  }
  if (character < least[len] || character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
    return 0;
  *ret_character = character;
  return len;
}

size_t utf8_length(const char *bytes, size_t left) {
  uint32_t character = 0;
  return utf8_decode(bytes, left, &character);
}

char *utf8_mended(const char *text) {
  static const char replacement[] = "\xef\xbf\xbd";
  size_t left = strlen(text), used = 0;
  char *mended = malloc(3 * left + 1);
  if (!mended) return NULL;
  while (left) {
    size_t width = utf8_length(text, left), step = width ? width : 1;
    size_t put = width ? width : sizeof replacement - 1;
    memcpy(mended + used, width ? text : replacement, put);
    used += put;
    text += step;
    left -= step;
  }
  mended[used] = '\0';
  return mended;
}
