/* SPDX-License-Identifier: MIT
 *
 * common/plain_text.h: makes plain text of what a program has printed for a terminal.
 */
#ifndef COMMON_PLAIN_TEXT_H
#define COMMON_PLAIN_TEXT_H

#include "common/buffer.h"

/* Appends what a terminal would show of `output`: valid UTF-8 that has no control characters but
 * line feed and tab. Escape sequences are left out; a string sequence (OSC, DCS …) that is not
 * ended ends with its line, so that it hides no other. The text after a carriage return replaces
 * the line, a backspace removes a character, and each byte that is not UTF-8 is U+FFFD. Doing it
 * twice changes nothing more. */
void plain_text(struct tidings_span output, struct buffer *out);

/* The end of `text`: at most `lines` whole lines that have at most `bytes` bytes, where each line
 * counts `each` bytes more than its own. Blank lines at both ends are left out. If not even the
 * last line fits, it is the end of that line. */
struct tidings_span plain_last_lines(struct tidings_span text, size_t lines, size_t bytes,
                                     size_t each);

#endif
