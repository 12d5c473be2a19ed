/* SPDX-License-Identifier: MIT
 *
 * terminal.c: see the header.
 */
#include "terminal.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Decodes the character at `at`; returns its length, or 0 if it is none. */
static size_t decode(const unsigned char *at, size_t left, uint32_t *ret_character) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t len = at[0] < 0x80                    ? 1
               : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
               : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
               : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
                                               : 0;
  if (!len || len > left) return 0;
  uint32_t character = len == 1 ? at[0] : at[0] & (0x7fu >> len);
  for (size_t i = 1; i < len; i++) {
    if ((at[i] & 0xc0) != 0x80) return 0;
    character = character << 6 | (at[i] & 0x3fu);
  }
  if (character < least[len] || character > 0x10ffff || (character >= 0xd800 && character < 0xe000)) return 0;
  *ret_character = character;
  return len;
}

static bool shows(uint32_t character) {
  static const struct {
    uint32_t first, last;
  } hidden[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e},  {0x200b, 0x200f},
                {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
  for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
    if (character >= hidden[i].first && character <= hidden[i].last) return false;
  }
  return true;
}

static void print(FILE *out, const char *bytes, size_t len, int indent) {
  const unsigned char *at = (const unsigned char *)bytes;
  uint32_t character = 0;
  for (size_t left = len; left;) {
    size_t width = decode(at, left, &character);
    if (width && shows(character)) fwrite(at, 1, width, out);
    else if (width && character == '\n' && indent >= 0) fprintf(out, "\n%*s", indent, "");
    else if (width) fprintf(out, "{U+%04X}", character);
    else fprintf(out, "{0x%02X}", *at);
    width = width ? width : 1;
    at += width;
    left -= width;
  }
}

void terminal_text(FILE *out, const char *text) { print(out, text, strlen(text), -1); }
void terminal_bytes(FILE *out, const char *bytes, size_t len) { print(out, bytes, len, -1); }
void terminal_lines(FILE *out, const char *text, int indent) { print(out, text, strlen(text), indent); }
