/* SPDX-License-Identifier: MIT
 *
 * common/plain_text.h: makes plain text of what a program has printed for a terminal.
 */
#ifndef COMMON_PLAIN_TEXT_H
#define COMMON_PLAIN_TEXT_H

#include "common/buffer.h"

/* Appends the text that a terminal would show for `output`, as valid UTF-8 whose only control
 * characters are line feed and tab. Escape sequences are left out; a string sequence (OSC, DCS …)
 * without an end ends with its line, so that it hides no other line. Text after a carriage return
 * replaces the line, a backspace removes a character, and each byte that is not UTF-8 becomes
 * U+FFFD. A second call changes nothing more. */
void plain_text(struct tidings_span output, struct buffer *out);

/* Returns the end of `text`: at most `lines` whole lines of together at most `bytes` bytes, where
 * each line counts `each` bytes more than it has. Blank lines at both ends are left out. If not
 * even the last line fits, returns the end of that line. */
struct tidings_span plain_last_lines(struct tidings_span text, size_t lines, size_t bytes,
                                     size_t each);

#endif
