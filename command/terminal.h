/* SPDX-License-Identifier: MIT
 *
 * command/terminal.h: prints text from outside safely, to a terminal or to a program that reads
 * lines.
 */
#ifndef COMMAND_TERMINAL_H
#define COMMAND_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

/* Prints text, and makes everything visible that is not a printable character of UTF-8, as {U+001B}
 * or {0xFF}: control characters, among them line breaks and tabs, characters that change the
 * direction of text, and invisible ones. */
void terminal_text(FILE *out, const char *text);
void terminal_bytes(FILE *out, const char *bytes, size_t len);
/* The same, but tabs and line breaks stay as they are, and `indent` blanks follow each line break.
 */
void terminal_lines(FILE *out, const char *text, int indent);
void terminal_byte_lines(FILE *out, const char *bytes, size_t len, int indent);

#endif
