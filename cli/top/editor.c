/* SPDX-License-Identifier: MIT
 */
#include "cli/top/editor.h"

#include <string.h>

#include "common/utf8.h"

int editor_begin(struct editor *editor, struct tidings_span text) {
  editor_end(editor);
  buffer_span(&editor->text, text);
  if (editor->text.failed) {
    editor_end(editor);
    return -1;
  }
  editor->cursor = text.len;
  return 0;
}

void editor_end(struct editor *editor) {
  buffer_free(&editor->text);
  editor->cursor = 0;
}

static bool is_text(uint32_t code_point) {
  bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  return code_point < 0x110000 && !utf8_is_control(code_point) && !surrogate;
}

void editor_insert(struct editor *editor, uint32_t code_point) {
  char bytes[4];
  if (code_point != '\n' && code_point != '\t' && !is_text(code_point)) return;
  size_t len = utf8_encode(code_point, bytes);
  struct buffer *text = &editor->text;
  buffer_append(text, bytes, len); /* makes room; then the text after the cursor is moved */
  if (text->failed) return;
  memmove(text->bytes + editor->cursor + len, text->bytes + editor->cursor,
          text->len - len - editor->cursor);
  memcpy(text->bytes + editor->cursor, bytes, len);
  editor->cursor += len;
}

static size_t before_cursor(const struct editor *editor) {
  size_t at = editor->cursor;
  while (at && ((unsigned char)editor->text.bytes[--at] & 0xC0) == 0x80) continue;
  return at;
}

static size_t after_cursor(const struct editor *editor) {
  size_t at = editor->cursor;
  if (at == editor->text.len) return at;
  for (at++; at < editor->text.len && ((unsigned char)editor->text.bytes[at] & 0xC0) == 0x80;) at++;
  return at;
}

static void erase(struct editor *editor, size_t from, size_t to) {
  struct buffer *text = &editor->text;
  if (from == to) return;
  memmove(text->bytes + from, text->bytes + to, text->len - to);
  text->len -= to - from;
  editor->cursor = from;
}

/* Returns the beginning of the word before the cursor. */
static size_t word_begin(const struct editor *editor) {
  size_t at = editor->cursor;
  while (at && editor->text.bytes[at - 1] == ' ') at--;
  while (at && editor->text.bytes[at - 1] != ' ' && editor->text.bytes[at - 1] != '\n') at--;
  return at;
}

void editor_key(struct editor *editor, uint32_t key) {
  switch (key) {
  case KEY_IS_LEFT: editor->cursor = before_cursor(editor); break;
  case KEY_IS_RIGHT: editor->cursor = after_cursor(editor); break;
  case KEY_IS_HOME:
  case KEY_CONTROL('A'): editor->cursor = 0; break;
  case KEY_IS_END:
  case KEY_CONTROL('E'): editor->cursor = editor->text.len; break;
  case KEY_IS_BACKSPACE:
  case KEY_CONTROL('H'):
  case 0x7F: erase(editor, before_cursor(editor), editor->cursor); break;
  case KEY_IS_DELETE:
  case KEY_CONTROL('D'): erase(editor, editor->cursor, after_cursor(editor)); break;
  case KEY_CONTROL('U'): erase(editor, 0, editor->cursor); break;
  case KEY_CONTROL('K'): erase(editor, editor->cursor, editor->text.len); break;
  case KEY_CONTROL('W'): erase(editor, word_begin(editor), editor->cursor); break;
  default: editor_insert(editor, key);
  }
}
