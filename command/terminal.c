/* SPDX-License-Identifier: MIT
 *
 * command/terminal.c: see the header.
 */
#include "command/terminal.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "command/utf8_check.h"

static bool shows(uint32_t character) {
  static const struct {
    uint32_t first, last;
  } hidden[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
                {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
                {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
  for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
    if (character >= hidden[i].first && character <= hidden[i].last) return false;
  }
  return true;
}

static void print(FILE *out, const char *bytes, size_t len, int indent) {
  uint32_t character = 0;
  for (const char *at = bytes; len;) {
    size_t width = utf8_decode(at, len, &character);
    if (width && shows(character)) fwrite(at, 1, width, out);
    else if (width && character == '\n' && indent >= 0) fprintf(out, "\n%*s", indent, "");
    else if (width && character == '\t' && indent >= 0) fputc('\t', out);
    else if (width) fprintf(out, "{U+%04X}", character);
    else fprintf(out, "{0x%02X}", (unsigned)(unsigned char)*at);
    width = width ? width : 1;
    at += width;
    len -= width;
  }
}

void terminal_text(FILE *out, const char *text) { print(out, text, strlen(text), -1); }
void terminal_bytes(FILE *out, const char *bytes, size_t len) { print(out, bytes, len, -1); }
void terminal_lines(FILE *out, const char *text, int indent) {
  print(out, text, strlen(text), indent);
}
