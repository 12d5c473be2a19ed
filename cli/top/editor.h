/* SPDX-License-Identifier: MIT
 *
 * top/editor.h: a text that a person changes, with a cursor. Pure.
 */
#ifndef TIDINGS_CLI_TOP_EDITOR_H
#define TIDINGS_CLI_TOP_EDITOR_H

#include "cli/top/key.h"
#include "common/buffer.h"

/* Zero: empty. */
struct editor {
  struct buffer text; /* UTF-8 */
  size_t cursor;      /* in bytes, at the beginning of a character or the end */
};

/* Returns 0, or -1: no memory, and the editor is empty. */
int editor_begin(struct editor *editor, struct tidings_span text);
void editor_end(struct editor *editor);

/* Applies the key to the text, if it has a meaning in an editor. If memory runs out, `text.failed`
 * is set. */
void editor_key(struct editor *editor, uint32_t key);
/* Inserts a pasted character; the only control characters that it inserts are line breaks and
 * tabs. */
void editor_insert(struct editor *editor, uint32_t code_point);

#endif
