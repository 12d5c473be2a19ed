/* SPDX-License-Identifier: MIT
 */
#include "command/terminal.h"

#include "common/utf8.h"

static void print(FILE *out, struct tidings_span text, int indent) {
  for (size_t at = 0; at < text.len;) {
    struct utf8_shown shown = utf8_show(text, at);
    char byte = text.ptr[at];
    if (byte == '\n' && indent >= 0) fprintf(out, "\n%*s", indent, "");
    else if (byte == '\t' && indent >= 0) fputc('\t', out);
    else fwrite(shown.text, 1, shown.len, out);
    at += shown.taken;
  }
}

void terminal_text(FILE *out, const char *text) { print(out, span_text(text), -1); }
void terminal_bytes(FILE *out, const char *bytes, size_t len) {
  print(out, span_of(bytes, len), -1);
}
void terminal_lines(FILE *out, const char *text, int indent) {
  print(out, span_text(text), indent);
}
void terminal_byte_lines(FILE *out, const char *bytes, size_t len, int indent) {
  print(out, span_of(bytes, len), indent);
}
